"""What the command says before a run that makes no sense, and of one that makes little."""

from __future__ import annotations

import json

import pytest

GRAPH = {
    "version": 1,
    "nodes": [
        {"id": "look", "type": "odd__look"},
        {"id": "length", "type": "graphOut", "config": {"portName": "length"}},
    ],
    "edges": [
        {"source": "look", "sourceHandle": "n", "target": "length", "targetHandle": "value"},
    ],
}


def test_a_nodeset_with_a_syntax_error_is_one_fault_with_its_own_reason(wayfare, workspace) -> None:
    workspace("odd.json", json.dumps(GRAPH))
    folder = workspace("odd.py", "class (:\n")
    answer = wayfare.run("eval", "odd", "--workspace", str(folder))
    assert answer.status == 2
    head, fault = answer.err.splitlines()
    assert head == "wayfare: the graph has 1 fault:"
    assert "odd.py:1: cannot be read as Python" in fault
    assert fault.endswith("Mend the file.")


def test_workers_without_an_episode_are_mentioned_once(wayfare) -> None:
    answer = wayfare.run("eval", "line", "--episodes", "1", "--workers", "2")
    assert answer.status == 0
    (note,) = (line for line in answer.err.splitlines() if "note:" in line)
    assert note.startswith("note: the run has fewer episodes (1) than workers (2);")


def test_an_empty_selection_of_episodes_is_a_mistake(wayfare) -> None:
    answer = wayfare.run("eval", "line", "--episodes", "")
    assert answer.status == 2
    assert answer.err == "wayfare: --episodes is empty; give it a value, or leave it out.\n"


STEERING = """
from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Look(BaseCanvasNode):
    node_type = "odd__look"
    output_ports = [PortDef("n", "INT", "how \\x1b[31mmany")]

    def forward(self, inputs, ctx):
        return {"n": 1}


class Odd(BaseNodeSet):
    name = "odd"
    description = "an \\x1b[2Jodd one"

    def initialize(self):
        print("a \\x1b[5mlog")
        raise RuntimeError("\\x1b]0;title\\x07no \\x9bengine")

    def get_tools(self):
        return [Look()]
"""


def test_no_text_of_an_author_or_a_file_steers_the_terminal(wayfare, workspace) -> None:
    workspace("odd.py", STEERING)
    folder = workspace("odd.json", json.dumps({**GRAPH, "nodes": [{"id": "\x1b[1m", "type": "x"}]}))
    told = [
        wayfare.run(*words, "--workspace", str(folder))
        for words in (("describe", "odd"), ("call", "odd__look"), ("eval", "odd"), ("nodesets",))
    ]
    printed = [answer.out + answer.err for answer in told]
    for text in printed:
        assert not set(text) & {"\x1b", "\x07", "\x9b"}
    assert "an \\x1b[2Jodd one" in printed[0]
    assert "RuntimeError: \\x1b]0;title\\x07no \\x9bengine" in printed[1]
    assert "\\x1b[1m" in printed[2]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("describe", "env_gymnasium", "--set", "episodes=0"), "'episodes' is 0; it must be a"),
        (("describe", "env_gymnax", "--set", "episodes=-1"), "'episodes' is -1; it must be a"),
        (("describe", "policy_cma", "--set", "pad_batch=1.5"), "'pad_batch' is 1.5; it must be"),
        (("describe", "policy_recurrent", "--set", "pad_batch=x"), "'pad_batch' is 'x'; it must"),
        (("eval", "cartpole_random", "--set", "env_gymnasium.id=No-v0"), "'id' is 'No-v0'; it"),
        (("eval", "cartpole_random", "--set", "env_gymnasium.seed_base=NaN"), "must be finite"),
        (("describe", "env_drift", "--set", "max_delay_s=NaN"), "has float nan at ['config']"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_a_wrong_setting_is_a_sentence_and_no_traceback(
    wayfare, command: tuple[str, ...], told: str
) -> None:
    answer = wayfare.run(*command)
    assert answer.status == 2
    assert told in answer.err + answer.out
    assert "Traceback" not in answer.err + answer.out


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("gian=2", "knows no config key 'gian' (got 2). Did you mean 'gain'?"),
        ("gain=abc", "takes a number as 'gain', like its default 1 (got 'abc')."),
        ("gain=true", "(got True). Write a number."),
        ("wrong=5", 'put it in quotes: "5", or --set nodes.act.wrong=\'"5"\'.'),
        ("gain=null", "(got None). Write a number."),
    ],
)
def test_a_wrong_setting_of_a_node_is_refused_before_a_run_is_there(
    wayfare, tmp_path, setting: str, told: str
) -> None:
    words = ("line", "--episodes", "2", "--set", f"nodes.act.{setting}")
    evaluated = wayfare.run("eval", *words, "--out", str(tmp_path / "runs"))
    assert evaluated.status == 2
    head, fault = evaluated.err.splitlines()
    assert head == "wayfare: the graph has 1 fault:"
    assert fault.startswith("  nodes[3] 'act'")
    assert "'policy_sum__act'" in fault
    assert told in fault
    assert not (tmp_path / "runs").exists()
    assert wayfare.run("check", *words).err == evaluated.err
