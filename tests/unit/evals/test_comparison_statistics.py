"""Paired differences against hand-computed cases, published numbers and a second implementation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.evals.comparison_statistics import (
    PairedDifference,
    compare_values,
    detectable_mean,
    detectable_share,
    effective_pairs,
    mcnemar_p,
    sign_flip_p,
    standard_error,
    tango_interval,
)
from wayfare.evals.statistics import Z_95, gather_clusters

Z_90 = 1.6448536269514722


def compare(a, b, labels=None, seed=0):
    labels = range(len(a)) if labels is None else labels
    return compare_values(a, b, list(labels), rng=np.random.default_rng(seed))


# By hand: two-sided, 2 (1 + 7) / 2^7; 2 / 2^6; 2 (1 + 10 + 45) / 2^10; half each way is 1.
@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [(1, 6, 16 / 128), (6, 0, 2 / 64), (2, 8, 112 / 1024), (3, 3, 1.0), (0, 0, 1.0), (0, 1, 1.0)],
)
def test_mcnemars_p_is_the_one_computed_by_hand(only_a, only_b, p):
    assert mcnemar_p(only_a, only_b) == p
    assert mcnemar_p(only_b, only_a) == p


def test_mcnemars_p_is_exact_where_powers_of_two_leave_the_range_of_floats():
    assert mcnemar_p(0, 1000) == 2.0**-999
    assert mcnemar_p(2000, 2100) == pytest.approx(0.1222, abs=5e-4)  # normal: z = 99 / 64.03


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=40))
def test_flipping_the_signs_of_single_pairs_is_mcnemars_test(differences):
    clusters = gather_clusters(differences, list(range(len(differences))))
    expected = mcnemar_p(differences.count(-1), differences.count(1))
    assert sign_flip_p(clusters) == pytest.approx(expected, rel=1e-12)


def test_a_cluster_flips_as_a_whole():
    # Sums 3, 2, 1: of the eight signs only + + + and - - - reach 6.
    clusters = gather_clusters([1, 1, 1, 1, 1, 1], ["a", "a", "a", "b", "b", "c"])
    assert sign_flip_p(clusters) == 2 / 8
    # Sums 3, -1: 4, 2, -2, -4 are equally likely, and all are as far off as the 2 that was seen.
    assert sign_flip_p(gather_clusters([1, 1, 1, -1], ["a", "a", "a", "b"])) == 1.0


def test_tangos_limit_is_the_one_of_his_worked_example():
    # Section 6.1, Table V of the paper: 44 pairs, one of them discordant; lower 90 % limit -0.096.
    assert tango_interval(1, 0, 44, z=Z_90)[0] == pytest.approx(-0.096, abs=5e-4)


def test_without_a_discordant_pair_tangos_interval_has_a_closed_form():
    end = Z_95**2 / (50 + Z_95**2)
    assert tango_interval(0, 0, 50) == pytest.approx((-end, end), abs=1e-12)


@settings(max_examples=60)
@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 60))
def test_tangos_ends_mirror_each_other_and_hold_what_was_seen(only_a, only_b, concordant):
    n = only_a + only_b + concordant
    low, high = tango_interval(only_a, only_b, n)
    assert -1 <= low <= (only_b - only_a) / n <= high <= 1
    assert tango_interval(only_b, only_a, n) == pytest.approx((-high, -low), abs=1e-9)


def test_tangos_interval_leaves_out_zero_when_the_score_test_does():
    # The score test at 0 is McNemar's: (b - c)^2 / (b + c) against 3.84.
    assert tango_interval(2, 9, 100)[0] > 0  # 49 / 11
    assert tango_interval(3, 9, 100)[0] < 0  # 36 / 12


def test_all_pairs_turned_around_reach_the_end_of_the_scale():
    low, high = tango_interval(0, 8, 8)
    assert (high, tango_interval(8, 0, 8)[0]) == (1.0, -1.0)
    assert 0 < low < 1


def test_booleans_are_counted_by_hand():
    a = [True, True, False, False, True, False]
    b = [True, False, True, True, True, False]
    found = compare(a, b)
    assert (found.n, found.mean_a, found.mean_b) == (6, 0.5, pytest.approx(4 / 6))
    assert (found.only_a, found.only_b, found.p_value) == (1, 2, 1.0)
    assert found.difference == pytest.approx(1 / 6)
    assert (found.ci_low, found.ci_high) == tango_interval(1, 2, 6)
    assert found.method == "mcnemar"


def test_pairs_that_only_repeat_their_cluster_count_once():
    a, b = [False] * 20, [True] * 8 + [False] * 12
    labels = [number // 2 for number in range(40)]
    doubled = compare([v for v in a for _ in "ab"], [v for v in b for _ in "ab"], labels)
    once = compare(a, b)
    assert doubled.method == "cluster sign flips"
    assert (doubled.p_value, once.p_value) == (pytest.approx(2 / 2**8), 2 / 2**8)
    assert doubled.difference == once.difference
    # Not quite equal: the variance over G clusters has the correction G / (G - 1).
    assert doubled.ci_low == pytest.approx(once.ci_low, abs=0.01)


def test_effective_pairs_are_at_most_all_and_at_least_the_clusters_where_all_are_alike():
    assert effective_pairs(gather_clusters([0, 1, -1], [0, 1, 2]), discordant=2) == 3
    assert effective_pairs(gather_clusters([0] * 6, [0, 0, 0, 1, 1, 1]), discordant=0) == 2
    assert effective_pairs(gather_clusters([1] * 6, [0, 0, 0, 1, 1, 1]), discordant=6) == 2


def test_numbers_have_the_exact_mean_difference_and_an_interval_around_it():
    values = np.random.default_rng(1).normal(size=300)
    shift = np.random.default_rng(2).normal(0.2, 0.5, size=300)
    found = compare(values.tolist(), (values + shift).tolist())
    half = 1.96 * shift.std() / math.sqrt(300)
    assert found.difference == pytest.approx(shift.mean())
    assert found.ci_low == pytest.approx(shift.mean() - half, abs=0.01)
    assert found.ci_high == pytest.approx(shift.mean() + half, abs=0.01)
    assert (found.method, found.p_value) == ("bootstrap", None)


def test_the_interval_of_numbers_comes_from_the_seed():
    a, b = [0.0] * 30, np.random.default_rng(1).normal(size=30).tolist()
    assert compare(a, b, seed=3) == compare(a, b, seed=3)
    assert compare(a, b, seed=3) != compare(a, b, seed=4)


def test_a_boolean_against_a_number_counts_as_a_number():
    assert compare([True, False], [0.5, 0.5]).method == "bootstrap"


def test_nothing_to_compare_says_nothing():
    assert compare([], []) == PairedDifference(n=0)
    one = compare([1.0], [3.0])
    assert (one.n, one.difference, one.ci_low, one.detectable) == (1, 2.0, None, None)


def test_the_standard_error_over_clusters_is_the_one_computed_by_hand():
    # Differences 1, 3, 5: mean 3, residuals -2, 0, 2; sqrt(3/2 * 8) / 3.
    clusters = gather_clusters([1.0, 3.0, 5.0], [0, 1, 2])
    assert standard_error(clusters) == pytest.approx(math.sqrt(12) / 3)
    assert detectable_mean(clusters) == pytest.approx(2.8015852 * math.sqrt(12) / 3)


def test_where_no_pair_differs_nothing_can_be_said_of_what_would_have_shown():
    assert detectable_mean(gather_clusters([0.0, 0.0], [0, 1])) is None


def test_the_detectable_share_solves_connors_formula():
    # 20 % discordant, d = 0.1: (1.96 sqrt(0.2) + 0.8416 sqrt(0.19))^2 / 0.01 = 154.6 pairs.
    assert detectable_share(0.2, 154.6) == pytest.approx(0.1, abs=1e-4)


def test_more_pairs_show_smaller_differences_and_five_show_none():
    found = [detectable_share(0.1, pairs) or 0.0 for pairs in (6, 50, 500, 5000)]
    assert found == sorted(found, reverse=True)
    assert detectable_share(0.1, 5) is None


def test_the_power_at_the_detectable_difference_is_near_80_percent():
    pairs, spread = 400, 0.2
    shift = detectable_share(spread, pairs)
    assert shift is not None
    chances = [(spread - shift) / 2, (spread + shift) / 2, 1 - spread]
    drawn = np.random.default_rng(5).multinomial(pairs, chances, size=2000)
    z = (drawn[:, 1] - drawn[:, 0]) / np.sqrt(np.maximum(1, drawn[:, 0] + drawn[:, 1]))
    assert (np.abs(z) > Z_95).mean() == pytest.approx(0.8, abs=0.03)
