"""Other ways to the same answer: servers of the payloads, run as `transport_peer.py KIND PATH`.

Knows nothing of Wayfare; each server and its client are what one would write by hand.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

LENGTH = struct.Struct("<Q")
START_SECONDS = 60.0
HTTP_SCRIPT = Path(__file__).with_name("transport_http.py")
RNG = np.random.default_rng(0)
RGB = RNG.integers(0, 255, (480, 640, 3), np.uint8)
DEPTH = RNG.random((480, 640), np.float32)
KINDS = {
    "unix-msgpack": "Unix socket, msgpack",
    "unix-frames": "Unix socket, raw frames",
    "http-msgpack": "HTTP, msgpack (uvicorn)",
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["tool"] == "scalars":
        return request["inputs"]
    return {"rgb": RGB, "depth": DEPTH}


def pack(message: dict[str, Any]) -> bytes:
    def place(array: np.ndarray) -> dict[str, Any]:
        return {"d": array.dtype.str, "s": array.shape, "b": array.tobytes()}

    return msgpack.packb(message, default=place)


def unpack(data: bytes) -> dict[str, Any]:
    def make(found: dict[str, Any]) -> Any:
        return (
            np.frombuffer(found["b"], found["d"]).reshape(found["s"])
            if "b" in found and "d" in found
            else found
        )

    return msgpack.unpackb(data, object_hook=make)


class Client:
    """One blocking connection."""

    def __init__(self, kind: str, path: Path) -> None:
        self.kind = kind
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**22)
        if kind == "http-msgpack":
            self.http = http.client.HTTPConnection("localhost")
            self.http.sock = self.socket

    def call(self, tool: str, inputs: dict[str, Any]) -> dict[str, Any]:
        data = pack({"tool": tool, "inputs": inputs})
        if self.kind == "http-msgpack":
            self.http.request("POST", "/", data)
            return unpack(self.http.getresponse().read())
        self.socket.sendall(LENGTH.pack(len(data)) + data)
        head = self._receive(8)
        if self.kind == "unix-msgpack":
            return unpack(self._receive(LENGTH.unpack(head)[0]))
        header = msgpack.unpackb(self._receive(LENGTH.unpack(head)[0]))
        for name, dtype, shape in header.pop("arrays"):
            array = np.empty(shape, dtype)
            self._receive_into(memoryview(array).cast("B"))
            header[name] = array
        return header

    def _receive(self, size: int) -> bytearray:
        data = bytearray(size)
        self._receive_into(memoryview(data))
        return data

    def _receive_into(self, view: memoryview) -> None:
        while view:
            view = view[self.socket.recv_into(view) :]


@contextlib.contextmanager
def running(kind: str, folder: Path) -> Iterator[Client]:
    """Give a client of a server in a process of its own."""
    path = folder / f"{kind}.sock"
    script = HTTP_SCRIPT if kind == "http-msgpack" else __file__
    process = subprocess.Popen([sys.executable, script, kind, str(path)])
    try:
        client = None
        deadline = time.monotonic() + START_SECONDS
        while client is None:
            with contextlib.suppress(OSError):
                client = Client(kind, path)
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the peer {kind!r} does not start")
            time.sleep(0.01)
        yield client
        client.socket.close()
    finally:
        process.kill()
        process.wait()
        path.unlink(missing_ok=True)


def serve_stream(kind: str, path: str) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**22)
        with contextlib.suppress(OSError, EOFError):
            serve_connection(kind, connection)


def serve_connection(kind: str, connection: socket.socket) -> None:
    reader = connection.makefile("rb")
    while head := reader.read(8):
        result = answer(msgpack.unpackb(reader.read(LENGTH.unpack(head)[0])))
        if kind == "unix-msgpack":
            data = pack(result)
            connection.sendall(LENGTH.pack(len(data)) + data)
            continue
        arrays = {name: value for name, value in result.items() if isinstance(value, np.ndarray)}
        rest = {name: value for name, value in result.items() if name not in arrays}
        rest["arrays"] = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
        header = msgpack.packb(rest)
        connection.sendall(LENGTH.pack(len(header)) + header)
        for array in arrays.values():
            connection.sendall(memoryview(array).cast("B"))


if __name__ == "__main__":
    serve_stream(sys.argv[1], sys.argv[2])
