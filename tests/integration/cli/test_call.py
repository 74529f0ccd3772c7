"""Call tools by hand, in real copies."""

from __future__ import annotations

import json

import pytest

DEADLY = """
import os
from nodeset import BaseCanvasNode, BaseNodeSet, PortDef

class Die(BaseCanvasNode):
    node_type = "deadly__die"
    output_ports = [PortDef("x", "INT")]

    def forward(self, inputs, ctx):
        print("last words", flush=True)
        os._exit(7)

class Deadly(BaseNodeSet):
    name = "deadly"

    def get_tools(self):
        return [Die()]
"""


def call(wayfare, *words, status=0):
    answer = wayfare.run("call", *words, "--json")
    assert answer.status == status, answer.err
    return answer.document


def test_an_episode_begins_as_in_a_run(wayfare):
    line = ("env_drift__step", "action=3", "then", "env_drift__evaluate", "--episode", "2")

    document = call(wayfare, *line)

    (step, score) = document["calls"]
    assert step["outputs"]["at"] == 3
    # The controller sets the goal to 4 + 2; a second begin_episode would spoil `begun`.
    assert score["outputs"]["metrics"] == {"success": False, "overshoot": -3, "begun": 1}
    assert (document["episode"]["index"], document["episode"]["scene_id"]) == (2, "line2")


def test_the_seed_of_an_episode_is_that_of_a_run(wayfare):
    run = wayfare.evaluate("drift", "--episodes", "1", "--seed", "5")
    recorded = wayfare.show(run["run_id"])["episodes_table"][0]

    document = call(wayfare, "env_drift__look", "--episode", "0", "--seed", "5")

    assert document["episode"]["id"] == recorded["episode_id"]
    again = call(wayfare, "env_drift__look", "--episode", "0", "--seed", "5")
    other = call(wayfare, "env_drift__look", "--episode", "0", "--seed", "6")
    assert again == document
    assert other["episode"]["seed"] != document["episode"]["seed"]


def test_an_episode_of_a_nodeset_that_is_not_called(wayfare):
    line = ("policy_sum__act", "seen=[1, 2, 3, 4]", "--environment", "env_drift")

    document = call(wayfare, *line, "--set", "env_drift.count=3", "--episode", "2")

    assert (document["episode"]["index"], document["episode"]["scene_id"]) == (2, "line2")
    assert [one["tool"] for one in document["calls"]] == ["policy_sum__act"]


def test_state_lives_from_call_to_call_of_one_line(wayfare):
    look = ("env_drift__look", "then")

    document = call(wayfare, *look, *look, "env_drift__look", "--episode", "0")

    assert [one["outputs"]["looks"] for one in document["calls"]] == [1, 2, 3]


def test_an_output_can_be_the_next_calls_input(wayfare):
    line = ("env_line__observe", "episode_index=4", "then", "policy_sum__act", "seen=@observe.seen")

    document = call(wayfare, *line, "--episode", "4")

    assert document["calls"][0]["outputs"]["seen"]["shape"] == [4]
    assert document["calls"][1]["outputs"]["action"] in (0, 1)


def test_nodesets_and_nodes_are_configured(wayfare):
    configured = ("--set", "env_drift.count=2", "--node-config", "gain=5", "--episode")
    line = ("env_drift__look", "then", "policy_sum__act", "seen=[1, 2, 3, 4]")

    document = call(wayfare, *line, *configured, "1")
    refused = wayfare.run("call", *line, *configured, "2")

    assert document["calls"][1]["outputs"]["gain"] == 5
    assert refused.status == 2
    assert "--episode 2: split 'test' of 'env_drift' has 2 episodes" in refused.err


def test_an_authors_error_is_shown_with_its_traceback_after_what_went_well(wayfare):
    line = ("env_drift__look", "then", "policy_sum__act", "seen=[1, 2]", "--episode", "0")

    answer = wayfare.run("call", *line)
    document = call(wayfare, *line, status=1)

    assert answer.status == 1
    assert "seen.shape == (len(ctx.rows), 4)" in answer.err
    assert answer.err.rstrip().splitlines()[-1].startswith("wayfare: ")
    assert answer.out.count("env_drift__look") == 1
    assert (document["error"]["at"], len(document["calls"])) == ("policy_sum__act", 1)


def test_an_error_of_begin_episode_is_the_authors(wayfare):
    line = ("env_drift__look", "--set", "env_drift.fail_at=3", "--episode", "3")

    document = call(wayfare, *line, status=1)

    assert document["error"]["at"] == "begin_episode"
    assert "episode 3 is broken" in document["error"]["message"]


def test_a_copy_that_dies_is_told_with_its_last_words(wayfare, workspace):
    folder = workspace("deadly.py", DEADLY)

    answer = wayfare.run("call", "deadly__die", "--workspace", str(folder))

    assert answer.status == 3
    assert "exit status 7" in answer.err
    assert "last words" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("env_drift__step",), "input 'action' (ACTION): got nothing"),
        (("env_drift__look", "--set", "env_drift.no=1"), "has no configuration 'no'"),
        (("policy_sum__act", "seen=[1]", "--episode", "0"), "brings episodes; none does"),
        (("env_drift__look", "--episode", "0", "--split", "no"), "--split 'no' is none of"),
        (("env_drift__look", "--split", "test"), "needs --episode"),
        (("env_drift__look", "--environment", "env_drift"), "needs --episode"),
        (
            ("policy_sum__act", "seen=[1]", "--episode", "0", "--environment", "policy_sum"),
            "brings no episodes",
        ),
    ],
)
def test_a_mistake_is_told_without_a_traceback(wayfare, words, reason):
    answer = wayfare.run("call", *words)

    assert answer.status == 2
    assert reason in answer.err
    assert "Traceback" not in answer.err
    assert answer.out == ""


def test_json_is_one_strict_document(wayfare, tmp_path):
    answer = wayfare.run(
        "call", "env_drift__look", "--episode", "0", "--out", str(tmp_path / "a"), "--json"
    )

    json.loads(answer.out, parse_constant=pytest.fail)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["env_drift__look.seen.npy"]
