"""Waiting without falling asleep: when it begins, when it ends, and what it leaves alone."""

from __future__ import annotations

import os
import time

import pytest

from nodeset import spin
from nodeset.spin import HITS_TO_SPIN, SPIN_SECONDS, WAITS_TO_LOOK, SpinningWait


class Events:
    """Answers polls by a script, True: something has happened; keeps their timeouts."""

    def __init__(self, *script):
        self.script = list(script)
        self.timeouts = []

    def poll(self, timeout):
        self.timeouts.append(timeout)
        has_come = self.script.pop(0)
        return ["event"] if has_come else []


@pytest.fixture(autouse=True)
def processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Stand in for the machine's clocks: each look at the time takes a microsecond.

    For `share` of the time the thread itself runs, and others for the rest.
    """

    class Clock:
        share = 1.0
        now = 0.0

        def tick(self):
            self.now += 0.000_001
            return self.now

    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock.tick)
    monkeypatch.setattr(time, "thread_time", lambda: clock.now * clock.share)
    return clock


def settled(events):
    """Return a wait whose last events came soon."""
    waiting = SpinningWait(events.poll)
    for _ in range(HITS_TO_SPIN):
        waiting.wait()
    events.timeouts.clear()
    return waiting


def test_it_sleeps_until_events_have_come_soon_some_times_in_a_row():
    events = Events(*[True] * HITS_TO_SPIN, False, True)
    waiting = settled(events)
    assert waiting.wait() == ["event"]
    assert events.timeouts == [0, 0]


def test_events_that_came_late_are_no_reason_to_stay_awake():
    events = Events(*[True] * (HITS_TO_SPIN + 1))
    waiting = SpinningWait(events.poll, seconds=0.000_000_5)
    for _ in range(HITS_TO_SPIN + 1):
        waiting.wait()
    assert events.timeouts == [None] * (HITS_TO_SPIN + 1)


def test_after_a_wait_in_vain_it_sleeps_again():
    events = Events(False, True, True)
    waiting = SpinningWait(events.poll, seconds=0.0)
    waiting._hits = HITS_TO_SPIN
    assert [waiting.wait(), waiting.wait()] == [["event"], ["event"]]
    assert events.timeouts == [0, None, None]


def test_a_look_without_waiting_changes_nothing():
    events = Events(*[True] * HITS_TO_SPIN, False, True)
    waiting = settled(events)
    assert waiting.wait(0) == []
    assert waiting.wait() == ["event"]
    assert events.timeouts == [0, 0]


def test_where_there_is_one_processor_it_always_sleeps(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    events = Events(*[True] * 9)
    waiting = SpinningWait(events.poll)
    for _ in range(9):
        waiting.wait()
    assert events.timeouts == [None] * 9


def test_moving_away_leaves_the_choice_of_processors_as_it_was(monkeypatch):
    chosen = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, mask: chosen.append(set(mask)))
    spin._leave_processor()
    assert len(chosen) == 2
    assert chosen[0] < chosen[1] == {0, 1}


class Steady:
    """Has an event at every poll; counts the polls that may sleep."""

    def __init__(self):
        self.sleeps = 0

    def poll(self, timeout):
        self.sleeps += timeout != 0
        return ["event"]


def patient(*, seconds=0.006, **settings):
    waiting = SpinningWait(Steady().poll, seconds=seconds, **settings)
    waiting._hits = HITS_TO_SPIN
    return waiting


def periods(waiting, count):
    """Return for how many waits it was content with a short look, time after time."""
    lengths = [0]
    while len(lengths) <= count:
        waiting.wait()
        if waiting._modest_waits:
            lengths[-1] += 1
        elif lengths[-1]:
            lengths.append(0)
    return lengths[:count]


def test_where_others_run_too_it_is_content_with_short_looks_ever_longer(clock):
    clock.share = 0.5
    assert periods(patient(), 3) == [WAITS_TO_LOOK, 2 * WAITS_TO_LOOK, 4 * WAITS_TO_LOOK]


def test_once_it_has_the_processor_to_itself_it_begins_anew(clock):
    clock.share = 0.5
    waiting = patient()
    periods(waiting, 3)
    clock.share = 1.0
    for _ in range(WAITS_TO_LOOK):
        waiting.wait()
    clock.share = 0.5
    assert periods(waiting, 1) == [WAITS_TO_LOOK]


def test_while_it_is_content_with_short_looks_a_longer_wait_is_no_hit(clock):
    waiting = patient()
    waiting._modest_waits = 9
    assert waiting._limit() == SPIN_SECONDS
    waiting._modest_waits = 0
    assert waiting._limit() == 0.006


@pytest.mark.parametrize("steps_aside", [True, False])
def test_only_who_steps_aside_moves_to_another_processor(clock, monkeypatch, steps_aside):
    moves = []
    monkeypatch.setattr(spin, "_leave_processor", lambda: moves.append(1))
    clock.share = 0.5
    waiting = patient(steps_aside=steps_aside)
    for _ in range(WAITS_TO_LOOK):
        waiting.wait()
    assert len(moves) == steps_aside
