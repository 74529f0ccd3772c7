"""Weigh how long a batch waits for callers that are expected: pure arithmetic on times.

Knows nothing of callers, keys or clocks.

What counts is the time until calls are answered, summed over all callers, in seconds. To leave once
the first `m` of the expected callers have come costs

- the waiting of the rows that are there, and of those that come before the last of the `m`;
- serving them: a batch takes a fixed time and a time for every row;
- the waiting of everybody else who comes while the handler runs, until it is free;
- the waiting of the rows served now, when they return and find the handler with those others;
- for every further batch that is needed for the others, its price to every caller.

The `m` with the least cost is chosen; but everybody is waited for if that completes the batch and
the mean wait is less than a share of the time in which a caller calls once.

The price stands for what no sum of waiting shows: threads to
wake, processors, a GPU. Callers that return close together share batches for many rounds once they
are together, so that it is worth a wait of several rounds' savings; callers that return at random
gain nothing by being brought together, and pay no price.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Sequence

SAVED_PER_ROUND_SECONDS = 0.001
"""What one batch less saves every caller."""
ROUNDS_TOGETHER = 8
_MOST_COUNTS = 16  # of many callers, not every number is tried
COMPLETE_SHARE = 0.2
"""Of the time in which a caller calls once: the mean wait that a complete batch is worth."""


@dataclass(frozen=True)
class Outlook:
    """What is known when a batch could leave. All times are in seconds.

    `rows` wait, and have waited `waited_seconds` together while the handler was free; each belongs
    to a caller that calls once in `cycle_seconds`. Serving a batch takes `fixed_seconds`, and
    `row_seconds` for every row. The rows call again `return_seconds` after their answer, with
    `spacing_seconds` between one and the next. `apart_seconds` between two arrivals make them need
    two batches.
    """

    rows: int
    waited_seconds: float
    cycle_seconds: float
    fixed_seconds: float
    row_seconds: float
    return_seconds: float
    spacing_seconds: float
    apart_seconds: float

    def serve_seconds(self, rows: int) -> float:
        """Return what serving so many rows takes."""
        return self.fixed_seconds + self.row_seconds * rows


def price_batch(outlook: Outlook, callers: int) -> float:
    """Return what a further batch costs `callers` together while they could share their rounds.

    What a shared round saves each, less what it costs each on average: waiting for the last to
    come, and for the rows of the others.
    """
    lost = (outlook.spacing_seconds + outlook.row_seconds) * (callers - 1) / 2
    return max(SAVED_PER_ROUND_SECONDS - lost, 0.0) * ROUNDS_TOGETHER * callers


def count_worth_waiting(outlook: Outlook, arrivals: Sequence[float]) -> int:
    """Return how many of the expected `arrivals` (seconds from now, ascending) to wait for."""
    if not arrivals:
        return 0
    sums = [0.0, *accumulate(arrivals)]
    batches = _count_batches(arrivals, outlook.apart_seconds)
    price = price_batch(outlook, outlook.rows + len(arrivals))
    counts = [len(arrivals), *range(0, len(arrivals), 1 + len(arrivals) // _MOST_COUNTS)]
    costs = [
        _cost_of_waiting(outlook, arrivals, sums, count=count) + price * batches[count]
        for count in counts
    ]
    best = counts[costs.index(min(costs))]
    everyone = outlook.rows + len(arrivals)
    waited = outlook.waited_seconds + everyone * arrivals[-1] - sums[-1]
    is_cheap = waited <= COMPLETE_SHARE * outlook.cycle_seconds * everyone
    return len(arrivals) if is_cheap else best


def _cost_of_waiting(
    outlook: Outlook, arrivals: Sequence[float], sums: Sequence[float], *, count: int
) -> float:
    """Return the seconds until answers if the first `count` are waited for, without the price."""
    leaves = arrivals[count - 1] if count else 0.0
    served = outlook.rows + count
    free = leaves + outlook.serve_seconds(served)
    met = bisect_right(arrivals, free, count)
    cost = served * free - sums[count]
    cost += (len(arrivals) - met) * outlook.serve_seconds(1)
    if met > count:
        others = met - count
        next_serve = outlook.serve_seconds(others)
        cost += others * (free + next_serve) - (sums[met] - sums[count])
        cost += served * max(next_serve - outlook.return_seconds, 0.0)
    return cost


def _count_batches(arrivals: Sequence[float], apart: float) -> Sequence[int]:
    """Return, for every count of arrivals waited for, how many batches the others need."""
    batches = [0] * (len(arrivals) + 1)
    for index in range(len(arrivals) - 1, -1, -1):
        is_last = index == len(arrivals) - 1
        is_apart = is_last or arrivals[index + 1] - arrivals[index] > apart
        batches[index] = batches[index + 1] + (1 if is_apart else 0)
    return batches
