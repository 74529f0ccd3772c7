"""Fuzz a live copy over its sockets: damaged frames, half frames, slow writers, sudden ends.

Knows nothing of how it serves them: between the attacks a well-behaved client must be served.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgpack
import numpy as np
from tests.fuzz.frames import RULES as FRAME_RULES
from tests.fuzz.frames import make_frame, pack
from tests.fuzz.mutation import INTERESTING_NUMBERS, STRANGE_VALUES
from tests.fuzz.tally import Footprint, Tally
from tests.integration.host.client import Client
from tests.integration.host.starter import Host

from nodeset.errors import WireError
from nodeset.frame import NOTICE
from nodeset.wire import Decoder, encode

TOKEN = "the fuzzer's token"
ATTACKS_A_CHECK = 250
REPLY_SECONDS = 240.0
SETTLE_SECONDS = 240.0
RULES = {
    **FRAME_RULES,
    "token": r"hello has no token, or a wrong one",
    "hello first": r"the first request must be hello, with the token",
    "protocol": r"hello asks for protocol .*; this host speaks \d",
    "hello": r"hello has worker=.*; it must be a whole number from -1",
    "hello's channel": r"hello has channel=.*; it must be a whole number from 0",
    "channel": r"a request has channel=.*, which no hello has opened",
    "left": r"call \d+ of tool '\w+' was cancelled",
    "id": r"a request has id=.*; it must be a whole number from 0",
    "field": r"a request .* has .*; it must be (text|a whole number|a map|a list)",
    "episode": r"an episode (cannot be read from|has) ",
    "turns": r"a call has turns=.*, seed=.*; they must be whole numbers from 0",
    "tool": r"there is no tool .*; the tools are: ",
    "operation": r"a request has op=.*; it must be one of: ",
    "no episode": r"begin_episode needs an open episode: send open_episode first",
    "controller": r"(a controller has no verb|the controller of nodeset .* has no) .*; it has: ",
    "probe": r"a probe has no verb .*; it has: ",
    "split": r"nodeset 'line' has no split .*; it has: ",
    "port": r"line__\w+ input ",
    "descriptors": r"descriptors arrived that no frame asks for",
}
_OPERATIONS = (
    *("call", "call", "call", "open_episode", "close_episode", "cancel", "health", "manifest"),
    *("hello", "leave", "begin_episode", "controller", "episodes", "probe", "", "x"),
)
_FIELDS = (
    *("id", "tool", "inputs", "turns", "seed", "config", "episode", "worker", "path", "step"),
    *("target", "split", "verb", "name", "value", "params", "seconds", "calls", "protocol"),
    *("channel", "channel"),
)


def fuzz_live(seed: int, count: int) -> Tally:
    """Send `count` fuzzed frames to a copy behind a Unix socket and to one behind TCP."""
    tally = Tally(RULES)
    with tempfile.TemporaryDirectory(prefix="wf") as folder:
        host = Host(Path(folder))
        try:
            for listen in ("", "tcp:127.0.0.1:0"):
                _fuzz_copy(host, tally, Random(f"{seed}/{listen}"), listen=listen, count=count // 2)
        finally:
            host.stop()
    return tally


def _fuzz_copy(host: Host, tally: Tally, rng: Random, *, listen: str, count: int) -> None:
    options = ("--token-env", "FUZZ_TOKEN") if listen else ()
    process, url = host.start("line.py", *options, listen=listen, FUZZ_TOKEN=TOKEN)
    client = host.connect(url, worker=0, token=TOKEN)
    client.request("initialize")
    client.open_episode()
    before = None
    sent, attacks = 0, 0
    while sent < count and process.poll() is None:
        sent += _attack(rng, url, tally)
        attacks += 1
        if attacks % ATTACKS_A_CHECK == 0:
            if not _is_served(client, tally):
                break
            if before is None:
                before = _settle(process.pid, None)
    if not _is_served(client, tally):
        said = host.read_errors(len(host.processes) - 1)
        tally.failed(f"the copy (status {process.poll()}) said {said[-3000:]}", "")
        return
    if before is not None:
        tally.compare(before, _settle(process.pid, before))
    client.socket.close()


def _is_served(client: Client, tally: Tally) -> bool:
    """Say whether a well-behaved client gets what it asks for."""
    tally.outcomes["served meanwhile"] += 1
    try:
        result = client.call("scale", {"x": np.arange(3.0)})
    except OSError as error:
        tally.failed(f"a well-behaved client was not served: {error!r}", "")
        return False
    return bool(result["y"].tolist() == [0.0, 2.0, 4.0])


def _settle(pid: int, before: Footprint | None) -> Footprint:
    """Return what the copy holds once it has closed what was given up."""
    deadline = time.monotonic() + SETTLE_SECONDS
    found = Footprint.of(pid)
    while time.monotonic() < deadline:
        time.sleep(0.2)
        previous, found = found, Footprint.of(pid)
        has_few = before is None or found.descriptors <= before.descriptors
        if has_few and found.descriptors == previous.descriptors:
            break
    return found


def _attack(rng: Random, url: str, tally: Tally) -> int:
    """Open a connection, do it some harm, and leave; return how many frames were sent."""
    with contextlib.suppress(OSError), _connect(url) as sock:
        if rng.random() < 0.8:
            hello = {"id": 0, "op": "hello", "protocol": 1, "mapped": rng.random() < 0.5}
            sock.sendall(b"".join(encode({**hello, "token": TOKEN})))
        return _ATTACKS[rng.randrange(len(_ATTACKS))](rng, sock, tally)
    return 1


def _connect(url: str) -> socket.socket:
    scheme, _, place = url.partition(":")
    if scheme == "unix":
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(REPLY_SECONDS)
        sock.connect(place)
        return sock
    address, _, port = place.rpartition(":")
    return socket.create_connection((address, int(port)), REPLY_SECONDS)


def _send_frames(rng: Random, sock: socket.socket, tally: Tally) -> int:
    """Send damaged frames, say that no more follow, and read what comes back."""
    count = rng.randint(1, 8)
    for _ in range(count):
        sock.sendall(make_frame(rng))
    return _read_replies(sock, tally, count)


def _send_requests(rng: Random, sock: socket.socket, tally: Tally) -> int:
    """Send whole frames with strange requests, all of which are answered."""
    count = rng.randint(1, 8)
    for number in range(count):
        sock.sendall(b"".join(encode(_request(rng, number + 1))))
    return _read_replies(sock, tally, count)


def _request(rng: Random, request_id: int) -> dict[str, Any]:
    request: dict[str, Any] = {"id": request_id, "op": rng.choice(_OPERATIONS)}
    if rng.random() < 0.6:
        inputs = {"x": np.ones(rng.choice((1, 3)))} if rng.random() < 0.7 else {}
        request |= {"tool": rng.choice(("scale", "where", "x")), "inputs": inputs, "turns": [0]}
    if rng.random() < 0.4:
        request["episode"] = {"index": 0, "id": "e"}
    for _ in range(rng.randint(0, 3)):
        request[rng.choice(_FIELDS)] = _strange(rng)
    return request


def _strange(rng: Random) -> Any:
    value = rng.choice((*STRANGE_VALUES, *INTERESTING_NUMBERS))
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    return value if not isinstance(value, int) or value < 2**64 else 0


def _read_replies(sock: socket.socket, tally: Tally, count: int) -> int:
    sock.shutdown(socket.SHUT_WR)
    decoder = Decoder()
    try:
        while received := sock.recv_into(decoder.get_buffer()):
            for message in decoder.receive(received):
                _judge(message, tally)
    except ConnectionError:
        return count  # what the copy had not read when it closed makes a reset of it
    except (WireError, TimeoutError) as error:
        tally.failed(f"the copy's own end: {type(error).__name__}: {error}", "")
    return count


def _judge(message: dict[str, Any], tally: Tally) -> None:
    if "error" not in message:
        tally.accepted()
    elif message["error"]["kind"] == "author":
        tally.outcomes["author's"] += 1
    else:
        tally.refused(message["error"]["message"], message)


def _leave_suddenly(rng: Random, sock: socket.socket, tally: Tally) -> int:
    """Send part of a frame and close with a reset where that is known."""
    frame = make_frame(rng)
    sock.sendall(frame[: rng.randint(0, len(frame))])
    if sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    tally.outcomes["left"] += 1
    return 1


def _write_slowly(rng: Random, sock: socket.socket, tally: Tally) -> int:
    """Send a request byte by byte, each in a packet of its own."""
    for byte in pack(rng, msgpack.packb({"id": 1, "op": "health"})):
        sock.sendall(bytes((byte,)))
    return _read_replies(sock, tally, 1)


def _promise_much(rng: Random, sock: socket.socket, tally: Tally) -> int:
    """Announce a body of a gigabyte, send a little of it, and go."""
    frame = pack(rng, msgpack.packb({"id": 1, "op": "health"}), bytes(64))
    sock.sendall(frame[:12] + (2**30).to_bytes(8, "little") + frame[20:])
    tally.outcomes["left"] += 1
    return 1


def _send_descriptors(rng: Random, sock: socket.socket, tally: Tally) -> int:
    """Pass descriptors that nobody asked for, or that are not what the notice beside them says."""
    if sock.family != socket.AF_UNIX:
        return _leave_suddenly(rng, sock, tally)
    made = [_make_descriptor(rng) for _ in range(rng.choice((0, 1, 1, 1, 3, 30)))]
    size = rng.choice((4096, 4096, 1, 0, 2**40))
    notice = pack(rng, msgpack.packb([0, rng.choice((0, 0, 1)), size]), flags=NOTICE)
    try:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", made))
        sock.sendmsg([notice], [rights] if made else [])
        return _read_replies(sock, tally, 1)
    finally:
        for descriptor in made:
            os.close(descriptor)


def _make_descriptor(rng: Random) -> int:
    """Return a descriptor: sealed memory, memory that can shrink, a file, a folder, a device."""
    kind = rng.randrange(5)
    if kind > 1:
        path = (os.devnull, "/", __file__)[kind - 2]
        return os.open(path, os.O_RDONLY)
    descriptor = os.memfd_create("fuzz", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, 4096)
    if kind == 0:
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    return descriptor


_ATTACKS: tuple[Callable[[Random, socket.socket, Tally], int], ...] = (
    *(_send_frames, _send_frames, _send_requests, _send_requests),
    *(_leave_suddenly, _write_slowly, _promise_much, _send_descriptors),
)
