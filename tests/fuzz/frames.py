"""Fuzz the decoder of frames: damaged real ones, frames made of strange parts, plain noise.

Knows nothing of sockets.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgpack
import numpy as np
from tests.fuzz.mutation import INTERESTING_NUMBERS, mutate
from tests.fuzz.tally import Tally

from nodeset.errors import WireError
from nodeset.memory import MappedMemory
from nodeset.wire import MAGIC, PREFIX, Decoder, encode

RULES = {
    "too large": r"a frame of \d+ .* is too large; at most \d+ may cross",
    "magic": r"a frame begins with .*; it must begin with",
    "flags": r"a frame has flags .*; none is known",
    "not msgpack": r"a frame's header is not msgpack: ",
    "no map": r"a frame holds a .*; it must hold a map",
    "extension": r"a frame holds a value of extension type -?\d+; only 1 is known",
    "array": r"a frame holds a malformed array: ",
    "nesting": r"a value is nested deeper than \d+ levels",
    "containers": r"a message holds more than \d+ lists and dicts",
    "keys": r"a dict has the key .*; keys must be text",
    "msgpack's own": r"a (ExtType|Timestamp) of msgpack cannot cross",
    "notice": r"a notice about memory is malformed: ",
    "release": r"a frame releases memory at .*; nothing is lent there",
    "segment": r"a (segment of .* cannot be mapped|frame announces segment)",
}
_DTYPES = (
    *("<f8", "|u1", "|O", "|V8", "|S0", "<U0", "<U7", "<M8[ns]", "<m8[99D]", ">i4", "i4,f4"),
    *("<f16", "<c7", "|b1", "<f99", "=f4", "<U999999999", "|S999999999", "\x00", "|u1\n"),
)


def seed_messages() -> list[dict[str, Any]]:
    """Return messages as they cross between a worker and a copy."""
    image = np.zeros((6, 5, 3), np.uint8)
    inputs = {"state": {"at": [1, 2.5, None]}, "rgb": image, "text": "turn left ☃", "done": False}
    call = {"path": "a/b", "tool": "step", "config": {}, "inputs": inputs, "step": 3, "turns": [0]}
    outputs = {"pose": np.arange(7.0), "depth": np.ones((4, 4), np.float32), "list": [{}] * 9}
    return [
        {"id": 1, "op": "hello", "protocol": 1, "worker": 0, "mapped": True, "token": "secret"},
        {"id": 2, "op": "call", "seed": 2**64 - 1, **call},
        {"id": 3, "op": "open_episode", "episode": {"index": 0, "id": "e", "info": {"goal": "x"}}},
        {"id": 2, "ok": {"outputs": outputs, "logs": [["k", 1]], "digests": [[2, b"\x00" * 16]]}},
        {"id": 4, "error": {"kind": "author", "type": "E", "message": "m", "traceback": "t" * 400}},
        {"id": 5, "op": "call", "inputs": {"big": np.zeros(20_000, np.uint8)}},
    ]


_SEEDS = [b"".join(encode(message)) for message in seed_messages()]


def make_frame(rng: Random) -> bytes:
    """Return the bytes of a fuzzed frame, or of several."""
    draw = rng.random()
    if draw < 0.4:
        return mutate(rng, rng.choice(_SEEDS))
    if draw < 0.6:
        return pack(rng, msgpack.packb({"id": 1, "value": _strange(rng, 4)}, strict_types=False))
    if draw < 0.85:
        body = bytes(rng.choice((0, 64, 64, 128)))
        return pack(rng, msgpack.packb({"value": _place(rng)}), body)
    if draw < 0.93:
        return pack(rng, mutate(rng, msgpack.packb({"id": 1, "value": _strange(rng, 3)})))
    if draw < 0.97:
        return pack(rng, msgpack.packb(_notice(rng)), flags=1)
    return rng.randbytes(rng.randint(0, 200))


def pack(rng: Random, header: bytes, body: bytes = b"", *, flags: int = 0) -> bytes:
    """Return a frame whose prefix is right, mostly."""
    buffers, head, rest = 1, len(header), len(body)
    if rng.random() < 0.1:
        buffers = rng.randint(0, 2**16 - 1)
        head, rest = (max(0, n + rng.randint(-3, 3)) for n in (head, rest))
    if rng.random() < 0.02:
        rest = rng.choice(INTERESTING_NUMBERS) % 2**64
    return PREFIX.pack(MAGIC, flags, buffers, head, rest) + header + body


def _strange(rng: Random, depth: int) -> Any:
    if depth and rng.random() < 0.6:
        items = [_strange(rng, depth - 1) for _ in range(rng.randint(0, 4))]
        if rng.random() < 0.5:
            return items
        keys = ("a", "b", "", "\x00", 1, b"k", None, 2.5)
        return {rng.choice(keys[:4] if rng.random() < 0.8 else keys): item for item in items}
    draw = rng.randrange(6)
    if draw == 0:
        value: Any = None
        for _ in range(rng.choice((1, 60, 64, 70, 300))):
            value = [value]
        return value
    if draw == 1:
        return msgpack.ExtType(rng.randrange(128), rng.randbytes(rng.randint(0, 20)))
    if draw == 2:
        return _place(rng)
    number = rng.choice(INTERESTING_NUMBERS)
    return (number, rng.randbytes(3), "é" * rng.randint(0, 40))[draw - 3]


def _place(rng: Random) -> msgpack.ExtType:
    """Return an array's place in the body, or in memory; most are wrong in one thing."""
    draw = rng.random
    size = 8 if draw() < 0.6 else rng.choice(INTERESTING_NUMBERS)
    offset = 0 if draw() < 0.6 else rng.choice((*INTERESTING_NUMBERS, -64, 128))
    index = 0 if draw() < 0.8 else rng.choice((*INTERESTING_NUMBERS, "x", None))
    lengths = [1] if draw() < 0.5 else [_length(rng) for _ in range(rng.choice((0, 1, 2, 3, 33)))]
    shape: Any = lengths if draw() < 0.95 else rng.choice((None, 1, "x", {}, [[1]], [True]))
    text = "<f8" if draw() < 0.4 else rng.choice((*_DTYPES, None, 8))
    place = [index, text, shape, offset, size][: 5 if draw() < 0.95 else rng.randint(0, 4)]
    return msgpack.ExtType(1 if draw() < 0.8 else 2, msgpack.packb(place))


