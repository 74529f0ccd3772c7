"""`wayfare check`: prove a nodeset's contract, or that a graph does not feel its workers.

Knows nothing of how properties are checked.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wayfare.cli import option
from wayfare.cli.check_view import render_check
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.fault import tell_fault
from wayfare.cli.interrupt import printing_to_stderr
from wayfare.cli.output import (
    open_errors,
    print_json,
    print_table,
    tell_progress,
)
from wayfare.cli.settings import Settings
from wayfare.cli.value import parse_nodeset_setting
from wayfare.evals.check.gather import Gatherer
from wayfare.evals.check.graph import DEFAULT_WORKERS, GraphCheckRequest, check_graph
from wayfare.evals.check.nodeset import check_nodeset
from wayfare.evals.check.subject import Laboratory
from wayfare.evals.check.verdict import (
    FaultyCodeError,
    GraphCheck,
    NodesetCheck,
    check_document,
)
from wayfare.evals.errors import SetupError
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet.errors import UnknownNameError
from wayfare.fleet.registry import NodeSetEntry, WorkspaceComponentRegistry
from wayfare.graph.fault import suggest
from wayfare.store.run import RunReader

EXAMPLES = (
    "wayfare check policy_planner",
    "wayfare check env_hall --workspace . --json",
    "wayfare check hall --workers 1,2,8 --workspace .",
)


Name = Annotated[
    str,
    typer.Argument(metavar="NODESET|GRAPH", help="A nodeset, or a graph by name or JSON file."),
]
FromRun = Annotated[
    str | None, typer.Option(help="Take the inputs from this run; it ran with --record full.")
]
Counts = Annotated[
    str | None, typer.Option(help="Of a graph: the worker counts to compare [1,2,8].")
]


def check(
    name: Name,
    *,
    from_run: FromRun = None,
    workers: Counts = None,
    episodes: option.Episodes = None,
    split: option.Split = None,
    seed: option.Seed = 0,
    set_: option.Overrides = None,
    out: option.Out = None,
    workspace: option.Workspace = None,
    as_json: option.Json = False,
) -> None:
    """Check that NODESET keeps its contract, or that the number of workers changes no GRAPH."""
    settings = Settings.read(os.environ, workspace or ())
    asked = _Asked(
        name=name,
        from_run=from_run,
        workers=workers,
        episodes=episodes,
        split=split,
        seed=seed,
        overrides=tuple(set_ or ()),
        out=out or settings.runs,
    )
    try:
        done = asyncio.run(_check(asked, WorkspaceComponentRegistry(settings.workspaces), settings))
    except FaultyCodeError as error:
        raise typer.Exit(_report_fault(name, error, as_json)) from None
    if as_json:
        print_json(check_document(done))
    else:
        print_table(render_check(done))
    raise typer.Exit(ExitStatus.DONE if done.result == "pass" else ExitStatus.CHECK_FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the command line says."""

    name: str
    from_run: str | None
    workers: str | None
    episodes: str | None
    split: str | None
    seed: int
    overrides: tuple[str, ...]
    out: Path


async def _check(
    asked: _Asked, registry: WorkspaceComponentRegistry, settings: Settings
) -> NodesetCheck | GraphCheck:
    entry = _find_nodeset(asked.name, registry)
    if entry is None:
        return await _check_one_graph(asked, registry, settings)
    return await _check_one_nodeset(asked, entry, registry, settings)


def _find_nodeset(name: str, registry: WorkspaceComponentRegistry) -> NodeSetEntry | None:
    """Return the nodeset of that name; None where it is a graph's. Raises WorkspaceError."""
    if name.endswith(".json"):
        return None
    try:
        return registry.find_nodeset(name)
    except UnknownNameError as error:
        if any(graph.name == name for graph in registry.graphs):
            return None
        graphs = suggest(name, (graph.name for graph in registry.graphs))
        raise UnknownNameError(
            f"{error}\nThere is no graph of that name either. {graphs}"
        ) from None


async def _check_one_graph(
    asked: _Asked, registry: WorkspaceComponentRegistry, settings: Settings
) -> GraphCheck:
    if asked.from_run is not None:
        raise typer.BadParameter("is for nodesets", param_hint="--from-run")
    request = GraphCheckRequest(
        graph=asked.name,
        name=Path(asked.name).stem,
        workers=_read_counts(asked.workers),
        episodes=asked.episodes or "",
        split=asked.split,
        seed=asked.seed,
        overrides=asked.overrides,
        workspaces=settings.workspaces,
    )
    console = open_errors()
    around = Surroundings(environment=settings.environment, notify=console.print)
    with printing_to_stderr():  # author code runs in this process too
        return await check_graph(request, around, registry)


def _read_counts(text: str | None) -> tuple[int, ...]:
    if text is None:
        return DEFAULT_WORKERS
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise typer.BadParameter(
            f"{text!r} must be counts from 1, such as 1,2,8", param_hint="--workers"
        )
    return tuple(int(part) for part in parts)


async def _check_one_nodeset(
    asked: _Asked,
    entry: NodeSetEntry,
    registry: WorkspaceComponentRegistry,
    settings: Settings,
) -> NodesetCheck:
    for option_name, given in (("--workers", asked.workers), ("--episodes", asked.episodes)):
        if given is not None:
            raise typer.BadParameter("is for graphs", param_hint=option_name)
    reader = RunReader.open(asked.from_run, asked.out) if asked.from_run is not None else None
    config = _read_config(entry.name, asked.overrides)
    around = Surroundings(environment=settings.environment, notify=tell_progress)
    async with around.launching() as launcher:
        laboratory = Laboratory(entry, config, launcher, asked.split)
        gatherer = Gatherer(laboratory, registry, settings.workspaces, asked.seed)
        return await check_nodeset(gatherer, reader)


def _read_config(name: str, texts: Sequence[str]) -> dict[str, Any]:
    config = {}
    for text in texts:
        nodeset, key, value = parse_nodeset_setting(text)
        if nodeset != name:
            raise SetupError(f"--set {text!r}: only the configuration of {name!r} is used here.")
        config[key] = value
    return config


def _report_fault(name: str, error: FaultyCodeError, as_json: bool) -> ExitStatus:
    """Tell of what the checked code raised, with its own traceback."""
    if as_json:
        fault = {"message": str(error), "traceback": error.traceback_text}
        print_json({"result": "fault", "name": name, "fault": fault})
    tell_fault(f"the code of {name!r} failed: {error}", error.traceback_text)
    return ExitStatus.FAILED
