"""What each metric is on a line of places one unit apart, at its threshold, and where undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nodeset.metrics import (
    episode_length,
    episode_return,
    episode_success,
    is_undefined,
    navigation_error,
    oracle_success,
    score_navigation,
    success,
    success_weighted_path_length,
    trajectory_length,
    undefined,
)

ISLAND = 99


def on_line(here: float, there: float) -> float:
    return math.inf if ISLAND in (here, there) and here != there else abs(here - there)


def test_a_shortest_path_to_the_goal_scores_full_marks() -> None:
    scores = score_navigation([0, 4, 10], 10, on_line)
    assert scores == {"NE": 0.0, "TL": 10.0, "SR": True, "OSR": True, "SPL": 1.0}


def test_a_detour_lowers_spl_by_the_ratio_of_the_lengths() -> None:
    scores = score_navigation([0, -5, 10], 10, on_line)
    assert (scores["TL"], scores["SPL"]) == (20.0, 0.5)


def test_an_error_of_exactly_the_threshold_fails() -> None:
    assert not success([0, 7], 10, on_line)
    assert success([0, 7.001], 10, on_line)
    assert success([0, 7], 10, on_line, threshold_m=3.5)


def test_a_failed_episode_has_spl_zero() -> None:
    assert success_weighted_path_length([0, 1], 10, on_line) == 0.0


def test_oracle_success_sees_every_place_and_the_start() -> None:
    assert oracle_success([0, 9, 0], 10, on_line)
    assert oracle_success([9, 0], 10, on_line)
    assert not oracle_success([0, 1, 0], 10, on_line)


def test_turning_on_the_spot_adds_no_length() -> None:
    assert trajectory_length([0, 0, 2, 2], on_line) == 2.0


def test_spl_is_undefined_for_who_stops_at_a_goal_it_started_from() -> None:
    assert is_undefined(success_weighted_path_length([3], 3, on_line))
    assert is_undefined(success_weighted_path_length([3, 3], 3, on_line))


def test_spl_is_zero_for_who_leaves_the_goal_and_returns() -> None:
    assert success_weighted_path_length([3, 4, 3], 3, on_line) == 0.0


def test_a_goal_that_no_way_leads_to_is_undefined_rather_than_infinite() -> None:
    scores = score_navigation([0, 1], ISLAND, on_line)
    assert is_undefined(scores["NE"])
    assert is_undefined(scores["SPL"])
    assert (scores["SR"], scores["OSR"], scores["TL"]) == (False, False, 1.0)


def test_a_trajectory_that_jumps_has_no_length() -> None:
    assert is_undefined(trajectory_length([0, ISLAND], on_line))
    assert is_undefined(success_weighted_path_length([0, ISLAND, 1], 1, on_line))


def test_distances_may_come_as_a_matrix() -> None:
    matrix = np.array([[0.0, 2.0], [2.0, 0.0]])
    assert score_navigation([0, 1], 1, matrix) == score_navigation([0, 2], 2, on_line)
    assert type(navigation_error([0], 1, matrix)) is float


@pytest.mark.parametrize("distance", [math.nan, -1.0])
def test_a_distance_that_is_none_is_refused(distance: float) -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        navigation_error([0], 1, lambda here, there: distance)


def test_an_empty_trajectory_is_refused() -> None:
    with pytest.raises(ValueError, match="at least the start"):
        oracle_success([], 1, on_line)


def test_return_and_length_count_every_reward() -> None:
    assert episode_return([1.0, -0.5, 2.0]) == 2.5
    assert episode_return([1.0, 1.0, 1.0], discount=0.5) == 1.75
    assert (episode_return([]), episode_length([]), episode_length([0.0, 1.0])) == (0.0, 0, 2)


def test_success_is_undefined_where_the_environment_reports_none() -> None:
    assert episode_success("reported", terminated=True) == undefined(
        "the environment reports no success"
    )
    assert episode_success("reported", reported=False) is False


def test_a_time_limit_can_be_the_best_outcome_or_a_failure() -> None:
    assert episode_success("truncated", truncated=True) is True
    assert episode_success("positive_return", truncated=True, total=1.0) is False
    assert episode_success("positive_return", terminated=True, total=0.9) is True
    assert episode_success("terminated", terminated=True) is True
    with pytest.raises(ValueError, match="must be one of"):
        episode_success("always")