def _length(rng: Random) -> int:
    return rng.choice((0, 1, 2, 8, -1, 2**31, 2**32, 2**62, 2**63, 2**64 - 1))


def _notice(rng: Random) -> Any:
    number = rng.choice(INTERESTING_NUMBERS)
    return rng.choice(
        (
            [0, 0, 2**20],
            [0, number, number],
            [0, "x", None],
            [1, [[0, 0]]],
            [1, [[number, number], [0]]],
            [1, [[[], {}]]],
            [1, 5],
            [number],
            [],
            {"a": 1},
            None,
        )
    )


def fuzz_frames(seed: int, count: int) -> Tally:
    """Feed `count` fuzzed frames to decoders, each a fresh one."""
    tally = Tally(RULES)

    def one(number: int) -> None:
        rng = Random(f"{seed}/{number}")
        data = make_frame(rng)
        decoder = Decoder()
        if rng.random() < 0.3:
            decoder.memory = MappedMemory(lambda _notice, _descriptor: False)
        try:
            for piece in _cut(rng, data):
                for _ in decoder.feed(piece):
                    pass
        except WireError as error:
            tally.refused(str(error), data)
        else:
            tally.accepted()

    tally.run(count, one)
    return tally


def _cut(rng: Random, data: bytes) -> list[bytes]:
    if rng.random() < 0.7:
        return [data]
    middle = rng.randint(0, len(data))
    return [data[:middle], data[middle:]]
