"""Say what two runs were told differently: agents, lists of episodes, what their metrics mean.

Knows nothing of what came of it; the runs' headers are all it reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wayfare.evals.comparison_metric import define_metrics
from wayfare.graph import difference
from wayfare.graph.document import GraphDocument, read_graph
from wayfare.graph.fault import NO_VALUE
from wayfare.store.records import NodesetRecord, RunHeader

About = Literal["graph", "nodeset", "setting", "version", "episodes", "metric"]
Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that two runs were told differently; a side without a value has None."""

    about: About
    change: Literal["added", "removed", "changed", "reordered"]
    what: str
    a: Any = None
    b: Any = None

    def __str__(self) -> str:
        before = NO_VALUE if self.a is None and self.change == "removed" else self.a
        after = NO_VALUE if self.b is None and self.change == "added" else self.b
        return str(difference.Change(self.change, self.what, before, after))


def graph_of(header: RunHeader) -> GraphDocument:
    """Return the graph that a run ran. Raises GraphError."""
    return read_graph(header.graph, f"run {header.run_id}")


def find_agent_differences(a: RunHeader, b: RunHeader) -> list[Difference]:
    """Return every difference that may change what an episode comes to."""
    changes = difference.diff(graph_of(a), graph_of(b))
    found = [
        Difference("graph", change.kind, change.what, _plain(change.before), _plain(change.after))
        for change in changes
    ]
    known = {change.what for change in changes}
    nodesets = compare_facts("nodeset", _nodeset_facts(a, b), _nodeset_facts(b, a))
    found += [entry for entry in nodesets if entry.what not in known]
    settings = [
        {"seed": run.seed, "--step-budget": run.settings.get("step_budget")} for run in (a, b)
    ]
    found += compare_facts("setting", *settings)
    return [*found, *compare_facts("version", _versions(a), _versions(b))]


def find_term_differences(a: RunHeader, b: RunHeader) -> list[Difference]:
    """Return what makes two runs no comparison of like with like: episodes and metrics."""
    found = list(compare_facts("episodes", _list_facts(a), _list_facts(b)))
    if a.episodes_hash != b.episodes_hash and not found:
        sizes = [f"{len(run.episodes)} episodes ({run.episodes_hash[:8]})" for run in (a, b)]
        found.append(Difference("episodes", "changed", "list of episodes", *sizes))
    metrics = define_metrics(graph_of(a), a), define_metrics(graph_of(b), b)
    found += compare_facts("metric", *metrics)
    return [*found, *find_definition_differences(a, b)]


def find_definition_differences(a: RunHeader, b: RunHeader) -> list[Difference]:
    """Return what the environments of two runs say otherwise of a metric that both speak of.

    Such as its unit, its threshold, or when it is undefined: numbers under one name that are two
    things.
    """
    return list(compare_facts("metric", _definition_facts(a, b), _definition_facts(b, a)))


def compare_facts(about: About, a: Facts, b: Facts) -> Iterator[Difference]:
    """Yield what one of them says and the other doesn't, or says otherwise."""
    for what in dict.fromkeys([*a, *b]):
        if what not in b:
            yield Difference(about, "removed", what, a=a[what])
        elif what not in a:
            yield Difference(about, "added", what, b=b[what])
        elif _text(a[what]) != _text(b[what]):
            yield Difference(about, "changed", what, a[what], b[what])


def _list_facts(header: RunHeader) -> Facts:
    if not header.episodes:
        return {"split": header.split}
    key = header.episodes[0].key
    return {
        "environment": key.environment,
        "split": key.split,
        "hash of the environment's list": key.list_hash,
        "number of episodes": len(header.episodes),
    }


def _definition_facts(header: RunHeader, other: RunHeader) -> Facts:
    return {
        f"{key} of metric {name!r}": value
        for name, facts in sorted(header.metric_definitions.items())
        if name in other.metric_definitions
        for key, value in sorted(facts.items())
    }


def _nodeset_facts(header: RunHeader, other: RunHeader) -> dict[str, Any]:
    """Return what each nodeset was; one that the other run lacks is a single fact."""
    facts: dict[str, Any] = {}
    for name, nodeset in sorted(header.nodesets.items()):
        facts[f"nodeset {name!r}"] = nodeset.class_name
        if name in other.nodesets:
            facts |= facts_of(nodeset, f"of nodeset {name!r}")
    return facts


def facts_of(nodeset: NodesetRecord, of: str) -> dict[str, Any]:
    return {
        f"code {of}": nodeset.source_hash,
        f"parallelism {of}": nodeset.parallelism,
        **{f"{key} {of}": value for key, value in sorted(nodeset.config.items())},
        f"Python {of}": nodeset.python,
        **{f"package {name} {of}": v for name, v in sorted(nodeset.packages.items())},
        f"locked environment {of}": nodeset.environment,
        f"threads {of}": nodeset.threads,
    }


def _versions(header: RunHeader) -> Facts:
    return {f"version of {name}": text for name, text in sorted(header.versions.items())}


def _plain(value: object) -> Any:
    return None if value is NO_VALUE else value


def _text(value: Any) -> str:
    """Return a value so that 1, 1.0 and true are three, as they are to a nodeset."""
    return json.dumps(value, sort_keys=True)
