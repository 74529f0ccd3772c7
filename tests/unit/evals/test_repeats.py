"""Variance between episodes and within one, against a textbook and against what was drawn."""

import math

import numpy as np
import pytest

from wayfare.evals.repeats import summarise_repeats


def summarise(rows):
    """Each row holds one episode's repeats."""
    values = [value for row in rows for value in row]
    episodes = [number for number, row in enumerate(rows) for _ in row]
    repeats = [number for row in rows for number, _ in enumerate(row)]
    return summarise_repeats(np.array(values, float), np.array(episodes), np.array(repeats))


def test_one_rater_scores_six_targets_as_in_shrout_and_fleiss():
    # P. E. Shrout, J. L. Fleiss (1979), table 2: four ratings of six targets; ICC(1,1) is .17.
    found = summarise(
        [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]
    )
    assert found.icc == pytest.approx(0.17, abs=0.005)
    assert found.variance_within == pytest.approx(6.26, abs=0.005)
    assert found.variance_between == pytest.approx((11.24 - 6.26) / 4, abs=0.005)
    assert found.means == pytest.approx((46 / 6, 15 / 6, 26 / 6, 40 / 6))


def test_the_components_are_those_that_were_drawn():
    rng = np.random.default_rng(0)
    episodes = rng.normal(0.0, 2.0, size=(3000, 1))
    found = summarise((episodes + rng.normal(0.0, 1.0, size=(3000, 4))).tolist())
    assert found.variance_between == pytest.approx(4.0, rel=0.06)
    assert found.variance_within == pytest.approx(1.0, rel=0.03)
    assert found.icc == pytest.approx(0.8, abs=0.02)
    assert found.standard_error == pytest.approx(math.sqrt(4.25 / 3000), rel=0.05)
    assert found.standard_error_rerun == pytest.approx(math.sqrt(1 / 12000), rel=0.03)


def test_the_standard_error_of_equal_numbers_of_repeats_is_that_of_the_episodes_means():
    rows = [(1.0, 2.0), (4.0, 6.0), (9.0, 7.0), (0.0, 1.0)]
    means = np.array(rows).mean(axis=1)
    found = summarise(rows)
    assert found.standard_error == pytest.approx(means.std(ddof=1) / 2)
    assert (found.episodes, found.repeats) == (4, 2)


def test_an_agent_without_chance_varies_between_episodes_alone():
    found = summarise([(0.0, 0.0), (1.0, 1.0), (1.0, 1.0)])
    assert found.variance_within == 0.0
    assert (found.icc, found.standard_error_rerun) == (1.0, 0.0)
    assert summarise([(1.0, 1.0), (1.0, 1.0)]).icc is None


def test_numbers_of_repeats_may_differ():
    found = summarise([(1.0, 3.0, 2.0), (5.0,), (4.0, 4.0)])
    assert found.repeats == 3
    assert found.means == pytest.approx((10 / 3, 3.5, 2.0))
    assert found.variance_within == pytest.approx(2 / 3)


@pytest.mark.parametrize("rows", [[], [(1.0, 2.0)], [(1.0,), (2.0,)]])
def test_without_repeats_or_with_one_episode_there_is_nothing_to_say(rows):
    assert summarise(rows) is None
