"""The end of a connection: what it gives back at once, and what outlives it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from tests.unit.nodeset.streams import Pair


@pytest.fixture
def no_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_memory_goes_with_its_connection_and_waits_for_no_collection(no_collection):
    pair = Pair()
    kept = pair.cross(np.arange(40_000.0))
    arenas = [weakref.ref(stream._memory.arena) for stream in pair.ends]
    for stream in pair.ends:
        stream.close()
    assert [arena() for arena in arenas] == [None, None]
    assert np.array_equal(kept, np.arange(40_000.0))


def test_who_still_sends_on_a_connection_that_has_ended_lends_nothing():
    pair = Pair()
    arena = pair.left._memory.arena
    pair.left.close()
    assert arena.place(np.zeros(40_000), pins=1) is None
    pair.right.close()
