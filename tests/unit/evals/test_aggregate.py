"""Metrics over episodes that share a group, a scene or an episode."""

import math

import pytest

from wayfare.evals.tally import Tally
from wayfare.store.records import EpisodeKey, EpisodeRecord


def record(id_, metrics=None, *, scene="", group="", repeat=0, outcome="completed", undefined=None):
    return EpisodeRecord(
        key=EpisodeKey("env", "0123", "val", scene, id_, repeat),
        index=0,
        outcome=outcome,
        worker=0,
        group=group,
        metrics=metrics or {},
        undefined=undefined or {},
        digest="ab" * 16,
    )


def metrics(records, seed=1):
    return Tally.of(records).metrics(seed)


def house():
    """Three rooms; the small one is where the agent fails."""
    rooms = {"attic": (8, 0.9), "cellar": (8, 0.7), "closet": (2, 0.0)}
    return [
        record(f"{room}{n}", {"spl": value, "success": value > 0}, scene=room)
        for room, (size, value) in rooms.items()
        for n in range(size)
    ]


def test_the_macro_mean_weighs_scenes_alike():
    spl = metrics(house())["spl"]
    assert spl.mean == pytest.approx((8 * 0.9 + 8 * 0.7) / 18)
    assert spl.clusters["scene"].count == 3
    assert spl.clusters["scene"].macro_mean == pytest.approx(1.6 / 3)
    assert "group" not in spl.clusters


def test_few_scenes_tell_less_than_many_episodes():
    spl, success = (metrics(house())[name] for name in ("spl", "success"))
    scenes = spl.clusters["scene"]
    assert scenes.ci_high - scenes.ci_low > spl.ci_high - spl.ci_low
    assert scenes.macro_ci_low == pytest.approx(0.0)
    assert scenes.macro_ci_high == pytest.approx(0.9)
    assert (success.interval, spl.interval) == ("wilson", "bootstrap")
    assert success.clusters["scene"].ci_low < success.ci_low


def test_three_instructions_of_one_path_are_one_sample():
    paths = [record(f"{n}_{i}", {"s": n < 4}, group=str(n)) for n in range(10) for i in range(3)]
    success = metrics(paths)["s"]
    assert (success.n, success.clusters["group"].count) == (30, 10)
    alone = metrics([record(str(n), {"s": n < 12}) for n in range(30)])["s"]
    assert success.ci_high - success.ci_low > 1.5 * (alone.ci_high - alone.ci_low)


def test_episodes_of_one_id_in_two_scenes_are_two():
    found = metrics(
        [record("1", {"m": 1.0}, scene=scene, repeat=r) for scene in "ab" for r in (0, 1)]
    )
    assert found["m"].repeats.episodes == 2


def test_errors_count_as_failures_beside_the_mean_and_only_for_booleans():
    episodes = [record(str(n), {"success": n < 40, "spl": 0.5}) for n in range(98)]
    episodes += [record(f"e{n}", outcome="error") for n in range(2)]
    found = metrics(episodes)
    assert found["success"].mean == pytest.approx(40 / 98)
    assert found["success"].errors_as_failures == pytest.approx(0.40)
    assert found["spl"].errors_as_failures is None
    assert metrics(episodes[:98])["success"].errors_as_failures is None


def test_what_is_undefined_is_neither_0_nor_nan_and_spoils_nothing():
    episodes = [record(str(n), {"spl": 0.5}) for n in range(9)]
    episodes.append(record("9", undefined={"spl": "not a number"}))
    spl = metrics(episodes)["spl"]
    assert (spl.n, spl.mean, spl.undefined) == (9, 0.5, {"not a number": 1})
    nowhere = metrics([record("0", undefined={"spl": "unreachable"}, scene="attic")])["spl"]
    assert (nowhere.mean, nowhere.clusters, nowhere.repeats) == (None, {}, None)


def test_repeats_say_how_much_of_the_variance_is_chance():
    episodes = [
        record(str(n), {"m": n + (-1) ** (n + r)}, repeat=r) for n in range(20) for r in range(2)
    ]
    found = metrics(episodes)["m"].repeats
    assert (found.episodes, found.repeats) == (20, 2)
    assert found.variance_within == pytest.approx(2.0)
    assert found.means == pytest.approx((9.5, 9.5))
    assert math.isclose(found.standard_error_rerun, math.sqrt(2.0 / 40))


def test_nothing_depends_on_the_order_in_which_episodes_ended():
    episodes = [
        record(str(n), {"m": n / 7}, scene=f"s{n % 3}", group=f"g{n % 13}", repeat=r)
        for n in range(15)
        for r in range(2)
    ]
    assert metrics(episodes) == metrics(episodes[::-1])
    assert metrics(episodes, seed=2)["m"].ci_low != metrics(episodes)["m"].ci_low
