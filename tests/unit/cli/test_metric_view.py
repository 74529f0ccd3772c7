"""What a person sees of metrics: over scenes, over repeats, with errors, by a label."""

import io
from dataclasses import replace

from rich.console import Console, Group
from tests.unit.cli.test_render import SUMMARY

from wayfare.cli.exit_status import ExitStatus, status_of
from wayfare.cli.metric_view import describe_coverage, describe_denominators, render_breakdown
from wayfare.cli.render import render_summary
from wayfare.evals.breakdown import Breakdown, Part
from wayfare.store.summary import (
    ClusterSummary,
    Coverage,
    EpisodeCounts,
    MetricSummary,
    RepeatSummary,
)

SUCCESS = MetricSummary(
    n=98, mean=0.41, ci_low=0.32, ci_high=0.51, interval="wilson", errors_as_failures=0.402
)
SCENES = ClusterSummary(
    count=11, macro_mean=0.3, macro_ci_low=0.1, macro_ci_high=0.5, ci_low=0.2, ci_high=0.6
)
COUNTS = EpisodeCounts(total=100, completed=98, error=2, attempts=100)
PROOF = Coverage(certified=True, list_hash="0123456789", episodes=100, recorded=100, missing=0)


def words(*renderables):
    output = io.StringIO()
    Console(file=output, width=200).print(Group(*renderables), crop=False)
    return [line.split() for line in output.getvalue().splitlines()]


def test_the_denominator_says_how_errors_count():
    summary = replace(SUMMARY, episodes=COUNTS, metrics={"success": SUCCESS})
    line = "success 0.41 [0.32, 0.51] over 98 of 100 episodes; 2 errors; counted as failures: 0.40"
    assert list(describe_denominators(summary)) == [line]
    assert line.split() in words(render_summary(summary))


def test_scenes_have_a_mean_of_their_own():
    metrics = {"success": replace(SUCCESS, clusters={"scene": SCENES})}
    row = ["success", "11", "scenes", "0.300", "0.100", "to", "0.500", "0.200", "to", "0.600"]
    assert row in words(render_summary(replace(SUMMARY, metrics=metrics)))


def test_groups_of_equal_size_say_no_more_than_the_mean():
    metrics = {"success": replace(SUCCESS, clusters={"group": replace(SCENES, macro_mean=0.41)})}
    assert not any(
        "groups" in row for row in words(render_summary(replace(SUMMARY, metrics=metrics)))
    )


def test_repeats_show_where_the_variance_is():
    repeats = RepeatSummary(
        repeats=2,
        episodes=50,
        means=(0.4, 0.42),
        variance_between=0.2,
        variance_within=0.05,
        icc=0.8,
        standard_error=0.0671,
        standard_error_rerun=0.0224,
    )
    metrics = {"success": replace(SUCCESS, repeats=repeats)}
    row = ["success", "0.067", "0.022", "0.200", "0.050", "0.800", "0.400,", "0.420"]
    assert row in words(render_summary(replace(SUMMARY, metrics=metrics)))


def test_the_certificate_is_one_line_or_says_what_forbids_it():
    assert describe_coverage(PROOF, COUNTS) == (
        "certified: each of the 100 episodes counts exactly once (list 01234567)"
    )
    broken = replace(PROOF, certified=False, missing=3, problems=("episode e counts twice",))
    assert describe_coverage(broken, COUNTS).splitlines() == [
        "not certified (list 01234567): 3 of 100 episodes are missing",
        "episode e counts twice",
    ]


def test_an_uncertified_run_says_so_in_status_and_exit_status_and_has_nothing_to_go_on_with():
    summary = replace(SUMMARY, status="uncertified", coverage=replace(PROOF, certified=False))
    assert status_of(summary) is ExitStatus.FAILED
    shown = words(render_summary(replace(summary, coverage=None)))
    assert ["status", "uncertified,"] in [row[:2] for row in shown]
    assert not any(row[:3] == ["to", "go", "on"] for row in shown)


def test_a_breakdown_is_a_row_per_label():
    metric = MetricSummary(n=1, mean=7.5, ci_low=None, ci_high=None)
    parts = {
        "bed": Part(
            EpisodeCounts(total=2, completed=1, error=1), {"success": SUCCESS, "NE": metric}
        ),
        "": Part(EpisodeCounts(total=1, error=1), {}),
    }
    assert words(render_breakdown(Breakdown("goal", parts))) == [
        ["goal", "episodes", "errors", "NE", "success"],
        ["bed", "2", "1", "7.500", "0.410", "[0.320,", "0.510]"],
        ["-", "1", "1", "-", "-"],
    ]
