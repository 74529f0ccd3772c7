"""Split a metric's variance into that between episodes and that within one over its repeats.

Knows nothing of runs or records.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from wayfare.store.summary import RepeatSummary

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def summarise_repeats(values: Floats, episodes: Ints, repeats: Ints) -> RepeatSummary | None:
    """Return the components of variance; None without two episodes and one that is repeated.

    The one-way random-effects model, value = mean + episode + rest, with the ANOVA estimator for
    numbers of repeats that may differ: S. R. Searle, G. Casella, C. E. McCulloch, "Variance
    Components" (1992), section 3.6; a negative component is 0. The intraclass correlation is
    ICC(1,1) of P. E. Shrout, J. L. Fleiss, "Intraclass correlations", Psychological Bulletin 86
    (1979) 420-428; None where nothing varies.
    """
    _, episode_of, sizes = np.unique(episodes, return_inverse=True, return_counts=True)
    count, total = len(sizes), len(values)
    if count < 2 or total == count:
        return None
    means = np.bincount(episode_of, weights=values) / sizes
    within = float(np.sum((values - means[episode_of]) ** 2)) / (total - count)
    squares = float(np.sum(sizes * (means - np.mean(values)) ** 2)) / (count - 1)
    usual_size = (total - float(np.sum(sizes**2)) / total) / (count - 1)
    between = max(0.0, (squares - within) / usual_size)
    return RepeatSummary(
        repeats=int(np.max(sizes)),
        episodes=count,
        means=_means_by_repeat(values, repeats),
        variance_between=between,
        variance_within=within,
        icc=between / (between + within) if between + within > 0 else None,
        standard_error=math.sqrt(between * float(np.sum(sizes**2)) / total**2 + within / total),
        standard_error_rerun=math.sqrt(within / total),
    )


def _means_by_repeat(values: Floats, repeats: Ints) -> tuple[float | None, ...]:
    means = []
    for number in range(int(np.max(repeats)) + 1):
        own = values[repeats == number].tolist()
        means.append(math.fsum(own) / len(own) if own else None)
    return tuple(means)
