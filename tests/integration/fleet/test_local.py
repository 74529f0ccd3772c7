"""What the local launcher leaves on disk, and who may enter it."""

import asyncio
import os
import stat
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.document import read_graph

HERE = Path(__file__).parent
GRAPH = read_graph({"version": 1, "nodes": [{"id": "n", "type": "env_line__step"}]})


async def test_sockets_live_in_a_folder_that_only_the_user_can_enter_and_is_gone_afterwards():
    settings = LocalSettings.from_environment(os.environ)
    registry = WorkspaceComponentRegistry([HERE])
    async with asyncio.timeout(HANG_SECONDS), LocalLauncher(settings) as launcher:
        fleet = await registry.ensure_nodesets_for_graph(GRAPH, 2, launcher)
        sockets = [Path(r.copy.url.removeprefix("unix:")) for r in fleet.copies.values()]
        assert all(stat.S_ISSOCK(path.stat().st_mode) for path in sockets)
        assert {stat.S_IMODE(path.parent.stat().st_mode) for path in sockets} == {0o700}
        await fleet.close()
    assert not any(path.parent.exists() for path in sockets)


async def test_what_copies_print_is_kept_where_it_is_asked_for(tmp_path):
    settings = replace(LocalSettings.from_environment(os.environ), log_folder=tmp_path / "logs")
    registry = WorkspaceComponentRegistry([HERE])
    async with asyncio.timeout(HANG_SECONDS), LocalLauncher(settings) as launcher:
        fleet = await registry.ensure_nodesets_for_graph(GRAPH, 2, launcher)
        await fleet.close()
    names = sorted(path.name for path in (tmp_path / "logs").iterdir())
    assert names == ["env_line#0.log", "env_line#1.log"]


async def test_a_launcher_that_cannot_start_leaves_no_folder(tmp_path):
    runtime = tempfile.mkdtemp()  # its name is short enough for sockets
    (tmp_path / "file").touch()
    settings = LocalSettings.from_environment({"XDG_RUNTIME_DIR": runtime}, tmp_path / "file")
    with pytest.raises(FileExistsError):
        async with LocalLauncher(settings):
            pass
    await asyncio.to_thread(Path(runtime).rmdir)  # refuses a folder that holds something
