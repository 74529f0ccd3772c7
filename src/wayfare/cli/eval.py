"""`wayfare eval`: run an evaluation, show it while it runs, sum it up.

Knows nothing of how episodes run.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from wayfare.cli import option
from wayfare.cli.exit_status import ExitStatus, status_of
from wayfare.cli.interrupt import handle_signals
from wayfare.cli.live import View, open_view
from wayfare.cli.render import render_summary
from wayfare.cli.settings import Settings
from wayfare.evals.drain import Drain
from wayfare.evals.errors import RunInterruptedError
from wayfare.evals.evaluation import Evaluation
from wayfare.evals.header import EvalRequest
from wayfare.evals.report import eval_document
from wayfare.evals.runner import RunRules
from wayfare.fleet.in_process import InProcessLauncher
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.document import GraphDocument, load_graph
from wayfare.graph.flatten import embed_graphs
from wayfare.graph.override import apply_overrides
from wayfare.store.summary import RunSummary


def evaluate(
    graph: Annotated[str, typer.Argument(help="A graph's name in a workspace, or a JSON file.")],
    *,
    workers: option.Workers = 1,
    episodes: option.Episodes = "",
    split: option.Split = None,
    seed: option.Seed = 0,
    repeats: option.Repeats = 1,
    set_: option.Overrides = None,
    step_budget: option.StepBudget = None,
    retries: option.Retries = 2,
    drain_seconds: option.DrainSeconds = None,
    in_process: Annotated[
        bool,
        typer.Option("--in-process", help="Author code in this process, for a debugger; 1 worker."),
    ] = False,
    out: option.Out = None,
    workspace: option.Workspace = None,
    as_json: option.Json = False,
) -> None:
    """Run GRAPH over episodes with N workers."""
    if in_process and workers > 1:
        raise typer.BadParameter("--in-process runs one worker", param_hint="--workers")
    settings = Settings.read(os.environ, workspace or ())
    registry = WorkspaceComponentRegistry(settings.workspaces)
    path, name = find_graph(graph, registry)
    request = EvalRequest(
        document=read_agent(path, registry, set_ or ()),
        graph_name=name,
        worker_count=workers,
        selection=episodes,
        split=split,
        repeats=repeats,
        overrides=tuple(set_ or ()),
        rules=RunRules(seed=seed, retries=retries, step_budget=step_budget),
    )
    with open_view(Console(stderr=True)) as view:
        session = _Session(settings, registry, view, in_process, drain_seconds)
        summary = asyncio.run(session.evaluate(request, out or settings.runs))
    raise typer.Exit(_finish(summary, as_json))


def find_graph(graph: str, registry: WorkspaceComponentRegistry) -> tuple[Path, str]:
    """Return the file and the name of a graph that is given by path or by name."""
    path = Path(graph)
    if path.suffix == ".json" or path.is_file():
        return path, path.stem
    return registry.find_graph(graph).path, graph


def read_agent(
    path: Path, registry: WorkspaceComponentRegistry, overrides: Sequence[str]
) -> GraphDocument:
    """Return the document with the subgraphs that it names put in and the overrides laid over."""

    def find(name: str) -> GraphDocument:
        return load_graph(registry.find_graph(name).path)

    return apply_overrides(embed_graphs(load_graph(path), find), overrides)


@dataclass(frozen=True, slots=True)
class _Session:
    """What one call of the command works with."""

    settings: Settings
    registry: WorkspaceComponentRegistry
    view: View
    is_in_process: bool
    drain_seconds: float | None

    async def evaluate(self, request: EvalRequest, out: Path) -> RunSummary | None:
        """Return the run's summary; None if it was asked to end before it began."""
        drain = Drain()
        local = LocalSettings.from_environment(self.settings.environment)
        with handle_signals(drain.ask, self.drain_seconds):
            async with LocalLauncher(local) as launcher:
                evaluation = Evaluation(
                    request,
                    registry=self.registry,
                    launcher=InProcessLauncher(launcher) if self.is_in_process else launcher,
                    observer=self.view,
                    drain=drain,
                    out=out,
                )
                try:
                    return await evaluation.run()
                except RunInterruptedError:
                    return None


def _finish(summary: RunSummary | None, as_json: bool) -> ExitStatus:
    if summary is None:
        Console(stderr=True).print("interrupted before the first episode began; nothing was kept.")
        return ExitStatus.INCOMPLETE
    if as_json:
        print(json.dumps(eval_document(summary), indent=2, allow_nan=False))
    else:
        Console().print(render_summary(summary))
    return status_of(summary)
