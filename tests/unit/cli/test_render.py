"""What a person sees when a run is over."""

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console, Group
from tests.unit.store.example import header, resumption

from wayfare.cli.render import (
    describe_outcomes,
    format_number,
    render_episodes,
    render_errors,
    render_runs,
    render_summary,
)
from wayfare.evals.report import EpisodeRow
from wayfare.store.listing import RunEntry
from wayfare.store.records import ErrorRecord
from wayfare.store.summary import (
    CopyReport,
    EpisodeCounts,
    Invariance,
    MetricSummary,
    NodesetReport,
    RunSummary,
)


def text_of(renderable, width=200):
    output = io.StringIO()
    Console(file=output, width=width).print(renderable, crop=False)
    return output.getvalue()


def words(renderable):
    return [line.split() for line in text_of(renderable).splitlines()]


SUMMARY = RunSummary(
    run_id="r1",
    status="done",
    worker_count=4,
    elapsed_s=75.0,
    episodes=EpisodeCounts(total=10, completed=7, truncated=2, error=1, attempts=12),
    metrics={
        "spl": MetricSummary(n=8, mean=0.5, ci_low=0.25, ci_high=0.75, undefined={"0/0": 1}),
        "none": MetricSummary(n=0, mean=None, ci_low=None, ci_high=None, undefined={"[x]": 9}),
    },
    digest="ab" * 16,
    invariance=Invariance(claimed=False, tools=("policy__act",)),
    nodesets={
        "policy": NodesetReport(
            parallelism="shared",
            copies=(CopyReport(tag="policy", pid=1, calls=30),),
            batches=10,
            mean_batch=3.0,
        ),
        "env": NodesetReport(parallelism="replicated"),
    },
    out="/runs/r1",
)


def test_metrics_come_with_n_interval_and_what_is_undefined():
    rows = words(render_summary(SUMMARY))
    assert ["spl", "8", "0.500", "0.250", "to", "0.750", "1", "0/0"] in rows
    assert ["none", "0", "-", "-", "9", "[x]"] in rows


def test_the_summary_says_where_the_run_is_and_what_it_claims():
    text = text_of(render_summary(SUMMARY))
    for part in ("/runs/r1", "ab" * 16, "done, 1 min 15 s, 4 workers"):
        assert part in text
    assert "not claimed: the batch size may change the last bits of policy__act" in text


def test_copies_and_batches_are_shown_where_they_are_known():
    rows = words(render_summary(SUMMARY))
    assert ["policy", "shared", "1", "30", "0", "0", "3.00"] in rows
    assert ["env", "replicated", "-", "-", "-", "-", "-"] in rows


def test_errors_are_stated_in_the_denominator():
    assert describe_outcomes(SUMMARY.episodes) == (
        "10: 7 completed, 2 truncated, 1 error; 12 attempts. "
        "The means are over the 9 of 10 that did not end in error"
    )


def test_an_incomplete_run_says_how_much_is_there():
    counts = EpisodeCounts(total=10, completed=4, attempts=4)
    assert describe_outcomes(counts) == "4 of 10 finished: 4 completed, 0 truncated, 0 error"


def test_numbers_are_short_but_never_hidden():
    shown = [format_number(value) for value in (None, 0.0, 1, 0.00001234, -12.3456, 3e9)]
    assert shown == ["-", "0.000", "1.000", "1.23e-05", "-12.346", "3e+09"]


def test_unreadable_runs_are_listed_with_the_reason():
    entry = RunEntry(run_id="r2", folder=Path("r2"), status="unreadable", problem="a newer one")
    assert ["r2", "unreadable", "a", "newer", "one"] in words(render_runs([entry]))


def test_a_run_whose_summary_is_damaged_is_listed_and_told():
    entry = RunEntry(
        run_id="r3",
        folder=Path("r3"),
        status="done",
        header=header(),
        total=4,
        finished=4,
        problem="summary.json is damaged",
    )
    shown = words(render_runs([entry]))
    assert ["r3", "done", "agent", "2", "4/4", "-"] in shown
    assert ["r3:", "summary.json", "is", "damaged"] in shown


def test_a_run_that_went_on_is_listed_with_the_workers_of_its_parts():
    parts = tuple(resumption(worker_count=count) for count in (2, 8, 8, 2))
    entry = RunEntry(
        run_id="r", folder=Path("r"), status="done", header=header(), resumptions=parts
    )
    assert ["r", "done", "agent", "2,", "8,", "2", "-", "-"] in words(render_runs([entry]))
    told = text_of(render_summary(SUMMARY, parts[:2]))
    assert "2 times, with 2, 8 workers; forced over:" in told


def row(number, scene="", repeat=0, **changes):
    fields = {
        "key": f"env@0/val/{scene}/{number}/{repeat}",
        "episode_id": str(number),
        "scene_id": scene,
        "outcome": "completed",
        "attempts": 1,
        "worker": 0,
        "steps": 9,
        "seconds": 0.5,
        "metrics": {},
        "digest": "ab",
        "error": None,
    }
    return EpisodeRow(**{**fields, **changes})


def failed(number):
    error = ErrorRecord(kind="author", type="ValueError", message="bad", node="act", turns=(2,))
    return row(number, outcome="error", error=error)


def test_an_episodes_row_shows_each_metric_as_what_it_is():
    metrics = {"success": True, "length": 12, "spl": {"undefined": "unreachable"}}
    cells = ["1", "completed", "1", "0", "9", "0.50", "12", "unreachable", "yes"]
    assert cells in words(render_episodes([row(1, metrics=metrics)]))


def test_what_all_keys_share_stands_once_above_the_table():
    lines = words(render_episodes([row(1, "hall"), row(1, "hall", repeat=1)]))
    assert lines[0] == ["episodes", "of", "env@0/val"]
    assert lines[1][:4] == ["scene", "id", "repeat", "outcome"]
    assert lines[2][:3] == ["hall", "1", "completed"]
    assert lines[3][:4] == ["hall", "1", "1", "completed"]


def test_each_error_has_a_line_and_many_are_counted():
    lines = text_of(Group(*render_errors([row(0), *(failed(n) for n in range(23))]))).splitlines()
    assert lines[0] == "episode 0: ValueError at act (turn 2): bad"
    assert lines[20:22] == ["and 3 more, which --json lists", ""]


def test_ids_stay_whole_where_the_terminal_is_too_narrow():
    name = "20260102T030405Z-a_graph_with_a_name-ab12"
    folder = Path("/runs") / name  # which may be called otherwise than the run was
    entry = RunEntry(run_id="r", folder=folder, status="unreadable", problem="words " * 20)
    assert name in text_of(render_runs([entry]), width=60)
    assert "/runs/" + name in text_of(render_summary(replace(SUMMARY, out="/runs/" + name)), 30)
    assert "a_long_episode_id" in text_of(render_episodes([row("a_long_episode_id")]), width=50)
