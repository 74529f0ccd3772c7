"""`wayfare nodesets`: what there is, in which interpreter, and why one is not available.

Knows nothing of how interpreters are found or environments built.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Annotated

import typer

from wayfare.cli import option
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.nodeset_view import Listed, nodeset_document, render_nodesets
from wayfare.cli.output import print_json, print_table, tell_progress
from wayfare.cli.settings import Settings
from wayfare.fleet.catalogue import describe_nodesets
from wayfare.fleet.interpreter_state import inspect_interpreters
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.registry import NodeSetEntry, WorkspaceComponentRegistry

Names = Annotated[
    list[str] | None, typer.Argument(help="Only these nodesets.", metavar="[NAME]...")
]
Build = Annotated[
    bool,
    typer.Option("--build", help="Build the environments of script headers that are not there."),
]


def nodesets(
    names: Names = None,
    *,
    build: Build = False,
    workspace: option.Workspace = None,
    as_json: option.Json = False,
) -> None:
    """List nodesets with their interpreters, and graphs; say why one is not available."""
    settings = Settings.read(os.environ, workspace or ())
    registry = WorkspaceComponentRegistry(settings.workspaces)
    entries = [registry.find_nodeset(name) for name in names] if names else registry.nodesets
    listed = asyncio.run(_look(entries, settings, may_build=build))
    graphs = [] if names else registry.graphs
    broken = [] if names else registry.broken
    if as_json:
        print_json(
            {
                "nodesets": [nodeset_document(one.description, one.interpreter) for one in listed],
                "graphs": [{"name": entry.name, "file": str(entry.path)} for entry in graphs],
                "broken": [{"file": str(b.path), "reason": b.reason} for b in broken],
            }
        )
    else:
        print_table(render_nodesets(listed, None if names else graphs, broken))
    if build and any(one.interpreter.state != "ready" for one in listed):
        raise typer.Exit(ExitStatus.SETUP)


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
