"""Carry one worker's requests to one copy and its replies back, over a Unix or TCP stream.

Knows nothing of what is asked or of how the copy was started.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nodeset import wire
from nodeset.errors import WireError
from wayfare.fleet.exchange import Exchange, Explain, Frame

PROTOCOL = 1
HELLO_SECONDS = 120.0


class Connection(Exchange, asyncio.BufferedProtocol):
    """A `Link` over a stream; what leaves together leaves in one write."""

    def __init__(self, copy: str, explain_loss: Explain) -> None:
        super().__init__(copy, explain_loss)
        self._decoder = wire.Decoder()

    async def close(self) -> None:
        """Give the connection up; requests under way fail."""
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  streams only
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        return self._decoder.get_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            for message in self._decoder.receive(nbytes):
                self._receive(message)
        except WireError as error:
            self._lose(error)
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._lose()

    def _deliver(self, frames: Sequence[Frame]) -> None:
        self._transport.writelines([buffer for frame in frames for buffer in frame])


async def open_connection(url: str, *, copy: str, worker: int, explain_loss: Explain) -> Connection:
    """Connect to a copy, by its tag, at `unix:PATH` or `tcp:HOST:PORT` and greet it.

    Raises OSError when nothing listens there, CopyFailedError when the copy ends meanwhile.
    """
    loop = asyncio.get_running_loop()
    scheme, _, address = url.partition(":")
    if scheme == "unix":
        _, connection = await loop.create_unix_connection(
            lambda: Connection(copy, explain_loss), address
        )
    else:
        host, _, port = address.rpartition(":")
        _, connection = await loop.create_connection(
            lambda: Connection(copy, explain_loss), host, int(port)
        )
    try:
        await connection.request(
            "hello", protocol=PROTOCOL, worker=worker, budget_seconds=HELLO_SECONDS
        )
    except BaseException:
        await connection.close()
        raise
    return connection
