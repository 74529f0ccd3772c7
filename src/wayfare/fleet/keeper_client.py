"""Ask the keeper to start and signal processes and hear at once when one ends.

Knows nothing of what the processes do.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayfare.fleet import keeper as keeper_process
from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.keeper import COPY_MARKER
from wayfare.fleet.memory import list_children

MARKER = "WAYFARE_KEEPER"
"""Environment variable by which everything that a keeper started can be told from the rest."""
SPAWN_SECONDS = 30.0
CLOSE_SECONDS = keeper_process.KILL_SECONDS + 5.0
KEEPER_LOST_STATUS = -int(signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Spawned:
    """A process under the keeper; `exited` gets its status (below 0: minus the signal's number)."""

    pid: int
    exited: asyncio.Future[int]
    mark: str
    """What its environment has under COPY_MARKER."""


class Keeper:
    """The keeper process as an async context manager: leaving it ends everything it started.

    If the keeper itself dies, every process it started is killed and counts as ended.
    """

    def __init__(self, runtime_dir: Path) -> None:
        self._runtime_dir = runtime_dir
        self._marker = uuid.uuid4().hex
        self._next_id = 0
        self._spawning: dict[int, asyncio.Future[Spawned]] = {}
        self._running: dict[int, asyncio.Future[int]] = {}
        self._closing = False

    async def __aenter__(self) -> Keeper:
        here, there = socket.socketpair()
        with there:
            self._process = subprocess.Popen(  # noqa: ASYNC220  returns at once
                [
                    *(sys.executable, "-I", "-S", keeper_process.__file__),
                    *(str(there.fileno()), str(self._runtime_dir)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(there.fileno(),),
                start_new_session=True,
            )
        self._reader, self._writer = await asyncio.open_connection(sock=here, limit=1 << 20)
        self._listening = asyncio.create_task(self._listen(), name="keeper events")
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._closing = True
        self._writer.close()
        try:
            await asyncio.shield(asyncio.to_thread(self._wait_for_end))
        finally:
            self._listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listening
            self._forget_all()

    def _wait_for_end(self) -> None:
        """Return when the keeper has ended; one that can't end its many processes is killed."""
        try:
            self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            kill_marked(self._marker)
            self._process.wait()

    @property
    def pid(self) -> int:
        """Return the keeper's own process id."""
        return self._process.pid

    @property
    def is_lost(self) -> bool:
        """Return whether it has ended, and with it all that it had started."""
        return self._listening.done()

    def list_adopted(self, mark: str) -> list[int]:
        """Return what a process that bears the mark has started and given up to the keeper."""
        wanted = f"{COPY_MARKER}={mark}".encode()
        adopted = (pid for pid in list_children(self.pid) if pid not in self._running)
        return [pid for pid in adopted if wanted in _read_environment(pid)]

    async def spawn(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, log: Path
    ) -> Spawned:
        """Start a process in a session of its own with stdout and stderr appended to `log`.

        Raises FleetSetupError if it can't be started or the keeper is gone.
        """
        self._next_id += 1
        self._send(
            {
                "op": "spawn",
                "id": self._next_id,
                "argv": list(argv),
                "env": {
                    **env,
                    MARKER: self._marker,
                    COPY_MARKER: f"{self._marker}-{self._next_id}",
                },
                "cwd": str(cwd),
                "log": str(log),
            }
        )
        answer: asyncio.Future[Spawned] = asyncio.get_running_loop().create_future()
        self._spawning[self._next_id] = answer
        try:
            async with asyncio.timeout(SPAWN_SECONDS):
                return await answer
        except TimeoutError as error:
            raise FleetSetupError(
                f"the keeper (pid {self.pid}) did not start {argv[0]!r} within {SPAWN_SECONDS} s."
            ) from error

    def send_signal(self, pid: int, number: signal.Signals) -> None:
        """Signal a process that was spawned here, with all of its process group."""
        if pid in self._running:
            self._send({"op": "signal", "pid": pid, "signal": int(number)})

    def _send(self, command: dict[str, Any]) -> None:
        if self._listening.done():
            raise FleetSetupError(f"the keeper (pid {self.pid}) is gone; nothing can be started.")
        self._writer.write(json.dumps(command).encode() + b"\n")

    async def _listen(self) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await self._reader.readline():
                self._hear(json.loads(line))
        if not self._closing:
            kill_marked(self._marker)
        self._forget_all()

    def _hear(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "spawned":
                exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
                self._running[event["pid"]] = exited
                mark = f"{self._marker}-{event['id']}"
                self._answer(event["id"], Spawned(event["pid"], exited, mark))
            case "failed":
                answer = self._spawning.pop(event["id"])
                if not answer.done():
                    answer.set_exception(FleetSetupError(f"cannot start: {event['error']}"))
            case "exited":
                exited = self._running.pop(event["pid"])
                if not exited.done():
                    exited.set_result(event["status"])

    def _answer(self, command_id: int, spawned: Spawned) -> None:
        answer = self._spawning.pop(command_id)
        if answer.done():  # nobody waits any more: it may not stay
            self.send_signal(spawned.pid, signal.SIGKILL)
        else:
            answer.set_result(spawned)

    def _forget_all(self) -> None:
        """Count everything as ended: the keeper killed it, or its death did."""
        for exited in self._running.values():
            if not exited.done():
                exited.set_result(KEEPER_LOST_STATUS)
        self._running.clear()
        for answer in self._spawning.values():
            if not answer.done():
                answer.set_exception(FleetSetupError("the keeper is gone; nothing was started."))
        self._spawning.clear()


def kill_marked(marker: str) -> None:
    """Kill every process whose environment carries the keeper's marker, whoever its parent is."""
    wanted = f"{MARKER}={marker}".encode()
    for _ in range(20):  # a process may have forked while the last walk ran
        found = [pid for pid in _list_pids() if wanted in _read_environment(pid)]
        if not found:
            return
        for pid in found:
            _kill_checked(pid, wanted)


def _kill_checked(pid: int, wanted: bytes) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        descriptor = os.pidfd_open(pid)
        try:
            # The descriptor holds the process; only now is it sure that the pid is still the same.
            if wanted in _read_environment(pid):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)


def _list_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _read_environment(pid: int) -> list[bytes]:
    try:
        return Path("/proc", str(pid), "environ").read_bytes().split(b"\0")
    except OSError:
        return []
