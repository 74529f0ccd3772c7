"""Waiting without falling asleep: when it begins, when it ends, and what it leaves alone."""

from __future__ import annotations

import os

import pytest

from nodeset import spin
from nodeset.spin import HITS_TO_SPIN, SpinningWait


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
    monkeypatch.setattr(spin, "SPIN_SECONDS", 0.0)
    events = Events(False, True, True)
    waiting = SpinningWait(events.poll)
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
