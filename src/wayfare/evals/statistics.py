"""Estimate a metric's mean and its 95 % confidence interval from a sample of episodes.

Knows nothing of runs or records; randomness comes in as a generator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""

RESAMPLES = 2000
_INDEXES_AT_ONCE = 500_000

Labels = Sequence[str] | Sequence[int]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` values and the ends of its interval; None where there is nothing to say."""

    n: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, slots=True)
class Clusters:
    """A sample by cluster: the sum of each cluster's values and how many there are."""

    sums: Floats
    sizes: Floats

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return len(self.sums)

    @property
    def are_single(self) -> bool:
        """Whether every cluster has one value, so that the values count as independent."""
        return bool(np.all(self.sizes == 1))


def estimate(
    values: Sequence[bool | int | float],
    labels: Labels,
    rng: np.random.Generator,
) -> Estimate:
    """Return the mean of `values` and its interval.

    Values with the same label are one cluster: they are not independent samples. Booleans alone
    get Wilson's interval, other numbers a bootstrap interval. Each value weighs the same in the
    mean, which is the exact sum divided by n and so does not depend on the values' order.
    """
    if not values:
        return Estimate(0, None, None, None)
    n = len(values)
    mean = math.fsum(values) / n
    clusters = gather_clusters(values, labels)
    if all(isinstance(value, bool) for value in values):
        low, high = wilson_interval(mean, effective_size(clusters))
        return Estimate(n, mean, low, high)
    if clusters.count == 1:
        return Estimate(n, mean, None, None)
    low, high = bootstrap_interval(clusters, rng)
    return Estimate(n, mean, low, high)


def gather_clusters(values: Sequence[bool | int | float], labels: Labels) -> Clusters:
    """Return `values` summed by label; the clusters are ordered by label."""
    _, cluster_of = np.unique(np.array(labels), return_inverse=True)
    sums = np.bincount(cluster_of, weights=np.array(values, dtype=np.float64)).astype(np.float64)
    return Clusters(sums, np.bincount(cluster_of).astype(np.float64))


def wilson_interval(share: float, size: float) -> tuple[float, float]:
    """Return Wilson's score interval (95 %) of a share seen in a sample of `size`.

    The set of p with |share - p| <= z sqrt(p (1 - p) / size), without continuity correction.
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22
    (1927) 209-212; Brown, Cai, DasGupta, "Interval estimation for a binomial proportion",
    Statistical Science 16 (2001) 101-133, eq. (4).
    """
    z_squared = Z_95**2
    centre = (share + z_squared / (2 * size)) / (1 + z_squared / size)
    spread = share * (1 - share) / size + z_squared / (4 * size**2)
    half = Z_95 * math.sqrt(spread) / (1 + z_squared / size)
    # Where all or none succeeded an end is 1 or 0 exactly, which rounding would miss.
    low = 0.0 if share == 0.0 else max(0.0, centre - half)
    high = 1.0 if share == 1.0 else min(1.0, centre + half)
    return low, high


def effective_size(clusters: Clusters) -> float:
    """Return how many independent values a share over `clusters` is worth, at most n.

    n divided by the design effect, the ratio of the share's variance over clusters (the
    linearised variance of a ratio, G/(G-1) sum_g (s_g - p m_g)^2 / n^2) to that of independent
    values (p (1 - p) / n): L. Kish, "Survey Sampling" (1965), sections 5.4 and 8.2. Where p is 0
    or 1 the data can't tell it, and each cluster counts as one value. Clusters of one value each
    give n itself, hence Wilson's plain interval.
    """
    n = float(np.sum(clusters.sizes))
    if clusters.are_single:
        return n
    share = float(np.sum(clusters.sums)) / n
    if clusters.count == 1 or share in (0.0, 1.0):
        return float(clusters.count)
    residuals = clusters.sums - share * clusters.sizes
    correction = clusters.count / (clusters.count - 1)
    variance = correction * float(np.sum(residuals**2)) / n**2
    design_effect = variance * n / (share * (1 - share))
    return n / max(1.0, design_effect)


def bootstrap_interval(clusters: Clusters, rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile bootstrap interval (95 %) of the mean over `clusters`.

    RESAMPLES times as many clusters as there are, are drawn with replacement, and the mean of all
    their values taken; the ends are the 2.5 % and 97.5 % quantiles (interpolated linearly).
    B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), section 13.3; clusters
    as units: A. C. Davison, D. V. Hinkley, "Bootstrap Methods and their Application" (1997),
    section 3.8.
    """
    at_once = max(1, _INDEXES_AT_ONCE // clusters.count)
    means = []
    for first in range(0, RESAMPLES, at_once):
        rows = min(at_once, RESAMPLES - first)
        drawn = rng.integers(clusters.count, size=(rows, clusters.count))
        means.append(clusters.sums[drawn].sum(axis=1) / clusters.sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), (0.025, 0.975))
    return float(low), float(high)
