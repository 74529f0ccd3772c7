"""Whatever the order, every episode is taken once and no worker waits while one is left."""

import pytest

from wayfare.evals.schedule import Schedule
from wayfare.store.records import EpisodeKey, PlannedEpisode


def episodes(*scenes):
    return [
        PlannedEpisode(key=EpisodeKey("env", "hash", "val", scene, str(n)), index=n)
        for n, scene in enumerate(scenes)
    ]


def take_all(schedule, *workers):
    """Let the workers take turns until nothing is left; return what they took, by worker."""
    taken = {worker: [] for worker in workers}
    while schedule:
        for worker in workers[: len(schedule)]:
            taken[worker].append(schedule.take(worker).index)
    return taken


def test_where_nothing_is_known_the_order_is_that_of_the_list():
    assert take_all(Schedule(episodes(*[""] * 5)), 0, 1) == {0: [0, 2, 4], 1: [1, 3]}


def test_heaviest_come_first_and_equals_keep_their_order():
    schedule = Schedule(episodes(*[""] * 5), [1, 5, 1, 5, 9])
    assert take_all(schedule, 0) == {0: [4, 1, 3, 0, 2]}


@pytest.mark.parametrize("weights", [[3, 3, 3], [None, 5, 1], []])
def test_weights_that_tell_nothing_change_nothing(weights):
    assert take_all(Schedule(episodes("", "", ""), weights), 0) == {0: [0, 1, 2]}


def test_order_that_the_user_wrote_stays():
    schedule = Schedule(episodes("a", "b", "a"), [1, 2, 3], keeps_order=True)
    assert take_all(schedule, 0) == {0: [0, 1, 2]}


def test_worker_stays_in_its_scene():
    schedule = Schedule(episodes("a", "b", "a", "b", "a", "b"))
    assert take_all(schedule, 0, 1) == {0: [0, 2, 4], 1: [1, 3, 5]}


def test_worker_without_a_scene_helps_where_most_is_left_for_each():
    schedule = Schedule(episodes("a", "a", "a", "a", "b"))
    assert take_all(schedule, 0, 1) == {0: [0, 1, 3], 1: [4, 2]}


def test_scene_counts_among_equally_heavy_episodes_only():
    schedule = Schedule(episodes("a", "b", "a", "b"), [1, 1, 2, 2])
    assert take_all(schedule, 0) == {0: [2, 3, 1, 0]}


def test_every_episode_is_taken_once_by_many_workers():
    scenes = [f"s{n % 7}" for n in range(100)]
    schedule = Schedule(episodes(*scenes), [n % 3 for n in range(100)])
    taken = take_all(schedule, *range(8))
    assert sorted(index for own in taken.values() for index in own) == list(range(100))
    with pytest.raises(IndexError):
        schedule.take(0)
