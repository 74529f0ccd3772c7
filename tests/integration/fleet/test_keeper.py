"""The keeper with real processes: nothing outlives the main process."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS, wait_until
from tests.processes import is_alive

from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.keeper_client import Keeper

DOUBLE_FORK = """
import os, pathlib, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
time.sleep(600)
"""
MAIN = """
import asyncio, os, pathlib, sys
from wayfare.fleet.keeper_client import Keeper

async def main(folder):
    async with Keeper(folder / "runtime") as keeper:
        child = [sys.executable, "-c", sys.argv[2], str(folder / "grandchild")]
        spawned = await keeper.spawn(child, env=os.environ, cwd=folder, log=folder / "log")
        (folder / "pids").write_text(f"{keeper.pid} {spawned.pid}")
        await asyncio.sleep(600)

asyncio.run(main(pathlib.Path(sys.argv[1])))
"""


def read_numbers(path: Path) -> list[int]:
    """Return the numbers in a file; none while there is no such file."""
    return [int(text) for text in path.read_text().split()] if path.exists() else []


async def spawn(keeper: Keeper, folder: Path, *argv: str):
    return await keeper.spawn(argv, env=os.environ, cwd=folder, log=folder / "log")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_double_forked_child_ends_when_the_main_process_is_killed(tmp_path, number):
    (tmp_path / "runtime").mkdir()
    main = subprocess.Popen(
        [sys.executable, "-c", MAIN, tmp_path, DOUBLE_FORK], stderr=subprocess.DEVNULL
    )
    wait_until(lambda: len(read_numbers(tmp_path / "pids")) == 2)
    wait_until(lambda: read_numbers(tmp_path / "grandchild"))
    pids = [*read_numbers(tmp_path / "pids"), *read_numbers(tmp_path / "grandchild")]
    assert all(map(is_alive, pids))
    main.send_signal(number)
    main.wait(HANG_SECONDS)
    wait_until(lambda: not any(map(is_alive, pids)))
    wait_until(lambda: not (tmp_path / "runtime").exists())


async def test_leaving_the_keeper_ends_what_it_started(tmp_path):
    async with Keeper(tmp_path / "runtime") as keeper:
        spawned = await spawn(keeper, tmp_path, "sleep", "600")
        assert is_alive(spawned.pid)
    assert not is_alive(spawned.pid)
    assert await spawned.exited == -signal.SIGKILL


async def test_an_exit_is_told_with_its_status(tmp_path):
    async with Keeper(tmp_path / "runtime") as keeper, asyncio.timeout(HANG_SECONDS):
        spawned = await spawn(keeper, tmp_path, "sh", "-c", "echo out; echo err >&2; exit 7")
        assert await spawned.exited == 7
        assert (tmp_path / "log").read_text() == "out\nerr\n"


async def test_a_killed_process_is_told_by_its_signal(tmp_path):
    async with Keeper(tmp_path / "runtime") as keeper, asyncio.timeout(HANG_SECONDS):
        spawned = await spawn(keeper, tmp_path, "sleep", "600")
        keeper.send_signal(spawned.pid, signal.SIGKILL)
        assert await spawned.exited == -signal.SIGKILL


async def test_children_of_a_process_that_ended_end_too(tmp_path):
    async with Keeper(tmp_path / "runtime") as keeper, asyncio.timeout(HANG_SECONDS):
        script = f"sleep 600 & echo $! > {tmp_path}/child; exit 0"
        spawned = await spawn(keeper, tmp_path, "sh", "-c", script)
        await spawned.exited
        (child,) = read_numbers(tmp_path / "child")
        await asyncio.to_thread(wait_until, lambda: not is_alive(child))


async def test_a_program_that_is_not_there_can_not_be_started(tmp_path):
    async with Keeper(tmp_path / "runtime") as keeper:
        with pytest.raises(FleetSetupError, match="No such file"):
            await spawn(keeper, tmp_path, "/no/such/program")


async def test_when_the_keeper_dies_all_it_started_dies_and_counts_as_ended(tmp_path):
    async with Keeper(tmp_path / "runtime") as keeper, asyncio.timeout(HANG_SECONDS):
        grandchild = tmp_path / "grandchild"
        spawned = await spawn(keeper, tmp_path, sys.executable, "-c", DOUBLE_FORK, str(grandchild))
        await asyncio.to_thread(wait_until, lambda: read_numbers(grandchild))
        os.kill(keeper.pid, signal.SIGKILL)
        assert await spawned.exited == -signal.SIGKILL
        pids = [spawned.pid, *read_numbers(grandchild)]
        await asyncio.to_thread(wait_until, lambda: not any(map(is_alive, pids)))
        with pytest.raises(FleetSetupError, match="gone"):
            await spawn(keeper, tmp_path, "sleep", "1")


async def test_a_start_that_a_dead_keeper_refused_is_told_once(tmp_path):
    told: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    async with Keeper(tmp_path / "runtime") as keeper, asyncio.timeout(HANG_SECONDS):
        os.kill(keeper.pid, signal.SIGKILL)
        while True:
            try:
                await asyncio.wait_for(
                    (await spawn(keeper, tmp_path, "sleep", "9")).exited, HANG_SECONDS
                )
            except FleetSetupError:
                break
    gc.collect()  # a future tells of an error that nobody took when it is collected
    assert told == []


async def test_a_keeper_that_does_not_end_is_ended_with_all_it_started(tmp_path, monkeypatch):
    monkeypatch.setattr("wayfare.fleet.keeper_client.CLOSE_SECONDS", 0.1)
    async with Keeper(tmp_path / "runtime") as keeper:
        spawned = await spawn(keeper, tmp_path, "sleep", "600")
        os.kill(keeper.pid, signal.SIGSTOP)
    assert not is_alive(keeper.pid)
    await asyncio.to_thread(wait_until, lambda: not is_alive(spawned.pid))
