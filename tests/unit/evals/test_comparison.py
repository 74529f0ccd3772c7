"""Two made-up runs side by side: what differs is named, what is left out is counted."""

import json

import pytest

from nodeset.digest import digest_value
from wayfare.evals.comparison import ComparisonRefusedError, compare_runs, comparison_document
from wayfare.evals.digest import episode_digest
from wayfare.store.records import (
    EpisodeKey,
    EpisodeRecord,
    ErrorRecord,
    Firing,
    NodesetRecord,
    PlannedEpisode,
    RunHeader,
)
from wayfare.store.run import RunReader
from wayfare.store.writer import RunWriter

EDGES = (
    "turn.state act.state",
    "act.action step.action",
    "step.state next.state",
    "step.done next.stop",
    "next.final_state score.state",
    "score.success success.value",
)
NODES = [
    {"id": "turn", "type": "iterIn", "config": {"ports": ["state"]}},
    {"id": "act", "type": "policy__act"},
    {"id": "step", "type": "env__step"},
    {"id": "next", "type": "iterOut", "config": {"loop": "turn", "ports": ["state"]}},
    {"id": "score", "type": "judge__score", "config": {"threshold": 3.0}},
    {"id": "success", "type": "graphOut", "config": {"portName": "success"}},
]


def graph(nodes=NODES):
    handles = ("source", "sourceHandle", "target", "targetHandle")
    edges = [dict(zip(handles, text.replace(" ", ".").split("."), strict=True)) for text in EDGES]
    return {"version": 1, "nodes": nodes, "edges": edges}


def key(number, list_hash="0123456789", repeat=0):
    return EpisodeKey("env", list_hash, "val", "scene", str(number), repeat)


def nodeset(source_hash="cc", **changes):
    fields = {"class_name": "C", "file": "f.py", "parallelism": "shared"}
    return NodesetRecord(source_hash=source_hash, **{**fields, **changes})


def header(keys, **changes):
    fields = {
        "created": "2026-01-02T03:04:05Z",
        "graph": graph(),
        "graph_hash": "aa",
        "graph_name": "agent",
        "seed": 7,
        "worker_count": 2,
        "split": "val",
        "episodes": tuple(PlannedEpisode(key=k, index=n) for n, k in enumerate(keys)),
        "episodes_hash": digest_value([list(k.parts) for k in keys]).hex(),
        "nodesets": {name: nodeset() for name in ("env", "policy", "judge")},
    }
    return RunHeader(**{**fields, **changes})


def course(turns=3, **other):
    """Fire `act` and `step` in every turn, then `score`; `other` are values by path and turn."""
    places = [(path, (turn,)) for turn in range(turns) for path in ("step", "act")]
    return [
        Firing(path, at, digest_value(other.get("_".join([path, *map(str, at)]), 0)))
        for path, at in [("score", ()), *places]
    ]


