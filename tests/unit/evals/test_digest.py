"""What an episode's digest covers, and what it leaves out."""

from dataclasses import replace
from typing import Any

import pytest

from wayfare.evals.digest import episode_digest, is_proven, run_digest
from wayfare.store.firings import columns, pack_firings, unpack_columns
from wayfare.store.records import EpisodeKey, EpisodeRecord, ErrorRecord, Firing

KEY = EpisodeKey("env", "0123", "val", "scene", "7")
FIRINGS = (Firing("a", (0,), bytes(16)), Firing("b", (0,), bytes(16)), Firing("a", (1,), bytes(16)))
BASE: dict[str, Any] = {
    "outcome": "completed",
    "firings": FIRINGS,
    "metrics": {"success": True},
    "undefined": {},
}


def test_the_order_in_which_firings_finished_does_not_matter():
    assert episode_digest(KEY, **BASE) == episode_digest(KEY, **{**BASE, "firings": FIRINGS[::-1]})


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "truncated"},
        {"metrics": {"success": False}},
        {"metrics": {"success": 1}},
        {"undefined": {"spl": "unreachable"}},
        {"firings": FIRINGS[:2]},
        {"firings": (*FIRINGS[:2], Firing("a", (2,), bytes(16)))},
        {"firings": (*FIRINGS[:2], Firing("c", (1,), bytes(16)))},
        {"firings": (*FIRINGS[:2], Firing("a", (1,), bytes(15) + b"\x01"))},
    ],
)
def test_every_part_of_a_result_changes_the_digest(change):
    assert episode_digest(KEY, **BASE) != episode_digest(KEY, **{**BASE, **change})


@pytest.mark.parametrize("field", ["environment", "list_hash", "split", "scene_id", "id"])
def test_every_part_of_the_key_changes_the_digest(field):
    changed: dict[str, Any] = {field: "x"}
    assert episode_digest(KEY, **BASE) != episode_digest(replace(KEY, **changed), **BASE)


def fault(**changes):
    fields: dict[str, Any] = {
        "kind": "author",
        "type": "ValueError",
        "message": "m",
        "node": "a",
        "turns": (3,),
    }
    return ErrorRecord(**{**fields, **changes})


def test_an_errors_text_and_what_had_fired_do_not_matter():
    first = episode_digest(KEY, outcome="error", firings=FIRINGS, error=fault())
    other = fault(message="n", traceback="t", log_tail="l", exit_status=-11)
    assert first == episode_digest(KEY, outcome="error", error=other)


@pytest.mark.parametrize("change", [{"node": "b"}, {"turns": (4,)}, {"type": "KeyError"}])
def test_an_errors_place_and_type_matter(change):
    first = episode_digest(KEY, outcome="error", error=fault())
    assert first != episode_digest(KEY, outcome="error", error=fault(**change))


def record(id_, digest):
    key = replace(KEY, id=id_)
    return EpisodeRecord(key=key, index=0, outcome="completed", worker=0, digest=digest)


def test_firings_prove_the_record_that_was_made_of_them_and_no_other():
    digest = episode_digest(KEY, **BASE).hex()
    made = replace(record(KEY.id, digest), metrics={"success": True})
    assert is_proven(made, unpack_columns(pack_firings(0, FIRINGS))[1])
    assert not is_proven(made, columns(FIRINGS[:2]))
    assert is_proven(replace(made, error=fault()), columns(()))


def test_a_runs_digest_depends_on_the_episodes_not_on_their_order():
    records = [record("1", "aa"), record("2", "bb")]
    assert run_digest(records) == run_digest(records[::-1])
    assert run_digest(records) != run_digest(records[:1])
    assert run_digest(records) != run_digest([record("1", "bb"), record("2", "aa")])
    moved = [replace(records[0], worker=3, seconds=9.0), records[1]]
    assert run_digest(records) == run_digest(moved)
