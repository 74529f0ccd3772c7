"""What each metric is on a line of places one unit apart, at its threshold, and where undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nodeset.metrics import (
    AnyOf,
    collision_rate,
    count_collisions,
    episode_length,
    episode_return,
    episode_success,
    goal_progress,
    is_undefined,
    navigation_error,
    oracle_navigation_error,
    oracle_success,
    oracle_success_weighted_path_length,
    score_eqa_navigation,
    score_goal,
    score_navigation,
    score_successes,
    soft_success_weighted_path_length,
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


def test_an_oracle_stops_the_agent_at_the_first_place_that_is_near_enough() -> None:
    assert oracle_success_weighted_path_length([0, 8, 10, 0], 10, on_line) == 1.0
    assert oracle_success_weighted_path_length([0, -5, 10], 10, on_line) == 0.5
    assert oracle_success_weighted_path_length([0, 5, 0], 10, on_line) == 0.0
    assert is_undefined(oracle_success_weighted_path_length([3, 4, 3], 3, on_line))
    assert is_undefined(oracle_success_weighted_path_length([0, 1], ISLAND, on_line))


def test_soft_spl_falls_with_the_distance_that_is_left() -> None:
    assert soft_success_weighted_path_length([0, 5], 10, on_line) == 0.5
    assert soft_success_weighted_path_length([0, -5, 5], 10, on_line) == 0.5 * 10 / 15
    assert soft_success_weighted_path_length([0, -5], 10, on_line) == 0.0
    assert is_undefined(soft_success_weighted_path_length([3, 4, 3], 3, on_line))
    assert is_undefined(soft_success_weighted_path_length([0, 1], ISLAND, on_line))


def test_progress_is_what_was_gained_and_the_nearest_approach_what_might_have_been() -> None:
    assert goal_progress([0, 8, 4], 10, on_line) == 4.0
    assert goal_progress([0, -2], 10, on_line) == -2.0
    assert oracle_navigation_error([0, 8, 4], 10, on_line) == 2.0
    assert score_eqa_navigation([0, 8, 4], 10, on_line) == {
        "d_T": 6.0,
        "d_delta": 4.0,
        "d_min": 2.0,
    }
    assert all(map(is_undefined, score_eqa_navigation([0, 1], ISLAND, on_line).values()))


def test_only_who_stops_near_the_goal_has_found_it() -> None:
    found = score_goal([0, 10], 10, on_line, threshold_m=0.2)
    assert found == {"distance_to_goal": 0.0, "success": True, "spl": 1.0, "soft_spl": 1.0}
    never = score_goal([0, 10], 10, on_line, threshold_m=0.2, stopped=False)
    assert never == {"distance_to_goal": 0.0, "success": False, "spl": 0.0, "soft_spl": 1.0}


def test_the_way_walked_may_be_measured_otherwise_than_the_way_to_the_goal() -> None:
    def straight(here: float, there: float) -> float:
        return abs(here - there) / 2

    assert score_goal([0, -5, 10], 10, on_line, threshold_m=1, step_distance=straight)["spl"] == 1.0


def test_of_several_goals_the_nearest_counts() -> None:
    assert navigation_error([0, 4], AnyOf((9, 6, ISLAND)), on_line) == 2.0
    assert success_weighted_path_length([0, -6], AnyOf((9, -8)), on_line) == 1.0
    with pytest.raises(ValueError, match="has no places"):
        AnyOf(())


def test_success_may_come_go_and_be_there_before_the_first_step() -> None:
    assert score_successes([True, False, True, False], truncated=True) == {
        "success_at_reset": True,
        "success_once": True,
        "success_at_end": False,
        "truncated": True,
    }
    assert is_undefined(score_successes([False], truncated=False)["success_once"])
    with pytest.raises(ValueError, match="the state after the reset"):
        score_successes([], truncated=False)


def test_collisions_are_counted_per_step() -> None:
    assert count_collisions([True, False, True, False]) == 2
    assert collision_rate([True, False, True, False]) == 0.5
    assert is_undefined(collision_rate([]))
