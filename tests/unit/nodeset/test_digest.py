"""Canonical bytes and their digests are the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from nodeset.context import BatchContext, Context
from nodeset.digest import Hash64Series, digest_firing, digest_value, hash64


def test_digest_is_the_same_under_every_python_and_numpy() -> None:
    value = {
        "a": np.arange(6, dtype=np.int64).reshape(2, 3).T,
        "b": [1, 2.0, None, "x", b"y", True, -(2**40)],
    }
    assert digest_value(value).hex() == "f90cf3aa5d486d9ada7ee73ccfa414d3"


def test_layout_byte_order_and_key_order_do_not_count() -> None:
    plain = np.arange(12, dtype="<f4").reshape(3, 4)
    other = np.asfortranarray(plain.astype(">f4"))
    assert digest_value({"a": plain, "b": 1}) == digest_value({"b": 1, "a": other})


def test_what_differs_has_another_digest() -> None:
    values = [0, 0.0, False, None, "", b"", [], {}, np.zeros(0), np.zeros((0, 1)), np.zeros(())]
    values += [np.zeros(1, "f4"), np.zeros(1, "f8"), np.zeros(1, "i8"), [[]], {"": None}]
    assert len({digest_value(value) for value in values}) == len(values)


def test_one_flipped_bit_is_seen() -> None:
    frame = np.zeros((64, 64, 3), np.uint8)
    other = frame.copy()
    other[63, 63, 2] = 1
    assert digest_firing("see", (0,), {"rgb": frame}) != digest_firing("see", (0,), {"rgb": other})


def test_seed_makes_its_own_stream() -> None:
    seed = hash64(7, "key", "policy", [3])
    draws = [Context({}, seed=seed).rng.random(4).tolist() for _ in range(2)]
    assert draws[0] == draws[1]
    assert hash64(7, "key", "policy", [4]) != seed


def test_series_of_seeds_is_what_hashing_each_would_be() -> None:
    seeds = Hash64Series(7, "key", "policy")
    for turns in ((), (3,), (2**40, 1)):
        assert seeds.hash(turns) == hash64(7, "key", "policy", turns)


def test_batch_context_refuses_what_belongs_to_a_row() -> None:
    ctx = BatchContext({"gain": 1}, [Context({}, seed=3)])
    for name in ("rng", "seed", "episode"):
        with pytest.raises(AttributeError, match=rf"ctx\.rows\[i\]\.{name}"):
            getattr(ctx, name)
    ctx.log("entropy", 0.5)
    assert ctx.rows[0].logs == [("entropy", 0.5)]
