"""Run copies inside this process, for a debugger: the same host object without the socket.

Knows nothing of graphs or workers. Author code runs on the thread of the event loop and holds it
up; what crosses is encoded and decoded as on a socket, so that nothing is shared by accident.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from nodeset import wire
from nodeset.errors import NodeSetError
from nodeset.host import AutoServerApp
from nodeset.loading import load_nodeset
from wayfare.fleet.connection import PROTOCOL
from wayfare.fleet.errors import (
    CopyDeath,
    CopyFailedError,
    FleetSetupError,
    Verdict,
    failure_of,
)
from wayfare.fleet.exchange import Exchange
from wayfare.fleet.launcher import Copy, CopySpec
from wayfare.fleet.line import Frame
from wayfare.fleet.local import LocalLauncher

HELLO_SECONDS = 30.0
KILLED_STATUS = -int(signal.SIGKILL)
CRASHED_STATUS = 1
"""The exit status of a Python process that an exception ended."""
INTERRUPTED_STATUS = -int(signal.SIGINT)


class AuthorInterrupt(KeyboardInterrupt):
    """Author code in this process is to end at once, since a person asked for it."""


def is_author_running(frame: FrameType | None) -> bool:
    """Return whether author code of a copy in this process runs in a frame or below it."""
    while frame is not None:
        if frame.f_code is InProcessCopy.run_author.__code__:
            return True
        frame = frame.f_back
    return False


class InProcessLauncher:
    """Starts copies in this process, and those of another interpreter through `elsewhere`.

    For one worker. `notify` is told which nodesets are not in this process, and why.
    """

    def __init__(self, elsewhere: LocalLauncher, notify: Callable[[str], None]) -> None:
        self._elsewhere = elsewhere
        self._notify = notify

    async def start(self, spec: CopySpec) -> Copy:
        """Return a copy, alive but not loaded; see `Launcher.start`."""
        if "#" in spec.tag:
            raise FleetSetupError(
                f"--in-process runs one worker, but copy {spec.tag!r} is one of several; "
                f"use --workers 1."
            )
        interpreter = await self._elsewhere.find_interpreter(spec)
        if interpreter.path != Path(sys.executable):
            self._notify(
                f"nodeset {spec.instance!r} runs in a process of its own: it asks for the "
                f"interpreter {spec.deployment.python or str(interpreter.path)!r}."
            )
            return await self._elsewhere.start(spec)
        return InProcessCopy(spec)

    def keep_logs(self, folder: Path, mask: Callable[[str], str]) -> None:
        """Keep what copies in processes of their own have printed so far."""
        self._elsewhere.keep_logs(folder, mask)


class InProcessCopy:
    """A copy that lives in this process."""

    def __init__(self, spec: CopySpec) -> None:
        self.tag = spec.tag
        self.pid = os.getpid()
        self.url = f"in-process:{spec.tag}"
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        load = partial(load_nodeset, str(spec.file), spec.name, spec.config)
        self.app = AutoServerApp(load, name=spec.name, tag=spec.tag)
        self._last_words = ""
        self._verdict: Verdict | None = None

    def death(self) -> CopyDeath | None:
        """Return how it ended, or None while it lives."""
        if not self.exited.done():
            return None
        status = self.exited.result()
        return CopyDeath(self.tag, self.pid, status, self._last_words, self._verdict)

    async def progress(self) -> None:
        """Return None: whatever its author code does holds up whoever would look at it."""

    async def measure_memory(self) -> int:
        """Return 0: the memory is this process's, which no fresh copy would give back."""
        return 0

    def kill(self, verdict: Verdict | None = None) -> None:
        """End it; author code that runs goes on."""
        if not self.exited.done():
            self._verdict = verdict
        self.end(KILLED_STATUS)

    def run_author(self, work: Callable[[], None]) -> None:
        """Do what runs author code; what would end a process of its own ends this copy.

        Raises what the framework says of the author's code.
        """
        try:
            work()
        except NodeSetError:
            raise
        except AuthorInterrupt:
            self._note_end(INTERRUPTED_STATUS)
        except KeyboardInterrupt:  # the author's own
            self._note_end(INTERRUPTED_STATUS, traceback.format_exc())
        except BaseException:  # noqa: BLE001  author code runs in there
            self._note_end(CRASHED_STATUS, traceback.format_exc())

    def end(self, status: int) -> None:
        """Let go of the nodeset; nothing if that was done."""
        if not self.exited.done():
            self._note_end(status)
            self.run_author(self.app.stop)

    async def connect(self, worker: int) -> InProcessLink:
        """Open a link for a worker."""
        link = InProcessLink(self, worker)
        await link.request("hello", protocol=PROTOCOL, worker=worker, budget_seconds=HELLO_SECONDS)
        return link

    def _note_end(self, status: int, last_words: str = "") -> None:
        if not self.exited.done():
            self._last_words = last_words
            self.exited.set_result(status)

    async def explain_loss(self) -> CopyFailedError:
        """Return the error for a link that was given up."""
        death = self.death()
        if death is None:
            return CopyFailedError(f"copy {self.tag!r} has ended.")
        return failure_of(death)


class InProcessLink(Exchange):
    """A `Link` to a host object in this process."""

    def __init__(self, copy: InProcessCopy, worker: int) -> None:
        super().__init__(copy.tag, copy.explain_loss)
        self._copy = copy
        self._caller = copy.app.connect(worker)
        copy.exited.add_done_callback(lambda _: self._lose())

    async def close(self) -> None:
        """Give the link up; requests under way fail."""
        if not self.is_lost:
            self._copy.app.disconnect(self._caller)
        self._lose()

    def _deliver(self, frames: Sequence[Frame]) -> None:
        decoder = wire.Decoder()
        messages = [m for frame in frames for m in decoder.feed(b"".join(frame))]
        try:
            for message in messages:
                self._copy.app.submit(self._caller, message, self._take_reply)
            if any(message["op"] != "hello" for message in messages):
                self._copy.run_author(self._copy.app.run_pending)
        except NodeSetError as error:
            self._lose(error)
        if any(message["op"] == "shutdown" for message in messages):
            self._copy.end(0)

    def _take_reply(self, reply: Mapping[str, Any]) -> None:
        self._receive(wire.copy_message(reply))
