"""A blocking client of one copy, for tests: requests out, replies by id.

Knows nothing of workers or batches.
"""

from __future__ import annotations

import itertools
import socket

from tests.deadline import HANG_SECONDS

from nodeset.errors import from_payload
from nodeset.wire import Decoder, encode


class Client:
    """One connection; `url` is `unix:PATH` or `tcp:HOST:PORT`."""

    def __init__(self, url: str, **hello) -> None:
        scheme, _, place = url.partition(":")
        if scheme == "unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(HANG_SECONDS)
            self.socket.connect(place)
        else:
            host, _, port = place.rpartition(":")
            self.socket = socket.create_connection((host, int(port)), HANG_SECONDS)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.digests: dict[int, bytes] = {}
        self._decoder = Decoder()
        self._ids = itertools.count(1)
        self._replies: dict[int, dict] = {}
        try:
            self.hello = self.request("hello", **{"protocol": 1, "worker": -1, **hello})
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def send(self, op: str, **fields) -> int:
        """Send a request without waiting; return its id."""
        request_id = next(self._ids)
        self.socket.sendall(b"".join(encode({"id": request_id, "op": op, **fields})))
        return request_id

    def receive(self, request_id: int) -> dict:
        """Return the `ok` part of a reply; raises the error that it carries."""
        while request_id not in self._replies:
            count = self.socket.recv_into(self._decoder.get_buffer())
            if not count:
                raise ConnectionError("the copy closed the connection")
            for message in self._decoder.receive(count):
                self._replies[message["id"]] = message
        message = self._replies.pop(request_id)
        if "error" in message:
            raise from_payload(message["error"])
        self.digests.update(message["ok"].get("digests", ()))
        return message["ok"]

    def request(self, op: str, **fields) -> dict:
        return self.receive(self.send(op, **fields))

    def send_call(self, tool: str, inputs: dict, **fields) -> int:
        fields = {"path": tool, "config": {}, "step": 0, "turns": [0], "seed": 1, **fields}
        return self.send("call", tool=tool, inputs=inputs, **fields)

    def call(self, tool: str, inputs: dict, **fields) -> dict:
        return self.receive(self.send_call(tool, inputs, **fields))["outputs"]

    def open_episode(self, index: int = 0) -> None:
        self.request("open_episode", episode={"index": index, "id": str(index)})
