"""What `wayfare compare` prints for people."""

import io

from rich.console import Console

from wayfare.cli.comparison_view import describe_place, render_comparison
from wayfare.evals.comparison import ComparedRun, Comparison, EpisodeComparison
from wayfare.evals.comparison_divergence import Divergence
from wayfare.evals.comparison_header import Difference
from wayfare.evals.comparison_statistics import PairedDifference
from wayfare.evals.comparison_table import MetricComparison
from wayfare.evals.comparison_value import ValueDifference

VALUE = ValueDifference(
    node="step", turns=(7,), port="action", source="act.action", place="", a="1", b="0"
)


def divergence(**changes):
    fields = {
        "key": "env@01/val/s/4/0",
        "episode_id": "4",
        "scene_id": "s",
        "repeat": 0,
        "how": "other outputs",
        "node": "act",
        "turns": (7,),
        "values": (VALUE,),
    }
    return Divergence(**{**fields, **changes})


def draw(divergences=(), **changes):
    run = ComparedRun(
        run_id="r",
        out="/runs/r",
        graph="agent",
        worker_count=1,
        total=2,
        finished=2,
        error=0,
        digest="ab",
        unclaimed=("policy__act",),
    )
    counts = EpisodeComparison(pairs=2, equal=1, different=1, unfinished=0, only_a=(), only_b=())
    fields = {
        "equal": not divergences,
        "a": run,
        "b": run,
        "same_agent": True,
        "agent": (),
        "terms": (),
        "episodes": counts,
        "divergences": tuple(divergences),
        "metrics": {},
        "first_divergence": divergences[0] if divergences else None,
    }
    console = Console(file=io.StringIO(), width=200)
    console.print(render_comparison(Comparison(**{**fields, **changes})))
    return console.file.getvalue()


def test_the_first_divergence_stands_with_the_values_that_were_recorded():
    text = draw([divergence(inputs_equal=True)])
    assert "First divergence: episode env@01/val/s/4/0, turn 7, node 'act': other outputs" in text
    assert "its inputs are equal in both runs" in text
    assert "step.action (from act.action) at turn 7: 1 -> 0" in text


def test_runs_that_differ_without_a_reason_are_told_what_forbids_the_claim():
    assert "the batch size may change the last bits of policy__act" in draw([divergence()])
    difference = Difference("setting", "changed", "seed", 1, 2)
    text = draw([divergence()], same_agent=False, agent=(difference,))
    assert "~ seed: 1 -> 2" in text
    assert "last bits" not in text


def test_errors_are_told_and_their_firings_are_not_counted():
    text = draw([divergence(how="error", error_b="ValueError: bad", firings_only_a=9, values=())])
    assert "turn 7, node 'act': an error" in text
    assert "b: ValueError: bad" in text
    assert "9 of 9" not in text


def test_ten_episodes_are_listed_and_the_others_counted():
    assert "and 2 more, which --json lists" in draw([divergence()] * 12)


def test_pairs_that_are_left_out_stand_with_their_reasons():
    found = PairedDifference(n=0)
    metric = MetricComparison(
        difference=found, left_out=2, reasons_a={"no goal": 2}, reasons_b={"not produced": 1}
    )
    assert "2 (a: 2 no goal; b: 1 not produced)" in draw(metrics={"success": metric})
    full = MetricComparison(difference=found, left_out=0, reasons_a={}, reasons_b={})
    assert "left out" not in draw(metrics={"success": full})


def test_a_place_is_told_by_turns_and_node():
    assert describe_place("act", (7, 2)) == "turn 7.2, node 'act'"
    assert describe_place("score", ()) == "node 'score'"
