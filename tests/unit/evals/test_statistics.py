"""Means and intervals against published numbers and against what must hold for any sample."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.evals.statistics import (
    Estimate,
    bootstrap_interval,
    effective_size,
    estimate,
    gather_clusters,
    wilson_interval,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def alone(values):
    return [str(number) for number, _ in enumerate(values)]


# Table I of R. G. Newcombe, "Two-sided confidence intervals for the single proportion",
# Statistics in Medicine 17 (1998) 857-872, method 3.
@pytest.mark.parametrize(
    ("successes", "size", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval_is_the_published_one(successes, size, low, high):
    found = wilson_interval(successes / size, size)
    assert found == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500), st.data())
def test_wilsons_ends_solve_its_equation(size, data):
    share = data.draw(st.integers(0, size)) / size
    for end in wilson_interval(share, size):
        if 0 < end < 1:
            distance = abs(share - end) / math.sqrt(end * (1 - end) / size)
            assert distance == pytest.approx(1.959963984540054, abs=1e-6)


def test_no_values_have_no_mean():
    assert estimate([], [], rng()) == Estimate(0, None, None, None)


def test_one_number_has_a_mean_but_no_interval():
    assert estimate([2.5], ["a"], rng()) == Estimate(1, 2.5, None, None)


def test_a_constant_has_an_interval_of_no_width():
    assert estimate([0.0] * 9, alone(range(9)), rng()) == Estimate(9, 0.0, 0.0, 0.0)


def test_single_booleans_get_wilsons_plain_interval():
    values = [True] * 8 + [False] * 2
    found = estimate(values, alone(values), rng())
    assert (found.mean, found.ci_low, found.ci_high) == (0.8, *wilson_interval(0.8, 10))


def test_values_that_only_repeat_their_cluster_count_as_one_each():
    outcomes = [bool(number % 3) for number in range(60)]
    once = gather_clusters(outcomes, alone(outcomes))
    thrice = gather_clusters(outcomes * 3, alone(outcomes) * 3)
    assert effective_size(once) == 60
    assert effective_size(thrice) == pytest.approx(59)  # G/(G-1) in the cluster variance


def test_where_all_succeed_each_cluster_counts_once():
    found = estimate([True] * 30, [str(number // 3) for number in range(30)], rng())
    assert (found.ci_low, found.ci_high) == wilson_interval(1.0, 10)
    assert found.ci_high == 1.0


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=40))
def test_clusters_never_narrow_a_share_s_interval(sample):
    values = [value for value, _ in sample]
    share = sum(values) / len(values)
    size = effective_size(gather_clusters(values, [str(label) for _, label in sample]))
    clustered, single = wilson_interval(share, size), wilson_interval(share, len(values))
    assert clustered[0] <= single[0] + 1e-12
    assert clustered[1] >= single[1] - 1e-12


def test_the_bootstrap_interval_agrees_with_the_normal_one_for_many_values():
    values = rng(1).normal(3.0, 2.0, size=400)
    found = estimate(values.tolist(), alone(values), rng())
    half = 1.96 * values.std() / 20
    assert found.ci_low == pytest.approx(values.mean() - half, abs=0.03)
    assert found.ci_high == pytest.approx(values.mean() + half, abs=0.03)


def test_the_bootstrap_draws_clusters_not_values():
    values = np.repeat(rng(1).normal(size=50), 4).tolist()
    labels = [str(number // 4) for number in range(200)]
    clustered = bootstrap_interval(gather_clusters(values, labels), rng())
    single = bootstrap_interval(gather_clusters(values, alone(values)), rng())
    assert np.ptp(clustered) == pytest.approx(2 * np.ptp(single), rel=0.15)


def test_the_same_generator_gives_the_same_interval_and_another_gives_another():
    values = rng(1).normal(size=30).tolist()
    clusters = gather_clusters(values, alone(values))
    assert bootstrap_interval(clusters, rng(5)) == bootstrap_interval(clusters, rng(5))
    assert bootstrap_interval(clusters, rng(5)) != bootstrap_interval(clusters, rng(6))


def test_a_mean_does_not_depend_on_the_order_of_the_values():
    values = [1e16, 1.0, -1e16, 0.1, 0.2, 0.3]
    shuffled = random.Random(3).sample(values, len(values))
    assert estimate(values, alone(values), rng()).mean == pytest.approx(1.6 / 6)
    assert (
        estimate(values, alone(values), rng()).mean == estimate(shuffled, alone(values), rng()).mean
    )
