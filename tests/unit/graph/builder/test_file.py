"""What a file keeps of a graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wayfare.graph.builder import Graph
from wayfare.graph.document import load_graph
from wayfare.graph.fault import GraphError

GRAPHS = sorted((Path(__file__).resolve().parents[4] / "graphs").glob("*.json"))


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_loading_and_saving_loses_nothing(path, tmp_path):
    copy = tmp_path / "copy.json"
    Graph.load(path).save(copy)

    assert load_graph(copy) == load_graph(path)
    Graph.load(copy).save(copy)
    assert json.loads(copy.read_text()) == json.loads(path.read_text())
    assert [file.name for file in tmp_path.iterdir()] == ["copy.json"]


def test_where_the_schema_is_stays_the_first_line_of_a_file(tmp_path):
    graph = Graph("agent")
    graph.editor_schema = "graph.schema.json"
    graph.save(tmp_path / "agent.json")
    text = (tmp_path / "agent.json").read_text()
    assert text.startswith('{\n  "$schema": "graph.schema.json",\n  "version": 1,')
    assert Graph.load(tmp_path / "agent.json").document == graph.document


def test_a_loaded_graph_goes_on(tmp_path):
    graph = Graph("agent")
    graph.add("env__reset")
    graph.layout = {"reset": {"x": 1, "y": 2}}
    graph.save(tmp_path / "agent.json")

    loaded = Graph.load(tmp_path / "agent.json")
    assert "reset" in loaded
    loaded.output("state", loaded["reset"].state)
    assert loaded.document.layout == {"reset": {"x": 1, "y": 2}}
    assert [node.id for node in loaded.document.nodes] == ["reset", "state"]
    with pytest.raises(KeyError, match=r"no node 'rest'. Did you mean 'reset'"):
        loaded["rest"]


def test_a_file_with_an_unknown_key_is_not_loaded_without_it(tmp_path):
    path = tmp_path / "agent.json"
    path.write_text('{"version": 1, "nodes": [], "colour": "red"}')
    with pytest.raises(GraphError, match="key 'colour' is not known"):
        Graph.load(path)


def test_each_node_and_edge_has_a_line_of_its_own(tmp_path):
    graph = Graph()
    graph.add("env__step", state=graph.add("env__reset").state)
    graph.save(tmp_path / "agent.json")
    assert len((tmp_path / "agent.json").read_text().splitlines()) == 10