class Runs:
    """Writes runs of episodes 0, 1, 2 with the given courses, and compares two of them."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, episodes, *, unfinished=(), list_hash="0123456789", **changes):
        keys = [key(number, list_hash) for number in range(len(episodes))]
        plan = header([*keys, *(key(number, list_hash) for number in unfinished)], **changes)
        with RunWriter.create(self.folder, plan) as writer:
            for number, (episode, episode_key) in enumerate(zip(episodes, keys, strict=True)):
                firings, fields = episode if isinstance(episode, tuple) else (episode, {})
                result = {"outcome": "completed", "metrics": {"success": True}, **fields}
                digest = episode_digest(episode_key, firings=firings, **result).hex()
                common = {"key": episode_key, "index": number, "worker": 0, "digest": digest}
                writer.append(EpisodeRecord(**common, **result), firings)
        return RunReader.open(writer.folder, self.folder)

    def compare(self, a, b, **options):
        return compare_runs(self.write(a), self.write(b), **options)


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def fault(node, turn):
    error = ErrorRecord(kind="author", type="ValueError", message="bad", node=node, turns=(turn,))
    return {"outcome": "error", "metrics": {}, "error": error}


def test_equal_runs_are_equal_whatever_their_workers(runs):
    found = compare_runs(
        runs.write([course(), course()], worker_count=1),
        runs.write([course(), course()], worker_count=8),
    )
    assert (found.equal, found.same_agent, found.first_divergence) == (True, True, None)
    assert (found.episodes.pairs, found.episodes.equal) == (2, 2)


def test_the_first_firing_that_differs_is_named_by_episode_turn_and_node(runs):
    found = runs.compare(
        [course(), course(), course()],
        [course(), course(score=1, step_1=1, act_1=1), course(act_0=1)],
    )
    first = found.first_divergence
    assert (first.episode_id, first.node, first.turns) == ("1", "act", (1,))
    assert [(d.episode_id, d.node, d.turns) for d in found.divergences][1] == ("2", "act", (0,))
    assert (first.firings_equal, first.firings_different) == (4, 3)
    assert not found.equal


def test_a_firing_that_one_run_lacks_is_named(runs):
    found = runs.compare([course(2)], [course(3)]).first_divergence
    assert (found.how, found.node, found.turns) == ("fired in b only", "act", (2,))
    assert found.firings_only_b == 2
    found = runs.compare([course(3)], [course(2)]).first_divergence
    assert (found.how, found.node, found.turns) == ("fired in a only", "act", (2,))


def test_firings_that_an_error_left_out_are_no_divergence_but_the_error_is(runs):
    found = runs.compare([course(3)], [(course(1), fault("step", 1))]).first_divergence
    assert (found.how, found.node, found.turns) == ("error", "step", (1,))
    assert found.error_b == "ValueError in node 'step' at turn 1: bad"
    assert (found.outcome_a, found.outcome_b) == ("completed", "error")


def test_other_outputs_before_an_error_come_first(runs):
    found = runs.compare([course(3)], [(course(2, act_0=1), fault("step", 1))]).first_divergence
    assert (found.how, found.node, found.turns) == ("other outputs", "act", (0,))


def test_episodes_that_fail_alike_are_equal(runs):
    assert runs.compare([(course(1), fault("act", 1))], [(course(2), fault("act", 1))]).equal


def test_another_result_of_equal_firings_is_named(runs):
    truncated = {"outcome": "truncated", "metrics": {}, "undefined": {"success": "cut"}}
    found = runs.compare([course()], [(course(), truncated)]).first_divergence
    assert (found.how, found.node, found.metrics) == ("other result", "", ("success",))


def test_what_is_finished_in_one_run_or_in_none_is_counted(runs):
    a = runs.write([course(), course()], unfinished=[2])
    b = runs.write([course()], unfinished=[1, 2])
    found = compare_runs(a, b)
    counts = found.episodes
    assert (counts.pairs, counts.equal, counts.different, counts.unfinished) == (3, 1, 1, 1)
    assert found.first_divergence.how == "not finished"
    success = found.metrics["success"]
    assert (success.difference.n, success.left_out) == (1, 2)
    assert success.reasons_b == {"episode not finished": 2}


def test_runs_with_nothing_finished_in_both_are_refused(runs):
    with pytest.raises(ComparisonRefusedError, match="1 episodes in common and none"):
        compare_runs(runs.write([course()]), runs.write([], unfinished=[0]))


def test_undefined_and_failed_pairs_are_counted_with_their_reasons(runs):
    undefined = (course(), {"metrics": {}, "undefined": {"success": "no goal"}})
    failed = (course(1), fault("act", 1))
    other = (course(), {"metrics": {"other": 1.0}})
    found = runs.compare(
        [course(), undefined, course(), undefined], [course(), failed, other, course()]
    )
    success = found.metrics["success"]
    assert (success.difference.n, success.left_out) == (1, 3)
    assert success.reasons_a == {"no goal": 2}
    assert success.reasons_b == {"episode ended in error": 1, "not produced": 1}


def test_repeats_and_groups_are_one_cluster(runs):
    def write(values, group):
        keys = [key(0, repeat=number) for number in range(len(values))]
        episodes = tuple(PlannedEpisode(key=k, index=0, group=group) for k in keys)
        with RunWriter.create(runs.folder, header(keys, episodes=episodes)) as writer:
            for k, value in zip(keys, values, strict=True):
                fields = {"key": k, "index": 0, "outcome": "completed", "worker": 0}
                digest = digest_value([*k.parts, value]).hex()
                writer.append(
                    EpisodeRecord(**fields, metrics={"success": value}, digest=digest), []
                )
        return RunReader.open(writer.folder, runs.folder)

    for group in ("", "path 1"):
        found = compare_runs(write([False] * 8, group), write([True] * 8, group))
        difference = found.metrics["success"].difference
        assert (difference.method, difference.p_value) == ("cluster sign flips", 1.0)


def test_other_lists_are_refused_by_name_and_compared_anyway(runs):
    a = runs.write([course(), course(), course()])
    b = runs.write([course(), course(act_2=1)], list_hash="ffff")
    with pytest.raises(ComparisonRefusedError, match="hash of the environment's list"):
        compare_runs(a, b)
    found = compare_runs(a, b, anyway=True)
    assert (found.episodes.pairs, found.episodes.equal) == (2, 1)
    assert found.episodes.only_a == (key(2).text,)
    assert [term.what for term in found.terms] == [
        "hash of the environment's list",
        "number of episodes",
    ]
    assert (found.first_divergence.node, found.first_divergence.turns) == ("act", (2,))


def test_as_many_but_other_episodes_are_refused(runs):
    a, b = runs.write([course()], unfinished=[1]), runs.write([course()], unfinished=[2])
    with pytest.raises(ComparisonRefusedError, match="list of episodes"):
        compare_runs(a, b)


def test_the_document_is_strict_json(runs):
    found = runs.compare([course(), course()], [course(), course(act_1=1)])
    document = json.loads(json.dumps(comparison_document(found), allow_nan=False))
    assert document["first_divergence"]["turns"] == [1]
    success = document["metrics"]["success"]
    assert (success["n"], success["difference"], success["p_value"]) == (2, 0.0, 1.0)
    assert (success["method"], success["detectable"]) == ("mcnemar", None)
    assert (success["left_out"], success["reasons_a"], success["reasons_b"]) == (0, {}, {})
