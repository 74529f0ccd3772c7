"""Estimate how far a metric differs between two runs of the same episodes.

Knows nothing of runs or records: values come in pairs, randomness as a generator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wayfare.evals.statistics import Z_95, Clusters, Labels, bootstrap_interval, gather_clusters

Z_80 = 0.8416212335729143
"""The 80 % quantile of the standard normal distribution."""

MIN_PAIRS = 6
"""Of fewer pairs an exact test at 5 % shows nothing: 2 * 0.5**5 is more than 0.05."""

_HALVINGS = 100

Method = Literal["mcnemar", "cluster sign flips", "bootstrap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """What `n` pairs of values say: means, and b minus a with its 95 % interval.

    `p_value` is that of "no difference", for booleans only, as are `only_a` and `only_b`: the
    pairs in which one value alone is true. `detectable` is the smallest true difference that so
    many such pairs would have shown (5 %, two-sided) with a power of 80 %. None: not to be said.
    """

    n: int
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    detectable: float | None = None
    method: Method | None = None
    p_value: float | None = None
    only_a: int | None = None
    only_b: int | None = None


def compare_values(
    a: Sequence[bool | int | float],
    b: Sequence[bool | int | float],
    labels: Labels,
    *,
    rng: np.random.Generator,
) -> PairedDifference:
    """Return the paired difference; pairs with the same label are one cluster.

    Booleans alone get McNemar's exact test and Tango's interval, other numbers a bootstrap.
    """
    if not a:
        return PairedDifference(n=0)
    if all(isinstance(value, bool) for value in (*a, *b)):
        return _compare_booleans(a, b, labels)
    return _compare_numbers(a, b, labels, rng=rng)


def _compare_booleans(
    a: Sequence[bool | int | float], b: Sequence[bool | int | float], labels: Labels
) -> PairedDifference:
    differences = [int(second) - int(first) for first, second in zip(a, b, strict=True)]
    clusters = gather_clusters(differences, labels)
    only_a, only_b, n = differences.count(-1), differences.count(1), len(a)
    worth = effective_pairs(clusters, discordant=only_a + only_b)
    scale = worth / n
    low, high = tango_interval(only_a * scale, only_b * scale, worth)
    is_plain = clusters.are_single
    return PairedDifference(
        n=n,
        mean_a=math.fsum(a) / n,
        mean_b=math.fsum(b) / n,
        difference=(only_b - only_a) / n,
        ci_low=low,
        ci_high=high,
        detectable=detectable_share((only_a + only_b) / n, worth),
        method="mcnemar" if is_plain else "cluster sign flips",
        p_value=mcnemar_p(only_a, only_b) if is_plain else sign_flip_p(clusters),
        only_a=only_a,
        only_b=only_b,
    )


def _compare_numbers(
    a: Sequence[bool | int | float],
    b: Sequence[bool | int | float],
    labels: Labels,
    *,
    rng: np.random.Generator,
) -> PairedDifference:
    n = len(a)
    differences = [float(second) - float(first) for first, second in zip(a, b, strict=True)]
    clusters = gather_clusters(differences, labels)
    is_one = clusters.count == 1
    low, high = (None, None) if is_one else bootstrap_interval(clusters, rng)
    return PairedDifference(
        n=n,
        mean_a=math.fsum(a) / n,
        mean_b=math.fsum(b) / n,
        difference=math.fsum(differences) / n,
        ci_low=low,
        ci_high=high,
        detectable=None if is_one else detectable_mean(clusters),
        method="bootstrap",
    )


def mcnemar_p(only_a: int, only_b: int) -> float:
    """Return the two-sided p of McNemar's exact test: of the discordant pairs half go each way.

    min(1, 2 P(X <= min(only_a, only_b))), X binomial with p = 1/2. Q. McNemar, "Note on the
    sampling error of the difference between correlated proportions or percentages", Psychometrika
    12 (1947) 153-157; A. Agresti, "Categorical Data Analysis" (2013), section 11.1.2.
    """
    discordant = only_a + only_b
    ways = total = 1
    for taken in range(min(only_a, only_b)):
        ways = ways * (discordant - taken) // (taken + 1)
        total += ways
    return min(1.0, 2 * total / (1 << discordant))


def sign_flip_p(clusters: Clusters) -> float:
    """Return the exact two-sided p of whole-number differences when a whole cluster may flip.

    The share of all signs of the clusters' sums with which the total is as far from 0 as the one
    seen. For clusters of one pair each this is McNemar's exact test. M. H. Gail et al., "On design
    considerations and randomization-based inference for community intervention trials",
    Statistics in Medicine 15 (1996) 1069-1092.
    """
    sizes = [abs(int(total)) for total in clusters.sums if total]
    reach = sum(sizes)
    chances = np.zeros(2 * reach + 1)
    chances[reach] = 1.0
    for size in sizes:
        flipped = np.zeros_like(chances)
        flipped[size:] += chances[:-size] / 2
        flipped[:-size] += chances[size:] / 2
        chances = flipped
    seen = abs(int(np.sum(clusters.sums)))
    totals = np.abs(np.arange(-reach, reach + 1))
    return min(1.0, float(np.sum(chances[totals >= seen])))


def tango_interval(
    only_a: float, only_b: float, n: float, *, z: float = Z_95
) -> tuple[float, float]:
    """Return Tango's score interval of the share that is true in b minus that in a.

    The differences that the score test does not reject; at 0 it is McNemar's test. T. Tango,
    "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 17 (1998) 891-908, equations (24) to (26).
    """

    def score(delta: float) -> float:
        linear = (2 * n - only_b + only_a) * delta - only_a - only_b
        root = math.sqrt(max(0.0, linear**2 + 8 * n * only_a * delta * (1 - delta)))
        share_a = (root - linear) / (4 * n)  # the likeliest share of "a alone", given delta
        variance = n * (2 * share_a + delta * (1 - delta))
        distance = only_b - only_a - n * delta
        spread = math.sqrt(max(0.0, variance))
        return distance / spread if spread else math.copysign(math.inf, distance)

    centre = (only_b - only_a) / n
    low = -1.0 if centre == -1 else _bisect(lambda delta: score(delta) > z, -1.0, centre)
    high = 1.0 if centre == 1 else _bisect(lambda delta: score(delta) >= -z, centre, 1.0)
    return low, high


def effective_pairs(clusters: Clusters, *, discordant: int) -> float:
    """Return how many independent pairs a difference of shares is worth, at most n.

    n divided by the design effect, as `statistics.effective_size` does for one share: the variance
    of the mean difference over clusters, G/(G-1) sum_g (s_g - d m_g)^2 / n^2, over that of
    independent pairs, (discordant/n - d^2) / n. Where all pairs differ alike, or none does, each
    cluster counts as one. L. Kish, "Survey Sampling" (1965), section 8.2.
    """
    n = float(np.sum(clusters.sizes))
    if clusters.are_single:
        return n
    single = (discordant / n - (float(np.sum(clusters.sums)) / n) ** 2) / n
    if clusters.count == 1 or single <= 0:
        return float(clusters.count)
    return n / max(1.0, standard_error(clusters) ** 2 / single)


def standard_error(clusters: Clusters) -> float:
    """Return the linearised standard error of the mean over two or more clusters."""
    n = float(np.sum(clusters.sizes))
    residuals = clusters.sums - float(np.sum(clusters.sums)) / n * clusters.sizes
    correction = clusters.count / (clusters.count - 1)
    return math.sqrt(correction * math.fsum((residuals**2).tolist())) / n


def detectable_share(discordance: float, pairs: float) -> float | None:
    """Return the smallest difference of two shares that `pairs` show with a power of 80 %.

    The d for which (z_0.975 sqrt(w) + z_0.8 sqrt(w - d^2))^2 / d^2 pairs are needed, where w is the
    share of discordant pairs, taken as d where fewer were seen. R. J. Connor, "Sample size for
    testing differences in proportions for the paired-sample design", Biometrics 43 (1987) 207-211.
    """

    def is_shown(difference: float) -> bool:
        spread = max(discordance, difference)
        needed = Z_95 * math.sqrt(spread) + Z_80 * math.sqrt(spread - difference**2)
        return pairs * difference**2 >= needed**2

    return _bisect(lambda d: not is_shown(d), 0.0, 1.0) if pairs >= MIN_PAIRS else None


def detectable_mean(clusters: Clusters) -> float | None:
    """Return the smallest mean difference that such clusters show with a power of 80 %.

    (z_0.975 + z_0.8) standard errors, 2.8 of them. None where no cluster differs from another.
    H. S. Bloom, "Minimum detectable effects", Evaluation Review 19 (1995) 547-556.
    """
    return (Z_95 + Z_80) * standard_error(clusters) or None


def _bisect(is_before: Callable[[float], bool], low: float, high: float) -> float:
    """Return where `is_before` turns from true to false, to the last bit or nearly so."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_before(middle) else (low, middle)
    return high
