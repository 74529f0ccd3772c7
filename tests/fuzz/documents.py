"""Fuzz the reading and checking of graph documents: damaged shipped graphs, as text and as trees.

Knows nothing of how graphs run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.mutation import mutate, mutate_tree
from tests.fuzz.tally import Tally

from wayfare.evals.library import read_manifests_async
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.document import GraphDocument, load_graph, parse_graph
from wayfare.graph.fault import Fault, GraphError
from wayfare.graph.flatten import embed_graphs
from wayfare.graph.identity import semantic_hash
from wayfare.graph.plan import compile_plan
from wayfare.graph.validate import validate
from wayfare.graph.writing import format_graph

ROOT = Path(__file__).resolve().parents[2]
WORKSPACES = (ROOT / "tests" / "workspace", ROOT / "examples")
KINDS = (
    *("config", "config-key", "cycle", "dangling-edge", "double-edge", "duplicate-id"),
    *("duplicate-input", "duplicate-result", "environment", "loop", "loop-escape", "no-result"),
    *("node-id", "node-type", "nodeset", "not-json", "number", "recursion", "schema", "size"),
    *("text", "top-level", "top-only", "type", "unknown-key", "unknown-port", "unreachable"),
    *("unreadable", "unwired", "version", "volatile"),
)
RULES = {kind: f"^{kind}: .+: .+" for kind in KINDS}


class Corpus:
    """The shipped graphs and those of examples and tests, with what is needed to check them."""

    def __init__(self) -> None:
        self.registry = WorkspaceComponentRegistry(WORKSPACES)
        self.texts = [entry.path.read_text("utf-8") for entry in self.registry.graphs]
        self.trees = [json.loads(text) for text in self.texts]
        self.manifests: Mapping[str, Any] = asyncio.run(read_manifests_async(workspaces=WORKSPACES))

    def find(self, name: str) -> GraphDocument:
        entries = {entry.name: entry for entry in self.registry.graphs}
        if name not in entries:
            raise GraphError([Fault("config", f"graph {name!r}", "is not known", "Name another.")])
        return load_graph(entries[name].path)

    def draw(self, rng: Random) -> str:
        """Return the text of a fuzzed document."""
        if rng.random() < 0.3:
            text = rng.choice(self.texts).encode()
            return mutate(rng, text).decode(errors="replace")
        return json.dumps(mutate_tree(rng, rng.choice(self.trees), most=rng.choice((1, 2, 4))))

    def check(self, text: str) -> list[Fault]:
        """Return the faults of a document; one without faults must compile and survive writing."""
        document = embed_graphs(parse_graph(text), self.find)
        faults = validate(document, self.manifests)
        if not faults:
            compile_plan(document, self.manifests, frozenset(document.nodesets))
            again = parse_graph(format_graph(document))
            assert semantic_hash(again) == semantic_hash(document)
        return faults


def fuzz_documents(seed: int, count: int) -> Tally:
    """Read and check `count` fuzzed documents."""
    corpus = Corpus()
    tally = Tally(RULES)

    def one(number: int) -> None:
        rng = Random(f"{seed}/{number}")
        text = corpus.draw(rng)
        try:
            faults = corpus.check(text)
        except GraphError as error:
            faults = list(error.faults)
        if not faults:
            tally.accepted()
        for fault in faults:
            tally.refused(f"{fault.kind}: {fault}", text)

    tally.run(count, one)
    return tally
