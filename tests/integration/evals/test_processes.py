"""Nothing outlives a run, and a run outlives what befalls its keeper."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FIVE_SECONDS = 5.0


def list_processes() -> Iterator[tuple[int, int, str]]:
    """Yield pid, parent and command line of all processes that run."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                command = (entry / "cmdline").read_text().replace("\0", " ")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state != "Z":
                yield int(entry.name), int(parent), command


def list_below(root: int) -> dict[int, str]:
    """Return the processes that descend from one, with their command lines."""
    found: dict[int, str] = {}
    everything = list(list_processes())
    for _ in range(5):
        found |= {p: text for p, parent, text in everything if parent == root or parent in found}
    return found


def wait_until(claim: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


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
    wait_until(lambda: len(list(tmp_path.glob("*.daemon"))) == 2, 60)
    wait_until(lambda: any(p.stat().st_size for p in runs.glob("*/episodes.frames")), 60)
    with process:
        yield process
        process.kill()


def list_shared_memory() -> set[str]:
    return {entry.name for entry in Path("/dev/shm").iterdir()}


def test_five_seconds_after_the_main_process_was_killed_nothing_is_left(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    started = list_below(running.pid)
    daemons = {int(note.read_text()) for note in tmp_path.glob("*.daemon")}
    sockets = [
        Path(part[5:])
        for text in started.values()
        for part in text.split()
        if part.startswith("unix:")
    ]
    assert len(sockets) == 3
    assert all(path.exists() for path in sockets)
    memory = list_shared_memory()
    running.kill()
    killed = time.monotonic()
    pids = {*started, *daemons}
    wait_until(lambda: not pids & {pid for pid, _, _ in list_processes()}, FIVE_SECONDS)
    wait_until(lambda: not sockets[0].parent.exists(), killed + FIVE_SECONDS - time.monotonic())
    assert list_shared_memory() <= memory


@pytest.mark.parametrize("running", [8], indirect=True)
def test_a_run_whose_keeper_is_killed_goes_on_with_fresh_copies(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    keeper = next(pid for pid, text in list_below(running.pid).items() if "keeper.py" in text)
    daemons = {int(note.read_text()) for note in tmp_path.glob("*.daemon")}
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: not daemons & {pid for pid, _, _ in list_processes()}, 20)
    out, err = running.communicate(timeout=100)
    assert running.returncode == 0, err
    document = json.loads(out)
    assert document["episodes"]["completed"] == 8
    copies = [copy for nodeset in document["nodesets"].values() for copy in nodeset["copies"]]
    assert [copy["restarts"] for copy in copies] == [1, 1, 1]


def test_a_daemon_of_a_copy_ends_with_it_while_the_run_goes_on(
    running: subprocess.Popen[str], tmp_path: Path
) -> None:
    note = next(iter(tmp_path.glob("*.daemon")))
    copy, daemon = int(note.stem), int(note.read_text())
    os.kill(copy, signal.SIGKILL)
    wait_until(lambda: daemon not in {pid for pid, _, _ in list_processes()}, 20)
    assert running.poll() is None
