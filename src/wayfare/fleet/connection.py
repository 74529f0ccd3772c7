"""Give one worker its way to one copy, on a line that it may share with other workers.

Knows nothing of sockets, of what is asked or of how the copy was started.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nodeset.errors import WireError
from wayfare.fleet.exchange import Exchange, Explain
from wayfare.fleet.line import Frame, Line

PROTOCOL = 1
HELLO_SECONDS = 120.0


class Connection(Exchange):
    """A `Link` on a line.

    A single request leaves at once; what leaves together leaves in one write.
    """

    sends_at_once = True

    def __init__(self, line: Line, copy: str, explain_loss: Explain) -> None:
        super().__init__(copy, explain_loss)
        self._line = line
        self._channel = line.join(self)

    async def greet(self, worker: int, token: str = "") -> None:
        """Say hello, with the token if there is one; learn whether arrays may go through memory."""
        shown = {"token": token} if token else {}
        hello = await self.request(
            "hello",
            protocol=PROTOCOL,
            worker=worker,
            mapped=self._line.accepts_memory,
            budget_seconds=HELLO_SECONDS,
            **shown,
        )
        if hello.get("mapped") is True:
            self._line.lend_memory()

    async def close(self) -> None:
        """Give the connection up; requests under way fail."""
        self._line.leave(self._channel)
        self.lose(None)

    def take(self, message: dict[str, Any]) -> None:
        """Take a reply that the line brought."""
        self._receive(message)

    def flush(self) -> None:
        """Send what was queued; called by the line."""
        self._flush()

    def lose(self, fault: WireError | None) -> None:
        """Note that nothing is carried any more; called by the line."""
        if not self.is_lost:
            self._lose(fault)

    def _schedule(self) -> None:
        self._line.schedule(self)

    def _pack(self, message: dict[str, Any]) -> Frame:
        if self._channel or "channel" in message:  # a call may have been another channel's before
            message["channel"] = self._channel
        return self._line.pack(message)

    def _deliver(self, frames: Sequence[Frame]) -> None:
        self._line.send(frames)


async def connect(
    line: Line, *, copy: str, worker: int, explain_loss: Explain, token: str = ""
) -> Connection:
    """Return a greeted connection to a copy, by its tag, on a line to it.

    `token` is what a copy asks for over TCP. Raises WireError without the right token,
    CopyFailedError when the copy ends meanwhile.
    """
    connection = Connection(line, copy, explain_loss)
    try:
        await connection.greet(worker, token)
    except BaseException:
        await connection.close()
        raise
    return connection
