"""`wayfare describe`, `runs`, `show`: look at what there is and at what ran.

Knows nothing of how episodes run.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from wayfare.cli import option
from wayfare.cli.damage_view import render_damage
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.fault import tell_fault
from wayfare.cli.metric_view import render_breakdown
from wayfare.cli.nodeset_view import nodeset_document, render_nodeset
from wayfare.cli.output import Text, print_json, print_table, tell_progress
from wayfare.cli.render import render_episodes, render_errors, render_runs, render_summary
from wayfare.cli.settings import Settings
from wayfare.evals.breakdown import Breakdown, break_down_run
from wayfare.evals.inspection import Inspection, inspect_run
from wayfare.evals.report import list_episodes, show_document
from wayfare.fleet.catalogue import NodeSetDescription, describe_nodesets
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.registry import NodeSetEntry, WorkspaceComponentRegistry
from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.listing import RunEntry, list_runs
from wayfare.store.resumption import find_resumptions
from wayfare.store.run import RunReader


def describe(
    nodeset: Annotated[str, typer.Argument(help="A nodeset's name.")],
    *,
    workspace: option.Workspace = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=V: configuration; V is JSON, else text.")
    ] = None,
    as_json: option.Json = False,
) -> None:
    """Show a nodeset's mode, tools, ports and configuration."""
    settings = Settings.read(os.environ, workspace or ())
    entry = WorkspaceComponentRegistry(settings.workspaces).find_nodeset(nodeset)
    configs = {entry.name: dict(_parse_setting(text) for text in set_ or ())}
    (description,) = asyncio.run(_describe([entry], settings, configs))
    if as_json:
        _print_json(nodeset_document(description))
    else:
        print_table(render_nodeset(description))
    if description.manifest is None:
        raise typer.Exit(ExitStatus.SETUP)


def runs(out: option.Out = None, as_json: option.Json = False) -> None:
    """List runs, newest first."""
    root = out or Settings.read(os.environ).runs
    entries = list_runs(root)
    if not entries and not as_json:
        tell_progress(f"there are no runs in {root}.")
    elif not as_json:
        print_table(render_runs(entries))
    else:
        _print_json(_list_entries(entries))


def _list_entries(entries: Sequence[RunEntry]) -> list[dict[str, Any]]:
    return [
        {
            "run_id": entry.run_id,
            "status": entry.status,
            "graph": entry.header.graph_name if entry.header else None,
            "worker_count": entry.worker_count,
            "worker_counts": list(entry.worker_counts),
            "total": entry.total,
            "finished": entry.finished,
            "digest": entry.summary.digest if entry.summary else None,
            "out": str(entry.folder),
            "resume": entry.resume,
            "problem": entry.problem,
        }
        for entry in entries
    ]


def show(
    run: Annotated[str, typer.Argument(help="A run's id or folder.")],
    *,
    by: Annotated[
        str | None,
        typer.Option(help="Sum up apart by scene, group, split, repeat, outcome or an info key."),
    ] = None,
    thorough: Annotated[
        bool,
        typer.Option("--thorough", help="Read recorded calls and videos to their last byte."),
    ] = False,
    out: option.Out = None,
    as_json: option.Json = False,
) -> None:
    """Show a run: its summary and its episodes; coverage and files are checked anew."""
    reader = _open_run(run, out)
    found = inspect_run(reader, is_thorough=thorough)
    resumptions, _ = find_resumptions(reader.folder)
    parts = _break_down(reader, found, by) if by is not None else None
    if as_json:
        document = {**show_document(found.summary, found.records), "running": reader.is_running}
        document["resumptions"] = [asdict(resumption) for resumption in resumptions]
        document.update({"by": asdict(parts) if parts else None} if by is not None else {})
        _print_json({**document, "damage": [asdict(entry) for entry in found.damage]})
    else:
        last = render_summary(found.summary, resumptions, is_running=reader.is_running)
        rows = list_episodes(found.records)
        shown = [render_episodes(rows)] if parts is None else [render_breakdown(parts), Text()]
        damage = render_damage(found.damage, found.summary, lost_key=by if parts is None else None)
        print_table(*shown, *render_errors(rows), last, *damage)
    if found.damage or found.summary.status == "uncertified":
        raise typer.Exit(ExitStatus.FAILED)


def _open_run(run: str, out: Path | None) -> RunReader:
    """Return the run; if its header or list is damaged, nothing can be shown, which is told."""
    try:
        return RunReader.open(run, out or Settings.read(os.environ).runs)
    except CorruptFileError as error:
        tell_fault(f"nothing can be shown of the run: {error}")
        raise typer.Exit(ExitStatus.FAILED) from error


def _break_down(reader: RunReader, found: Inspection, key: str) -> Breakdown | None:
    """Return the run's episodes by `key`; None: the labels are damaged, which is told as such."""
    try:
        return break_down_run(reader.folder, reader.header, found.records, key=key)
    except (CorruptFileError, FormatVersionError):
        return None


async def _describe(
    entries: Sequence[NodeSetEntry],
    settings: Settings,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[NodeSetDescription]:
    local = LocalSettings.from_environment(settings.environment, notify=tell_progress)
    async with LocalLauncher(local) as launcher:
        return await describe_nodesets(entries, launcher, configs)


def _parse_setting(text: str) -> tuple[str, Any]:
    key, equals, raw = text.partition("=")
    if not equals or not key:
        raise typer.BadParameter(f"{text!r} must read KEY=VALUE", param_hint="--set")
    try:
        return key, json.loads(raw)
    except ValueError:
        return key, raw


def _print_json(document: object) -> None:
    print_json(document, _as_text)


def _as_text(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{value!r} is no JSON")
