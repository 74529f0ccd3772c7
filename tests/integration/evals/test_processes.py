"""Nothing outlives a run, and a run outlives what befalls its keeper."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.deadline import HANG_SECONDS, wait_until
from tests.processes import children_of, command_of, descendants_of, is_alive


def read_daemons(folder: Path) -> list[str]:
    """Return what the daemons of copies have noted: their process ids."""
    return [note.read_text() for note in folder.glob("*.daemon")]


def are_gone(pids: Iterable[int]) -> bool:
    return not any(map(is_alive, pids))


@pytest.fixture
def running(
    request: pytest.FixtureRequest, wayfare: Any, tmp_path: Path
) -> Iterator[subprocess.Popen[str]]:
    """Give a run under way: two workers, each of whose copies has a daemon of its own.

    It is long, unless a test gives the number of its episodes.
    """
    episodes = getattr(request, "param", 5000)
    settings = {"daemon": tmp_path, "step_s": 0.05, "episodes": episodes}
    options = [x for k, v in settings.items() for x in ("--set", f"env_faulty.{k}={v}")]
    process = wayfare.start("eval", "faulty", "--workers", "2", "--json", *options)
    runs = tmp_path / "runs"
    wait_until(lambda: sum(map(bool, read_daemons(tmp_path))) == 2)
    wait_until(lambda: any(p.stat().st_size for p in runs.glob("*/episodes.frames")))
    with process:
        yield process
        process.kill()


def list_shared_memory(pids: Iterable[int]) -> set[Path]:
    """Return the files of shared memory that processes map, by what the kernel says of each."""
    lines = [line for pid in pids for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    return {Path(line.split()[5]) for line in lines if " /dev/shm/" in line}


def test_nothing_is_left_after_the_main_process_was_killed(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    started = {pid: command_of(pid) for pid in descendants_of(running.pid)}
    daemons = set(map(int, read_daemons(tmp_path)))
    words = {word for command in started.values() for word in command.split()}
    sockets = [Path(word[5:]) for word in words if word.startswith("unix:")]
    assert len(sockets) == 3
    assert all(path.exists() for path in sockets)
    memory = list_shared_memory(started)
    running.kill()
    wait_until(lambda: are_gone({*started, *daemons}))
    wait_until(lambda: not sockets[0].parent.exists())
    assert not any(path.exists() for path in memory)


@pytest.mark.parametrize("running", [16], indirect=True)
def test_a_run_whose_keeper_is_killed_goes_on_with_fresh_copies(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    (keeper,) = (pid for pid in children_of(running.pid) if "keeper.py" in command_of(pid))
    daemons = set(map(int, read_daemons(tmp_path)))
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: are_gone(daemons))
    out, err = running.communicate(timeout=HANG_SECONDS)
    assert running.returncode == 0, err
    document = json.loads(out)
    assert document["episodes"]["completed"] == 16
    copies = [copy for nodeset in document["nodesets"].values() for copy in nodeset["copies"]]
    assert [copy["restarts"] for copy in copies] == [1, 1, 1]


def test_a_daemon_of_a_copy_ends_with_it_while_the_run_goes_on(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    note = next(iter(tmp_path.glob("*.daemon")))
    copy, daemon = int(note.stem), int(note.read_text())
    os.kill(copy, signal.SIGKILL)
    wait_until(lambda: not is_alive(daemon))
    assert running.poll() is None
