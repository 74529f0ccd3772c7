"""What a person sees while a run goes on."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from wayfare.cli.live import (
    LiveTable,
    PlainLines,
    describe_error,
    describe_failure,
    describe_seconds,
    open_view,
)
from wayfare.fleet.errors import CopyDeath
from wayfare.store.records import (
    EpisodeKey,
    EpisodeRecord,
    ErrorRecord,
    PlannedEpisode,
    RunHeader,
)

FAULT = ErrorRecord(
    kind="author", type="ValueError", message="bad [red]\nmore", node="step", turns=(2,)
)


class FakeClock:
    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


def key(number):
    return EpisodeKey("env", "0123456789", "val", "house [1]", str(number))


def header(count=4, workers=2):
    return RunHeader(
        run_id="r1",
        created="2026-01-02T03:04:05Z",
        graph={},
        graph_hash="aa",
        graph_name="agent",
        seed=7,
        worker_count=workers,
        split="val",
        episodes=tuple(PlannedEpisode(key=key(n), index=n) for n in range(count)),
        episodes_hash="bb",
    )


def record(number, outcome="completed", **fields):
    error = FAULT if outcome == "error" else None
    return EpisodeRecord(
        key=key(number), index=number, outcome=outcome, worker=0, error=error, **fields
    )


def plain(clock):
    output = io.StringIO()
    return PlainLines(Console(file=output, width=200), clock), output


def table(clock, terminal=True):
    output = io.StringIO()
    return LiveTable(Console(file=output, force_terminal=terminal, width=160), clock), output


def drawn(view):
    output = io.StringIO()
    Console(file=output, width=160).print(view.render())
    return output.getvalue()


def test_plain_lines_come_at_most_once_in_a_while():
    clock = FakeClock()
    view, output = plain(clock)
    view.run_started(header(count=100), ["return", "success"], [])
    for number in range(20):
        clock.seconds += 1
        view.episode_finished(record(number, metrics={"success": number % 2 == 0}))
    lines = output.getvalue().splitlines()
    assert lines[0] == "agent: 100 episodes, 2 workers"
    assert len(lines) == 5
    assert lines[1] == (
        "5/100 episodes (5 completed) · success 0.600 · 1.00 episodes/s · 1 min 35 s left"
    )


def test_one_worker_is_no_workers():
    view, output = plain(FakeClock())
    view.run_started(header(count=1, workers=1), ["success"], [])
    assert output.getvalue() == "agent: 1 episode, 1 worker\n"


def test_plain_lines_say_every_error_at_once_and_end_with_a_line():
    view, output = plain(FakeClock())
    view.run_started(header(count=2), [], [])
    view.episode_finished(record(0, "error"))
    view.episode_finished(record(1, "truncated"))
    lines = output.getvalue().splitlines()
    assert lines[1] == (
        "episode env@01234567/val/house%20%5B1%5D/0/0: ValueError at step (turn 2): bad [red]"
    )
    assert lines[2].startswith("2/2 episodes (0 completed, 1 truncated, 1 error)")


def test_an_attempt_that_will_be_repeated_says_so():
    view, output = plain(FakeClock())
    view.run_started(header(), [], [])
    view.episode_started(1, key(3), 1)
    view.attempt_failed(1, key(3), FAULT)
    assert output.getvalue().rstrip().endswith("bad [red]; it will be tried again")


def test_a_dead_copy_is_told_with_its_last_line():
    death = CopyDeath("env.2", 9, 1, "Traceback\nMemoryError: no memory\n\n")
    fault = ErrorRecord(kind="infrastructure", type="Gone", message=death.describe())
    assert describe_error(key(0), fault, will_repeat=True).endswith(
        "copy 'env.2' (pid 9) ended with exit status 1. Its last line: MemoryError: no memory; "
        "it will be tried again"
    )


def test_a_crash_is_told_with_what_the_thread_called_that_crashed():
    stacks = (
        "Fatal Python error: Segmentation fault\n\n"
        'Thread 0x1 (most recent call first):\n  File "bell.py", line 34 in wait\n\n'
        'Current thread 0x2 (most recent call first):\n  File "sim.py", line 5 in render\n'
    )
    death = CopyDeath("env.2", 9, -11, stacks)
    fault = ErrorRecord(kind="infrastructure", type="Gone", message=death.describe())
    assert describe_failure(fault).endswith(
        'Fatal Python error: Segmentation fault File "sim.py", line 5 in render'
    )


def test_an_error_line_is_short():
    line = describe_failure(replace(FAULT, message="x" * 5_000_000))
    assert len(line) < 600
    assert "characters left out" in line


def test_the_table_shows_each_workers_episode():
    clock = FakeClock()
    view, _ = table(clock)
    view.run_started(header(), [], [])
    view.episode_started(1, key(3), 2)
    clock.seconds += 65
    rows = [line.split() for line in drawn(view).splitlines()]
    assert ["0", "idle", "0"] in rows
    assert ["1", "house", "[1]/3", "2", "1", "min", "05", "s", "0"] in rows


def test_the_headline_is_success_where_there_is_one_else_the_first_metric():
    view, _ = table(FakeClock())
    view.run_started(header(), ["ne", "success"], [])
    view.episode_finished(record(0, metrics={"ne": 3.0, "success": True}))
    assert "success 1.000" in drawn(view)
    view, _ = table(FakeClock())
    view.run_started(header(), ["ne", "tl"], [])
    view.episode_finished(record(0, metrics={"tl": 9.0, "ne": 3.0}))
    assert "ne 3.000" in drawn(view)


def test_many_workers_are_folded_into_one_row():
    view, _ = table(FakeClock())
    view.run_started(header(workers=50), [], [])
    assert "34 more workers" in drawn(view)


def test_the_table_goes_when_it_is_left_and_errors_stay():
    view, output = table(FakeClock())
    with view:
        view.run_started(header(), [], [])
        view.episode_finished(record(0, "error"))
    assert "ValueError at step" in output.getvalue()
    assert output.getvalue().endswith(("\x1b[2K", "\x1b[?25h"))


@pytest.mark.parametrize(("terminal", "kind"), [(True, LiveTable), (False, PlainLines)])
def test_the_view_suits_the_console(terminal, kind, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    console = Console(file=io.StringIO(), force_terminal=terminal)
    assert isinstance(open_view(console), kind)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(8.26, "8.3 s"), (125, "2 min 05 s"), (59.97, "1 min 00 s"), (11230, "3 h 07 min")],
)
def test_durations_read_as_people_say_them(seconds, text):
    assert describe_seconds(seconds) == text
