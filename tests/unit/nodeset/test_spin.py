"""Waiting without falling asleep: when it begins, when it ends, and what it leaves alone."""

from __future__ import annotations

import os
import time

import pytest

from nodeset import spin
from nodeset.spin import (
    CROWDED_SECONDS,
    HITS_TO_SPIN,
    MODEST_WAITS,
    SPIN_SECONDS,
    SpinningWait,
)


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


def test_after_a_wait_in_vain_it_sleeps_again(monkeypatch):
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


class Clock:
    """Gives the scripted moments, then the last one again."""

    def __init__(self, *moments):
        self.moments = list(moments)

    def __call__(self):
        return self.moments.pop(0) if len(self.moments) > 1 else self.moments[0]


def test_who_loses_the_processor_to_others_is_content_with_a_short_look(monkeypatch):
    events = Events(False, True)
    waiting = SpinningWait(events.poll, seconds=0.006)
    waiting._hits = HITS_TO_SPIN
    away = 2 * CROWDED_SECONDS
    monkeypatch.setattr(time, "perf_counter", Clock(0.0, away))
    assert waiting.wait() == ["event"]
    assert events.timeouts == [0, None]
    assert [waiting._limit() for _ in range(MODEST_WAITS)] == [SPIN_SECONDS] * MODEST_WAITS
    assert waiting._limit() == 0.006


def test_the_oftener_it_loses_the_processor_the_longer_it_is_modest(monkeypatch):
    monkeypatch.setattr(time, "perf_counter", Clock(0.0))
    waiting = SpinningWait(Events().poll, seconds=0.006)
    periods = []
    for _ in range(3):
        waiting._be_modest()
        periods.append(sum(1 for _ in iter(waiting._limit, 0.006)))
    assert periods == [MODEST_WAITS, 2 * MODEST_WAITS, 4 * MODEST_WAITS]
