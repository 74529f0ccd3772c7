"""Find out what workspaces hold, which nodesets can be had here, and what data and videos need.

Knows nothing of how a nodeset is started.
"""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from wayfare.cli.doctor_finding import Finding, State
from wayfare.cli.settings import DATA_VARIABLE, Settings
from wayfare.evals.errors import SetupError
from wayfare.evals.video import EXTRA, check_installed
from wayfare.fleet.catalogue import NodeSetDescription, describe_nodesets
from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.interpreter_state import inspect_interpreters
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.registry import (
    NodeSetEntry,
    WorkspaceComponentRegistry,
    find_shipped_workspace,
    is_folder,
)

AREA = "workspace"
NODESET_SECONDS = 120.0


async def check_workspaces(settings: Settings) -> list[Finding]:
    """Return a line for each workspace and for each nodeset in them."""
    found = list(_check_folders(settings))
    if any(finding.state == "missing" for finding in found):
        settings = Settings(settings.environment, (), settings.runs)
    registry = WorkspaceComponentRegistry(settings.workspaces)
    found += [
        Finding(AREA, broken.path.name, "missing", broken.reason, "mend the file")
        for broken in registry.broken
    ]
    return [*found, *await _check_nodesets(registry.nodesets, settings.environment)]


def check_data(environment: Mapping[str, str]) -> Finding:
    """Return where nodesets look for published data."""
    named = environment.get(DATA_VARIABLE, "")
    remedy = f"export {DATA_VARIABLE}=FOLDER"
    if not named:
        return Finding(AREA, "data", "warning", f"{DATA_VARIABLE} is not set", remedy)
    folder = Path(named)
    if not is_folder(folder):
        detail = f"{DATA_VARIABLE} names {folder}, which is no folder"
        return Finding(AREA, "data", "missing", detail, remedy)
    parts = ", ".join(sorted(path.name for path in folder.iterdir() if path.is_dir())[:20])
    return Finding(AREA, "data", "ok", f"{folder}: {parts or 'empty'}")


def check_video() -> Finding:
    """Return whether runs can be recorded as videos."""
    try:
        check_installed()
    except SetupError as error:
        return Finding(AREA, "videos", "warning", str(error), f"pip install 'wayfare[{EXTRA}]'")
    player = shutil.which("ffmpeg")
    return Finding(AREA, "videos", "ok", f"PyAV encodes{f'; ffmpeg: {player}' if player else ''}")


def check_tables() -> Finding:
    """Return whether runs can be exported as tables."""
    lacking = [name for name in ("pandas", "pyarrow") if importlib.util.find_spec(name) is None]
    if not lacking:
        return Finding(AREA, "tables", "ok", "pandas and pyarrow")
    remedy = "pip install 'wayfare[table]'"
    return Finding(AREA, "tables", "warning", f"no {' and no '.join(lacking)}", remedy)


def _check_folders(settings: Settings) -> Iterator[Finding]:
    folders = (find_shipped_workspace(), *settings.workspaces)
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        if is_folder(folder):
            yield Finding(AREA, "folder", "ok", str(folder))
        else:
            detail = f"{folder} is no folder"
            yield Finding(AREA, "folder", "missing", detail, "correct WAYFARE_WORKSPACE")


async def _check_nodesets(
    entries: list[NodeSetEntry], environment: Mapping[str, str]
) -> list[Finding]:
    try:
        local = LocalSettings.from_environment(environment, may_build=False)
        async with LocalLauncher(local) as launcher:
            asked = (_describe(entry, launcher) for entry in entries)
            return list(await asyncio.gather(*asked))
    except FleetSetupError as error:
        return [Finding("nodeset", "all", "missing", str(error))]


async def _describe(entry: NodeSetEntry, launcher: LocalLauncher) -> Finding:
    (interpreter,) = await inspect_interpreters([entry], launcher.provision)
    if interpreter.state == "not built":
        remedy = f"wayfare nodesets --build {entry.name}"
        return Finding("nodeset", entry.name, "warning", "environment not built yet", remedy)
    try:
        async with asyncio.timeout(NODESET_SECONDS):
            (description,) = await describe_nodesets([entry], launcher)
    except TimeoutError:
        description = NodeSetDescription(entry, None, f"no answer within {NODESET_SECONDS:g} s")
    if description.manifest is not None:
        detail = f"{entry.declaration.parallelism}, Python {description.manifest['python']}"
        return Finding("nodeset", entry.name, "ok", detail)
    state: State = "warning" if entry.is_shipped else "missing"
    remedy = f"wayfare describe {entry.name}"
    return Finding("nodeset", entry.name, state, description.unavailable, remedy)
