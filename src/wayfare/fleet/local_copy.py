"""Watch, kill and reach one copy on this machine.

Knows nothing of how its interpreter was found, of workers or of what is called.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nodeset.host.page import PageReader
from wayfare.fleet.connection import Connection, connect
from wayfare.fleet.errors import (
    HOST_PREFIX,
    CopyDeath,
    CopyFailedError,
    FleetSetupError,
    Verdict,
    failure_of,
)
from wayfare.fleet.keeper_client import Keeper, Spawned
from wayfare.fleet.launcher import Progress, RunningCall
from wayfare.fleet.line import Line, open_line
from wayfare.fleet.memory import measure_tree

LISTEN_SECONDS = 120.0
"""How long a copy may take to listen: the start of its interpreter and the import of `nodeset`."""
RETRY_SECONDS = 0.005
DEATH_NOTICE_SECONDS = 10.0
"""How long after a lost connection the keeper may take to tell how the copy ended."""
TAIL_LINES = 40
TAIL_BYTES = 32 * 1024


@dataclass(frozen=True, slots=True)
class Log:
    """What one copy printed: its file from where the copy began."""

    path: Path
    start: int = field(default=0)

    def read_end(self, size: int) -> str:
        """Return the last so many bytes of it as text."""
        try:
            with self.path.open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(self.start, end - size))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    def read_tail(self) -> str:
        """Return its last lines, without those that say nothing of what befell it."""
        text = self.read_end(TAIL_BYTES)
        lines = [line for line in text.splitlines() if not _is_noise(line)]
        return "\n".join(lines[-TAIL_LINES:])


def _is_noise(line: str) -> bool:
    """Return whether a line says no more than that the copy listens, or what it has imported."""
    is_greeting = line.startswith(HOST_PREFIX) and " listens at unix:" in line
    return is_greeting or line.startswith("Extension modules: ")


class LocalCopy:
    """A copy that is a process on this machine."""

    def __init__(
        self,
        tag: str,
        socket: Path,
        spawned: Spawned,
        *,
        keeper: Keeper,
        log: Log,
        page: PageReader,
    ) -> None:
        self.tag = tag
        self.url = f"unix:{socket}"
        self.pid = spawned.pid
        self.exited = spawned.exited
        self._socket = socket
        self._mark = spawned.mark
        self._keeper = keeper
        self._log = log
        self._page = page
        self._verdict: Verdict | None = None
        self._death: CopyDeath | None = None
        self._opening = asyncio.Lock()
        self._line: Line | None = None
        """What all workers that call it share."""
        self.exited.add_done_callback(self._note_death)

    def death(self) -> CopyDeath | None:
        """Return how it ended, or None while it lives."""
        return self._death

    def log_tail(self) -> str:
        """Return the last lines that it printed."""
        return self._log.read_tail()

    async def progress(self) -> Progress:
        """Return what it is at, by the page that it marks; see `Copy.progress`."""
        reading, now = self._page.read(), time.monotonic()
        running = tuple(
            RunningCall(
                call.name,
                call.budget,
                max(0.0, now - call.started),
                call_id=call.call_id,
                worker=call.worker,
                rows=call.rows,
            )
            for call in reading.running
        )
        return Progress(running, reading.ended, reading.ended_seconds, _is_stopped(self.pid))

    async def measure_memory(self) -> int:
        """Return the anonymous memory of its process tree, in bytes; see `Copy.measure_memory`."""
        return await asyncio.to_thread(self._measure)

    def _measure(self) -> int:
        return measure_tree([self.pid, *self._keeper.list_adopted(self._mark)])

    def kill(self, verdict: Verdict | None = None) -> None:
        """End it at once, with all that it started; the first verdict counts."""
        self._verdict = self._verdict or verdict
        with contextlib.suppress(FleetSetupError):  # without a keeper it is dead already
            self._keeper.send_signal(self.pid, signal.SIGKILL)

    async def connect(self, worker: int) -> Connection:
        """Open a connection for a worker, waiting until the copy listens.

        All workers share one line; whoever is none (below 0) gets one alone, on which nothing waits
        behind what workers send.

        Raises CopyFailedError when it ends first or does not listen within LISTEN_SECONDS.
        """
        try:
            async with asyncio.timeout(LISTEN_SECONDS):
                return await self._connect_when_listening(worker)
        except TimeoutError as error:
            self.kill()
            raise CopyFailedError(
                f"copy {self.tag!r} (pid {self.pid}) did not listen within {LISTEN_SECONDS} s. "
                f"Its last lines:\n{self.log_tail()}"
            ) from error

    async def _connect_when_listening(self, worker: int) -> Connection:
        if worker < 0:
            line = await self._open_line()
        else:
            async with self._opening:
                if self._line is None or self._line.is_closed:
                    self._line = await self._open_line()
                line = self._line
        return await connect(line, copy=self.tag, worker=worker, explain_loss=self.explain_loss)

    async def _open_line(self) -> Line:
        while not self.exited.done():
            try:
                line = await open_line(self.url)
            except (FileNotFoundError, ConnectionRefusedError):
                await asyncio.wait([self.exited], timeout=RETRY_SECONDS)
            else:
                # A child that it forked may hold the socket open for longer than it lives.
                self.exited.add_done_callback(partial(_end, line))
                return line
        raise await self.explain_loss()

    async def explain_loss(self) -> CopyFailedError:
        """Return the error for a connection that ended, with the copy's status if it ended too."""
        await asyncio.wait([self.exited], timeout=DEATH_NOTICE_SECONDS)
        await asyncio.sleep(0)  # the callback that notes the death runs after the wait
        if self._death is None:
            text = f"copy {self.tag!r} (pid {self.pid}) lives but closed the connection."
            return CopyFailedError(text)
        return failure_of(self._death)

    def _note_death(self, exited: asyncio.Future[int]) -> None:
        if not exited.cancelled():
            status, tail = exited.result(), self.log_tail()
            self._death = CopyDeath(self.tag, self.pid, status, tail, self._verdict)
        self._page.close()
        self._socket.unlink(missing_ok=True)


def _end(line: Line, _: asyncio.Future[int]) -> None:
    line.end()


def _is_stopped(pid: int) -> bool:
    """Return whether SIGSTOP holds the process; a debugger's stop is something else."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] == "T"
