"""`wayfare nodesets`: what nodesets and graphs there are, which can run here, what others lack.

Knows nothing of how interpreters are found or environments built.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from wayfare.cli import option
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.nodeset_view import (
    Listed,
    graph_document,
    nodeset_document,
    render_graphs,
    render_nodesets,
    render_reasons,
)
from wayfare.cli.output import print_json, print_table, tell_progress
from wayfare.cli.settings import Settings
from wayfare.fleet.catalogue import describe_nodesets
from wayfare.fleet.graph_state import GraphState, inspect_graphs
from wayfare.fleet.interpreter_state import inspect_interpreters
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.registry import BrokenEntry, NodeSetEntry, WorkspaceComponentRegistry

Names = Annotated[
    list[str] | None, typer.Argument(help="Only these nodesets.", metavar="[NAME]...")
]
Build = Annotated[
    bool,
    typer.Option("--build", help="Build the environments of script headers that are not there."),
]


Graphs = Annotated[
    bool,
    typer.Option("--graphs", help="List graphs instead: which can run here, or what each lacks."),
]


def nodesets(
    names: Names = None,
    *,
    graphs: Graphs = False,
    build: Build = False,
    workspace: option.Workspace = None,
    as_json: option.Json = False,
) -> None:
    """List nodesets or graphs: which can run here, and what the others lack."""
    if names and graphs:
        raise typer.BadParameter("lists all graphs; leave the names out", param_hint="--graphs")
    settings = Settings.read(os.environ, workspace or ())
    registry = WorkspaceComponentRegistry(settings.workspaces)
    entries = [registry.find_nodeset(name) for name in names] if names else registry.nodesets
    listed = asyncio.run(_look(entries, settings, may_build=build))
    states = None
    if not names:
        needs = ((one.description.entry, one.description.need) for one in listed)
        states = inspect_graphs(registry, needs)
    broken = [] if names else registry.broken
    if as_json:
        print_json(_make_document(listed, states or (), broken))
    elif graphs:
        print_table(render_graphs(states or (), broken))
    else:
        print_table(render_nodesets(listed, states, broken))
    if build and any(one.interpreter.state != "ready" for one in listed):
        if not as_json:
            print_table(render_reasons(listed))
        raise typer.Exit(ExitStatus.SETUP)


def _make_document(
    listed: Sequence[Listed], graphs: Sequence[GraphState], broken: Sequence[BrokenEntry]
) -> dict[str, Any]:
    return {
        "nodesets": [nodeset_document(one.description, one.interpreter) for one in listed],
        "graphs": [graph_document(graph) for graph in graphs],
        "broken": [{"file": str(entry.path), "reason": entry.reason} for entry in broken],
    }


async def _look(
    entries: Sequence[NodeSetEntry], settings: Settings, *, may_build: bool
) -> list[Listed]:
    local = LocalSettings.from_environment(
        settings.environment, notify=tell_progress, may_build=may_build
    )
    async with LocalLauncher(local) as launcher:
        interpreters = await inspect_interpreters(entries, launcher.provision)
        descriptions = await describe_nodesets(entries, launcher)
    pairs = zip(descriptions, interpreters, strict=True)
    return [Listed(description, interpreter) for description, interpreter in pairs]
