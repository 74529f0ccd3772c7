"""Describe made-up nodesets by the manifests that they would have."""

from __future__ import annotations

import pytest


def ports(text):
    """Read `name:TYPE` words; a `?` after the type: optional."""
    pairs = (word.split(":") for word in text.split())
    return [
        {
            "name": name,
            "wire_type": kind.rstrip("?"),
            "description": "",
            "optional": kind.endswith("?"),
            "volatile": False,
        }
        for name, kind in pairs
    ]


def describe(name, tools, *, mode="shared", metadata=None, config=None):
    """Return the manifest of {tool: "inputs -> outputs"}."""
    described = []
    for tool, text in tools.items():
        inputs, outputs = text.split("->")
        described.append(
            {
                "name": tool,
                "node_type": f"{name}__{tool}",
                "inputs": ports(inputs),
                "outputs": ports(outputs),
                "default_config": config or {},
            }
        )
    return {
        "name": name,
        "class_name": name.title(),
        "parallelism": mode,
        "default_config": {},
        "tools": described,
        "metadata": metadata,
    }


@pytest.fixture(scope="session")
def make_manifest():
    """Give a function from {tool: "inputs -> outputs"} to the nodeset's manifest."""
    return describe


@pytest.fixture(scope="session")
def make_environment():
    """Give the same for a nodeset `env` that brings episodes."""

    def make(tools, mode="shared", metrics=()):
        metadata = {"splits": ["test"], "default_split": "test", "metrics": list(metrics)}
        return describe("env", tools, mode=mode, metadata=metadata)

    return make
