"""For how many expected callers a batch waits: arithmetic on times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nodeset.patience import (
    COMPLETE_SHARE,
    SAVED_PER_ROUND_SECONDS,
    Outlook,
    count_worth_waiting,
    price_batch,
)

MS = 0.001
SLOW = Outlook(
    rows=1,
    waited_seconds=0.0,
    cycle_seconds=0.0,
    fixed_seconds=5 * MS,
    row_seconds=0.0,
    return_seconds=0.2 * MS,
    spacing_seconds=1.0,  # no price
    apart_seconds=1 * MS,
)
QUICK = replace(SLOW, fixed_seconds=0.2 * MS, return_seconds=3 * MS)


def test_nobody_is_waited_for_where_nobody_is_expected():
    assert count_worth_waiting(SLOW, []) == 0


def test_a_slow_handler_waits_for_callers_that_return_at_once():
    assert count_worth_waiting(SLOW, [0.1 * MS, 0.2 * MS, 0.3 * MS]) == 3


def test_a_straggler_is_left_out():
    assert count_worth_waiting(SLOW, [0.1 * MS, 0.2 * MS, 30 * MS]) == 2


def test_callers_spread_over_the_handler_s_time_are_not_waited_for():
    arrivals = [count * 2 * MS for count in range(1, 11)]
    assert count_worth_waiting(replace(SLOW, rows=6, return_seconds=5 * MS), arrivals) == 0


def test_a_quick_handler_does_not_wait_for_callers_that_return_at_random():
    assert count_worth_waiting(QUICK, [1 * MS, 2 * MS, 3 * MS]) == 0


def test_callers_that_return_together_are_brought_together():
    together = replace(QUICK, spacing_seconds=0.05 * MS)
    assert count_worth_waiting(together, [3 * MS, 3.05 * MS, 3.1 * MS]) == 3


def test_the_price_of_a_batch_falls_with_what_staying_together_costs():
    prices = [
        price_batch(replace(QUICK, spacing_seconds=spacing * MS), 4) for spacing in (0, 0.3, 0.7)
    ]
    assert prices[0] > prices[1] > prices[2] == 0.0
    assert price_batch(replace(QUICK, spacing_seconds=0, row_seconds=1 * MS), 4) == 0.0
    assert price_batch(replace(QUICK, spacing_seconds=0), 1) == pytest.approx(
        8 * SAVED_PER_ROUND_SECONDS
    )


@pytest.mark.parametrize(("share", "count"), [(0.9, 1), (1.1, 0)])
def test_a_complete_batch_is_worth_a_share_of_a_caller_s_cycle(share, count):
    outlook = replace(QUICK, cycle_seconds=10 * MS)
    mean_wait = share * COMPLETE_SHARE * outlook.cycle_seconds
    assert count_worth_waiting(outlook, [2 * mean_wait]) == count


def test_what_was_waited_already_counts():
    outlook = replace(QUICK, cycle_seconds=10 * MS)
    assert count_worth_waiting(outlook, [2 * MS]) == 1
    assert count_worth_waiting(replace(outlook, waited_seconds=3 * MS), [2 * MS]) == 0
