"""Start a peer's batching server, and call it over kept connections as cheaply as Python can.

Knows nothing of Wayfare.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import msgpack

PEERS = Path(__file__).with_name("peers")
PEERS_PYTHON = Path(__file__).resolve().parents[1] / ".cache/benchmarks/batching/bin/python"
HOST = "127.0.0.1"
START_SECONDS = 90.0
SCRIPTS = {
    "fastapi": "fastapi_queue",
    "litserve": "litserve_api",
    "mosec": "mosec_worker",
    "ray": "ray_deployment",
}
TITLES = {
    "fastapi": "FastAPI, msgpack, queue",
    "litserve": "LitServe",
    "mosec": "mosec",
    "ray": "Ray Serve",
}


class PeerError(Exception):
    """A peer cannot be measured; the text says why."""


@dataclass
class Peer:
    """One running server; it is stopped while others are measured."""

    kind: str
    port: int
    process: subprocess.Popen[bytes]

    def encode(self, image: bytes) -> bytes:
        """Return the whole request for an image; LitServe takes JSON."""
        if self.kind == "litserve":
            kind, body = "json", json.dumps({"rgb": base64.b64encode(image).decode()}).encode()
        else:
            kind, body = "msgpack", msgpack.packb({"rgb": image})
        head = f"POST /act HTTP/1.1\r\nHost: {HOST}\r\nContent-Type: application/{kind}\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def decode(self, body: bytes) -> int:
        """Return with how many rows a request was served."""
        answer = json.loads(body) if self.kind == "litserve" else msgpack.unpackb(body)
        return int(answer["rows"])

    def signal(self, number: int) -> None:
        """Send a signal to the server and the processes that it has started."""
        os.killpg(self.process.pid, number)


class Connection:
    """One kept connection; requests follow each other."""

    def __init__(
        self, peer: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._peer, self._reader, self._writer = peer, reader, writer

    @classmethod
    async def open(cls, peer: Peer) -> Connection:
        return cls(peer, *await asyncio.open_connection(HOST, peer.port))

    async def call(self, image: bytes) -> int:
        self._writer.write(self._peer.encode(image))
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200"):
            raise PeerError(f"{self._peer.kind} answered {head[:80]!r}")
        length = head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0]
        return self._peer.decode(await self._reader.readexactly(int(length)))

    def close(self) -> None:
        self._writer.close()


def why_not(kind: str) -> str | None:
    """Return why a peer cannot be measured; None if it can."""
    if not PEERS_PYTHON.exists():
        return f"there is no interpreter for peers at {PEERS_PYTHON}"
    command = [str(PEERS_PYTHON), "-c", f"import {SCRIPTS[kind]}"]
    done = subprocess.run(
        command, cwd=PEERS, capture_output=True, text=True, timeout=START_SECONDS, check=False
    )
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else None


@contextlib.asynccontextmanager
async def running(kind: str, seconds: float, image: bytes) -> AsyncIterator[Peer]:
    """Give a peer that answers, stopped by SIGSTOP; it ends with its processes."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(  # noqa: ASYNC220  starting takes no time worth sharing
        [str(PEERS_PYTHON), str(PEERS / f"{SCRIPTS[kind]}.py"), str(port), str(seconds)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    peer = Peer(kind, port, process)
    try:
        await _wait_for_answer(peer, image)
        peer.signal(signal.SIGSTOP)
        yield peer
    finally:
        with contextlib.suppress(ProcessLookupError):
            peer.signal(signal.SIGKILL)
        process.wait()


async def _wait_for_answer(peer: Peer, image: bytes) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            connection = await Connection.open(peer)
            try:
                await asyncio.wait_for(connection.call(image), 10.0)
            finally:
                connection.close()
            return
        except (OSError, asyncio.IncompleteReadError, TimeoutError, PeerError) as error:
            if peer.process.poll() is not None or time.monotonic() > deadline:
                raise PeerError(f"{peer.kind} does not start: {error}") from error
            await asyncio.sleep(0.1)
