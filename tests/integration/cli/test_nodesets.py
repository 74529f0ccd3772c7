"""`wayfare nodesets` says at a glance what can run here, `describe` what helps where it can't."""

from __future__ import annotations

import json

import pytest

NODESET = """
from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef
{top}


class Look(BaseCanvasNode):
    node_type = "{name}__look"
    output_ports = [PortDef("n", "INT")]

    def forward(self, inputs, ctx):
        return {{"n": 1}}


class Some(BaseNodeSet):
    name = {name!r}
    description = "the one called {name}"
    deployment = Deployment(python={python!r}, memory_limit=300 * 2**20)

    def get_tools(self):
        {body}
        return [Look()]
"""
FAULTY = {
    "afar": {"python": "conda:no_such_place"},
    "bare": {"top": "import no_such_module.part"},
    "lame": {"body": "raise RuntimeError('no engine')"},
}
NEEDS = {
    "afar": "conda environment 'no_such_place'",
    "bare": "module 'no_such_module' in its interpreter",
    "lame": "code that starts: RuntimeError: no engine",
}


@pytest.fixture
def folder(workspace) -> str:
    """Give a workspace: one nodeset that can run, three that can't, and a graph of each."""
    for name, fault in {"fine": {}, **FAULTY}.items():
        parts = {"top": "", "body": "", "python": None, **fault}
        workspace(f"{name}.py", NODESET.format(name=name, **parts))
        node = {"id": "a", "type": f"{name}__look"}
        path = workspace(f"{name}_agent.json", json.dumps({"version": 1, "nodes": [node]}))
    return str(path)


def rows(text: str) -> dict[str, str]:
    """Return what a table says beside the first word of each line."""
    words = (line.split(maxsplit=1) for line in text.splitlines())
    return {pair[0]: pair[1] for pair in words if len(pair) == 2}


def test_the_list_parts_what_can_run_from_what_lacks_something_in_a_few_words(
    wayfare, folder: str
) -> None:
    answer = wayfare.run("nodesets", "fine", *FAULTY, "--workspace", folder)
    assert answer.status == 0
    here, lacking = answer.out.split("These lack something:")
    assert rows(here)["fine"].endswith("the one called fine")
    assert {name: rows(lacking)[name] for name in NEEDS} == {
        name: f"replicated  {need}" for name, need in NEEDS.items()
    }
    assert "Traceback" not in answer.out
    assert max(map(len, answer.out.splitlines())) < 120


def test_describe_and_json_have_the_whole_reason_and_what_provides_it(wayfare, folder: str) -> None:
    answer = wayfare.run("nodesets", "--json", "--workspace", folder)
    found = {row["name"]: row for row in answer.document["nodesets"]}
    assert "conda create --name no_such_place" in found["afar"]["unavailable"]
    assert "Traceback" in found["bare"]["unavailable"]
    assert {name: found[name]["need"] for name in ("fine", *NEEDS)} == {"fine": "", **NEEDS}
    described = wayfare.run("describe", "afar", "--workspace", folder)
    assert described.status == 2
    assert "conda create --name no_such_place" in described.out


def test_each_graph_is_told_to_run_here_or_what_it_lacks(wayfare, folder: str) -> None:
    answer = wayfare.run("nodesets", "--graphs", "--workspace", folder)
    assert answer.status == 0
    here, lacking = (rows(part) for part in answer.out.split("These lack something:"))
    assert here["fine_agent"] == "fine"
    assert "cartpole_random" in here
    assert {name: lacking[f"{name}_agent"] for name in NEEDS} == {
        name: f"{name}: {need}" for name, need in NEEDS.items()
    }
    document = wayfare.run("nodesets", "--json", "--workspace", folder).document
    graphs = {row["name"]: row for row in document["graphs"]}
    assert graphs["fine_agent"]["can_run"]
    assert graphs["afar_agent"]["lacks"] == {"afar": NEEDS["afar"]}


def test_who_names_no_graph_or_a_wrong_one_is_led_to_the_list(wayfare) -> None:
    for words in (("eval",), ("eval", "cartpole_randon")):
        answer = wayfare.run(*words)
        assert answer.status == 2
        assert "`wayfare nodesets --graphs` lists all" in answer.err
        assert len(answer.err.splitlines()) == 1
    assert "Did you mean 'cartpole_random'?" in answer.err
