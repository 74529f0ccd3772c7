"""Manifests for builders, and a way to run the code that a document is turned into."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from typing import Any

import pytest

from wayfare.graph.builder import Graph
from wayfare.graph.document import GraphDocument


def port(name: str, wire_type: str, **more: bool) -> dict[str, Any]:
    return {"name": name, "wire_type": wire_type, "description": "", **more}


def tool(name: str, inputs: list[Any], outputs: list[Any], **config: Any) -> dict[str, Any]:
    return {"name": name, "inputs": inputs, "outputs": outputs, "default_config": config}


@pytest.fixture
def manifests() -> dict[str, Any]:
    """Give an environment and a policy."""
    env = [
        tool("reset", [], [port("state", "JSON"), port("rgb", "IMAGE")]),
        tool(
            "step",
            [port("state", "JSON"), port("action", "ACTION")],
            [port("state", "JSON"), port("done", "BOOL"), port("reward", "FLOAT")],
            noise=0.0,
        ),
        tool("evaluate", [port("state", "JSON")], [port("metrics", "METRICS")]),
    ]
    policy = [
        tool(
            "act",
            [port("state", "JSON"), port("goal", "TEXT", optional=True), port("scale", "FLOAT")],
            [port("action", "ACTION"), port("memory", "JSON")],
            scale=1.0,
            greedy=False,
        )
    ]
    return {
        "env": {"name": "env", "class_name": "Env", "default_config": {"size": 1}, "tools": env},
        "policy": {"name": "policy", "class_name": "P", "default_config": {}, "tools": policy},
    }


@pytest.fixture
def graph(manifests: dict[str, Any]) -> Graph:
    """Give a builder that knows the manifests."""
    return Graph("agent", manifests=manifests)


@pytest.fixture(scope="session")
def rebuild(tmp_path_factory: pytest.TempPathFactory) -> Callable[[GraphDocument], GraphDocument]:
    """Give a function that runs a document's code as a script and returns what it builds."""
    script = tmp_path_factory.mktemp("code") / "agent.py"

    def run(document: GraphDocument) -> GraphDocument:
        script.write_text(Graph.from_document(document).to_code(), encoding="utf-8")
        built: GraphDocument = runpy.run_path(str(script))["graph"].document
        return built

    return run
