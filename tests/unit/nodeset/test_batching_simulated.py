"""The rule for whom a batch waits, against simpler ones, in simulated seconds."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.unit.nodeset.batching_simulation import (
    CLOSE,
    OPEN,
    AllWaiting,
    FixedGap,
    FlushWhenIdle,
    Simulation,
    Tool,
)

from nodeset.batch_queue import DEFAULT_SETTINGS, BatchQueue

SPREAD = 0.00005
SLOW = 0.005


def repeat(draw, start=0.0):
    """One caller of one tool that thinks for what `draw` says."""
    yield OPEN
    yield start
    while True:
        yield "act"
        yield float(draw())


def play(rng, length):
    """Episodes of `reset`, some turns of `observe` and `step`, and `evaluate`."""
    while True:
        yield OPEN
        yield from ("reset", 0.001)
        for _ in range(int(rng.integers(*length))):
            yield from ("observe", 0.003, "step", 0.0006)
        yield from ("evaluate", 0.001, CLOSE, 0.002)


def run(count, caller, queue=BatchQueue, *, fixed=SLOW, seconds=1.0):
    """Run `count` callers; `caller(rng, index)` returns the script of one."""
    rng = np.random.default_rng(7)
    simulation = Simulation({"act": Tool("act", fixed)}, queue, spread=SPREAD)
    return simulation.run([caller(rng, index) for index in range(count)], seconds)


def returning(rng, index):
    return repeat(lambda: 0.0002)


def thinking(rng, index):
    return repeat(partial(rng.exponential, 0.005))


def heavy_tailed(rng, index):
    return repeat(lambda: 0.010 * np.exp(rng.standard_normal()))


def with_one_slow(rng, index):
    return repeat(lambda: 0.030 if index == 0 else 0.001)


def in_phases(rng, index):
    return repeat(lambda: 0.010, start=float(rng.uniform(0, 0.010)))


@pytest.mark.parametrize(("count", "share"), [(1, 0.88), (16, 0.70)])
def test_callers_that_return_at_once_get_most_of_the_ideal(count, share):
    outcome = run(count, returning)
    assert outcome.rows_per_second >= share * count / SLOW
    assert outcome.mean_batch >= 0.95 * count
    assert set(outcome.reasons) <= {"all_waiting", "gap"}


def test_sixty_four_callers_that_return_at_once_share_their_batches():
    assert run(64, returning).mean_batch >= 0.95 * 64


@pytest.mark.parametrize("caller", [thinking, heavy_tailed])
@pytest.mark.parametrize("count", [8, 16])
def test_callers_that_think_lose_next_to_nothing_by_waiting(caller, count):
    outcome, idle = run(count, caller, seconds=2.0), run(count, caller, FlushWhenIdle, seconds=2.0)
    assert outcome.rows_per_second >= 0.95 * idle.rows_per_second


@pytest.mark.parametrize("caller", [returning, thinking, heavy_tailed, with_one_slow, in_phases])
@pytest.mark.parametrize("queue", [FixedGap, AllWaiting])
def test_simpler_rules_are_never_much_faster(caller, queue):
    outcome, other = run(8, caller), run(8, caller, queue)
    assert outcome.rows_per_second >= 0.97 * other.rows_per_second


def test_a_slow_worker_does_not_hold_the_others():
    outcome, idle = run(8, with_one_slow), run(8, with_one_slow, FlushWhenIdle)
    assert outcome.rows_per_second >= 1.3 * idle.rows_per_second
    assert outcome.mean_batch >= 6


def test_callers_out_of_phase_come_together():
    outcome, idle = run(8, in_phases), run(8, in_phases, FlushWhenIdle)
    assert outcome.rows_per_second >= 1.2 * idle.rows_per_second
    assert outcome.mean_batch >= 7


def test_phases_split_over_two_keys_merge_again_after_every_episode():
    tools = {name: Tool(name, 0.0002, 0.00004) for name in ("reset", "observe", "step", "evaluate")}
    rng = np.random.default_rng(7)
    scripts: list[Any] = [play(rng, (10, 30)) for _ in range(4)]
    assert Simulation(tools, spread=SPREAD).run(scripts, 2.0).mean_batch > 3


def test_one_worker_never_waits():
    outcome = run(1, thinking)
    assert set(outcome.reasons) == {"all_waiting"}
    assert outcome.longest_wait == 0.0


def test_no_row_waits_longer_than_the_timeout():
    timeout = DEFAULT_SETTINGS.flush_timeout_seconds
    for caller in (thinking, heavy_tailed, with_one_slow):
        assert run(8, caller, fixed=0.0003).longest_wait <= timeout + 0.001


@pytest.mark.parametrize("queue", [BatchQueue, FlushWhenIdle, AllWaiting])
def test_every_caller_gets_its_own_answers_whatever_the_rule(queue):
    outcome = run(8, heavy_tailed, queue)
    assert all(worker == value for worker, value in outcome.answers)


def step_a_simulator(rng, index):
    """Episodes of four turns, each of some tens of milliseconds."""
    while True:
        yield OPEN
        yield float(rng.uniform(0.0, 0.1))
        for _ in range(4):
            yield from ("act", float(rng.uniform(0.010, 0.045)))
        yield CLOSE


def test_a_slow_network_waits_for_those_whom_it_has_just_answered():
    outcome = run(8, step_a_simulator, fixed=0.5, seconds=60.0)
    assert outcome.mean_batch >= 6.5
