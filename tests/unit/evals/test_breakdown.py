"""Episodes summed up apart, by what they have and by what their environment tells of them."""

import pytest

from wayfare.evals.breakdown import UnknownKeyError, break_down, break_down_run
from wayfare.store.errors import CorruptFileError
from wayfare.store.labels import find_labels, gather_labels, read_labels, write_labels
from wayfare.store.records import EpisodeKey, EpisodeRecord, PlannedEpisode, RunHeader

KEYS = [
    EpisodeKey("env", "0123", "val", scene, str(n)) for n, scene in enumerate(("b", "a", "b", "a"))
]
HEADER = RunHeader(
    created="2026-01-02T03:04:05Z",
    graph={},
    graph_hash="aa",
    graph_name="agent",
    seed=7,
    worker_count=2,
    split="val",
    episodes=tuple(PlannedEpisode(key=key, index=n) for n, key in enumerate(KEYS)),
    episodes_hash="bb",
    run_id="r1",
)
RECORDS = [
    EpisodeRecord(
        key=key,
        index=n,
        outcome="error" if n == 3 else "completed",
        worker=0,
        metrics={} if n == 3 else {"success": n > 0},
        digest="ab" * 16,
    )
    for n, key in enumerate(KEYS)
][::-1]
LABELS = {"goal": ["chair", None, "bed", "bed"], "floor": [10, 2, 2, 10]}


def parts(key):
    return break_down(HEADER, RECORDS, key, labels=LABELS).parts


def test_each_scene_has_its_own_counts_and_means():
    found = parts("scene")
    assert list(found) == ["a", "b"]
    assert (found["a"].episodes.completed, found["a"].episodes.error) == (1, 1)
    assert found["b"].metrics["success"].mean == 0.5
    assert found["a"].metrics["success"].errors_as_failures == 0.5


def test_labels_of_the_environment_are_keys_too_and_numbers_are_sorted_as_numbers():
    assert list(parts("floor")) == ["2", "10"]
    assert list(parts("goal")) == ["bed", "chair", ""]
    assert list(parts("outcome")) == ["completed", "error"]
    assert list(parts("repeat")) == ["0"]


def test_a_key_that_no_episode_has_is_refused_with_those_that_there_are():
    with pytest.raises(UnknownKeyError, match=r"--by 'gaol'.*'goal'"):
        parts("gaol")


def test_only_short_values_of_all_episodes_are_labels():
    infos = [
        {
            "goal": "bed",
            "floor": 1,
            "text": "x" * 81,
            "path": ["a"],
            "heading": 0.5,
            "nothing": None,
        },
        {"goal": "chair", "text": "short", "is_new": True},
    ]
    assert gather_labels(infos) == {
        "goal": ["bed", "chair"],
        "floor": [1, None],
        "is_new": [None, True],
    }


def test_labels_are_kept_beside_the_run(tmp_path):
    with pytest.raises(CorruptFileError, match=r"labels\.json is missing"):
        read_labels(tmp_path, 4)
    assert find_labels(tmp_path, 4)[0] == {}
    write_labels(tmp_path, LABELS)
    assert read_labels(tmp_path, 4) == LABELS
    with pytest.raises(CorruptFileError, match="one label per episode"):
        read_labels(tmp_path, 5)


def test_labels_are_missed_only_by_a_key_of_theirs(tmp_path):
    assert list(break_down_run(tmp_path, HEADER, RECORDS, key="scene").parts) == ["a", "b"]
    with pytest.raises(CorruptFileError, match=r"labels\.json is missing; every run has one"):
        break_down_run(tmp_path, HEADER, RECORDS, key="goal")
    write_labels(tmp_path, LABELS)
    assert list(break_down_run(tmp_path, HEADER, RECORDS, key="floor").parts) == ["2", "10"]
