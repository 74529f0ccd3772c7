"""What a person sees when a run is over."""

import io
from pathlib import Path

from rich.console import Console

from wayfare.cli.render import (
    describe_outcomes,
    format_number,
    render_episodes,
    render_runs,
    render_summary,
)
from wayfare.evals.report import EpisodeRow
from wayfare.store.listing import RunEntry
from wayfare.store.summary import (
    CopyReport,
    EpisodeCounts,
    Invariance,
    MetricSummary,
    NodesetReport,
    RunSummary,
)


def text_of(renderable):
    output = io.StringIO()
    Console(file=output, width=200).print(renderable)
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


def test_an_episodes_row_shows_each_metric_as_what_it_is():
    row = EpisodeRow(
        key="env@0/val//1/0",
        episode_id="1",
        scene_id="",
        outcome="completed",
        attempts=1,
        worker=0,
        steps=9,
        seconds=0.5,
        metrics={"success": True, "length": 12, "spl": {"undefined": "unreachable"}},
        digest="ab",
        error=None,
    )
    cells = ["env@0/val//1/0", "completed", "1", "0", "9", "0.50", "12", "unreachable", "yes"]
    assert cells in words(render_episodes([row]))
