"""Start copies as children and end every descendant when the main process is gone.

Run as a small process of its own: `python keeper.py FD RUNTIME_DIR`. Knows nothing of nodesets,
sockets or the wire; imports little, because it starts before anything else and lives throughout.

Lines of JSON both ways. Commands: {"op": "spawn", "id", "argv", "env", "cwd", "log"} and
{"op": "signal", "pid", "signal"}. Events: {"event": "spawned", "id", "pid"},
{"event": "failed", "id", "error"} and {"event": "exited", "pid", "status"} (status below 0: the
number of the signal).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
KILL_SECONDS = 20.0
COPY_MARKER = "WAYFARE_COPY"
"""Environment variable by which what a copy started can be told from what others did."""
_IGNORED_SIGNALS = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> int:
    """Keep copies until the pipe to the main process ends; then end all of them."""
    pipe = socket.socket(fileno=int(arguments[0]))
    runtime_dir = Path(arguments[1])
    _become_subreaper()
    wakeup = _wake_on_child_exit()
    try:
        _Keeper(pipe, wakeup).run()
    finally:
        end_descendants(deadline=time.monotonic() + KILL_SECONDS)
        shutil.rmtree(runtime_dir, ignore_errors=True)
    return 0


class _Keeper:
    """The loop of the keeper: commands in, events out, children reaped."""

    def __init__(self, pipe: socket.socket, wakeup: int) -> None:
        self._pipe = pipe
        self._wakeup = wakeup
        self._pending = b""
        self._children: dict[int, str] = {}
        """The copies by pid, each with the mark that its environment carries."""

    def run(self) -> None:
        """Serve until the main process closes its end or dies."""
        while True:
            ready, _, _ = select.select([self._pipe.fileno(), self._wakeup], [], [])
            if self._wakeup in ready:
                os.read(self._wakeup, 4096)
                self._reap()
            if self._pipe.fileno() in ready and not self._serve():
                return

    def _serve(self) -> bool:
        try:
            chunk = self._pipe.recv(1 << 16)
        except ConnectionError:
            return False
        if not chunk:
            return False
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        try:
            for line in lines:
                self._obey(json.loads(line))
        except ConnectionError:
            return False
        return True

    def _obey(self, command: dict[str, Any]) -> None:
        if command["op"] == "spawn":
            self._spawn(command)
        elif command["op"] == "signal" and command["pid"] in self._children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(command["pid"], command["signal"])

    def _spawn(self, command: dict[str, Any]) -> None:
        try:
            pid = _start_child(command)
        except (OSError, subprocess.SubprocessError) as error:
            self._tell({"event": "failed", "id": command["id"], "error": str(error)})
            return
        self._children[pid] = command["env"].get(COPY_MARKER, "")
        self._tell({"event": "spawned", "id": command["id"], "pid": pid})

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._children:
                end_what_it_started(pid, self._children.pop(pid))
                exit_status = os.waitstatus_to_exitcode(status)
                self._tell({"event": "exited", "pid": pid, "status": exit_status})

    def _tell(self, event: dict[str, Any]) -> None:
        # A main process that is gone shows as the pipe's end on the next read.
        with contextlib.suppress(ConnectionError):
            self._pipe.sendall(json.dumps(event).encode() + b"\n")


def end_what_it_started(pid: int, mark: str) -> None:
    """Kill the process group of a copy that has ended, and what left it for a group of its own.

    The latter is found below this process, which adopts it, by the copy's mark in its environment;
    what has thrown that away lives until this process ends everything.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if not mark:
        return
    wanted = f"{COPY_MARKER}={mark}".encode()
    for other in find_descendants(os.getpid()):
        with contextlib.suppress(OSError):
            if wanted in Path("/proc", str(other), "environ").read_bytes().split(b"\0"):
                os.kill(other, signal.SIGKILL)


def end_descendants(deadline: float) -> None:
    """Kill and reap whatever descends from this process until nothing does."""
    while time.monotonic() < deadline:
        for pid in find_descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def find_descendants(root: int) -> list[int]:
    """Return the pids below `root` in the process tree, by a walk over /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            parent = _read_parent(entry)
            if parent is not None:
                children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    frontier = [root]
    while frontier:
        below = children.get(frontier.pop(), [])
        found += below
        frontier += below
    return found


def _read_parent(process: Path) -> int | None:
    try:
        stat = (process / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command's name stands in brackets and may hold blanks and brackets itself.
    return int(stat.rpartition(")")[2].split()[1])


def _start_child(command: dict[str, Any]) -> int:
    keeper_pid = os.getpid()

    def die_with_keeper() -> None:
        for number in _IGNORED_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != keeper_pid:
            os._exit(1)

    log = os.open(command["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(
            command["argv"],
            env=command["env"],
            cwd=command["cwd"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=die_with_keeper,  # noqa: PLW1509  this process has one thread
        )
    finally:
        os.close(log)
    process.returncode = 0  # reaped by _reap: Popen must not wait for it too
    return process.pid


def _become_subreaper() -> None:
    if _LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        errno = ctypes.get_errno()
        raise OSError(errno, f"prctl(PR_SET_CHILD_SUBREAPER): {os.strerror(errno)}")


def _wake_on_child_exit() -> int:
    """Return a descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    for number in _IGNORED_SIGNALS:
        # Whoever ends a run ends the main process; the pipe tells the keeper.
        signal.signal(number, signal.SIG_IGN)
    return reading


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
