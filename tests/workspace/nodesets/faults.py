"""What can befall a process: the faults that the faulty nodesets of tests commit."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable, Dict, Mapping

FOREVER_SECONDS = 3600


def segfault() -> None:
    ctypes.string_at(0)


def hang_with_the_interpreter_lock() -> None:
    """Sleep in a C call that never returns the lock, so that no Python thread runs."""
    ctypes.PyDLL(None).sleep(FOREVER_SECONDS)


def hang() -> None:
    threading.Event().wait()


def read_a_file_that_is_cut() -> None:
    with tempfile.TemporaryFile() as file:
        file.truncate(mmap.PAGESIZE)
        mapped = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        file.truncate(0)
        mapped[0]


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def leave() -> None:
    sys.stderr.write("the licence server is gone\n")
    sys.stderr.flush()
    os._exit(7)


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def grow() -> None:
    """Hold twice the memory that is allowed, and never return."""
    held = bytearray(b"x") * 800000000
    threading.Event().wait()
    del held


COMMIT: Dict[str, Callable[[], None]] = {
    "segfault": segfault,
    "hang_with_lock": hang_with_the_interpreter_lock,
    "hang": hang,
    "read_cut_file": read_a_file_that_is_cut,
    "stop": stop,
    "leave": leave,
    "be_killed": be_killed,
    "grow": grow,
}


def commit_once(fault: str, folder: str, times: int) -> None:
    """Commit a fault, but only so many times over all processes that share the folder."""
    for number in range(times):
        try:
            os.close(os.open(str(Path(folder, f"{fault}{number}")), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        COMMIT[fault]()


def is_place_of_fault(config: Mapping[str, Any], row: Any) -> bool:
    """Say whether this is the step of the episode, or of one of the episodes, that it befalls."""
    at = config["at_episode"]
    is_episode = row.episode.index in at if isinstance(at, list) else row.episode.index == at
    return is_episode and row.step == config["at_step"]


def start_daemon(note: str) -> None:
    """Start a process by two forks and in a session of its own, as servers of simulators do."""
    code = (
        "import os, pathlib, sys, time\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))\n"
        f"time.sleep({FOREVER_SECONDS})\n"
    )
    subprocess.run([sys.executable, "-c", code, note], check=True)
