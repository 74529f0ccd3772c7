"""Say how one agent differs from another: what was added, removed, changed or put in another order.

Knows nothing of runs. Two documents that differ in nothing here have the same hash.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wayfare.graph.anatomy import Sketch
from wayfare.graph.document import GraphDocument
from wayfare.graph.fault import NO_VALUE, shorten
from wayfare.graph.identity import semantic_content
from wayfare.graph.schedule import make_schedule
from wayfare.graph.scope import ROOT, Scopes, find_scopes
from wayfare.graph.sketch import draw

Content = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: `what` names the thing, `before` and `after` are its values, if any."""

    kind: Literal["added", "removed", "changed", "reordered"]
    what: str
    before: object = NO_VALUE
    after: object = NO_VALUE

    def __str__(self) -> str:
        if self.kind == "added":
            return f"+ {self.what}{_value(self.after)}"
        if self.kind == "removed":
            return f"- {self.what}{_value(self.before)}"
        mark = "~" if self.kind == "changed" else "^"
        return f"{mark} {self.what}: {shorten(self.before)} -> {shorten(self.after)}"


def diff(before: GraphDocument, after: GraphDocument) -> list[Change]:
    """Return all differences that a run could depend on, graphs within the graphs included.

    Graphs that are only named are compared by their names: embed them first.
    """
    old, new = semantic_content(before), semantic_content(after)
    changes = _graph_changes(old, new, "")
    changes += _value_changes(old, new, "", ("step_budget", "environment"))
    changes += _nodeset_changes(old["nodesets"], new["nodesets"])
    return changes + _order_changes(before, after)


def _value(value: object) -> str:
    return "" if value is NO_VALUE else f": {shorten(value)}"


def render(changes: Sequence[Change]) -> str:
    """Return the changes as lines of text: + added, - removed, ~ changed, ^ in another order."""
    return "\n".join(map(str, changes))


def _graph_changes(old: Content, new: Content, path: str) -> list[Change]:
    """Compare nodes by id and edges by their ends; `path` is that of the graph they stand in."""
    olds = {node["id"]: node for node in old["nodes"]}
    news = {node["id"]: node for node in new["nodes"]}
    changes: list[Change] = []
    for name in dict.fromkeys([*olds, *news]):
        changes += _node_changes(olds.get(name), news.get(name), f"{path}{name}")
    return changes + _edge_changes(old["edges"], new["edges"], path)


def _node_changes(old: Content | None, new: Content | None, path: str) -> list[Change]:
    if old is None and new is not None:
        return [Change("added", f"node {path!r} ({new['type']})")]
    if new is None and old is not None:
        return [Change("removed", f"node {path!r} ({old['type']})")]
    if old is None or new is None:
        return []
    changes = _value_changes(old, new, f" of node {path!r}", ("type",))
    one, other = dict(old["config"]), dict(new["config"])
    if _is_graph(one.get("graph")) and _is_graph(other.get("graph")):
        graphs = one.pop("graph"), other.pop("graph")
        changes += _graph_changes(*graphs, f"{path}/")
        top = ("step_budget", "environment", "nodesets")
        changes += _value_changes(*graphs, f" of the graph of node {path!r}", top)
    return changes + _config_changes(one, other, f" of node {path!r}")


def _is_graph(value: object) -> bool:
    """Say whether a value has the form that `semantic_content` gives to a graph in a graph."""
    return isinstance(value, Mapping) and {"nodes", "edges", "nodesets"} <= value.keys()


def _edge_changes(old: Iterable[Content], new: Iterable[Content], path: str) -> list[Change]:
    olds, news = Counter(_ends(edge, path) for edge in old), Counter(_ends(e, path) for e in new)
    removed = [Change("removed", f"edge {text}") for text in (olds - news).elements()]
    return removed + [Change("added", f"edge {text}") for text in (news - olds).elements()]


def _ends(edge: Content, path: str) -> str:
    source = f"{path}{edge['source']}.{edge['sourceHandle']}"
    return f"{source} -> {path}{edge['target']}.{edge['targetHandle']}"


def _nodeset_changes(old: Content, new: Content) -> list[Change]:
    changes: list[Change] = []
    nothing: Content = {"use": None, "config": {}}
    for name in sorted({*old, *new}):
        first, second = old.get(name, nothing), new.get(name, nothing)
        if name not in old or name not in new:
            kind: Literal["added", "removed"] = "added" if name in new else "removed"
            changes.append(Change(kind, f"entry of nodeset {name!r}"))
        changes += _value_changes(first, second, f" of nodeset {name!r}", ("use",))
        changes += _config_changes(first["config"], second["config"], f" of nodeset {name!r}")
    return changes


def _config_changes(old: Content, new: Content, of: str) -> list[Change]:
    return _value_changes(old, new, of, tuple(dict.fromkeys([*old, *new])))


def _value_changes(old: Content, new: Content, of: str, keys: tuple[str, ...]) -> list[Change]:
    changes = []
    for key in keys:
        first, second = old.get(key, NO_VALUE), new.get(key, NO_VALUE)
        if first is NO_VALUE:
            changes.append(Change("added", f"{key}{of}", after=second))
        elif second is NO_VALUE:
            changes.append(Change("removed", f"{key}{of}", before=first))
        elif _text(first) != _text(second):
            changes.append(Change("changed", f"{key}{of}", first, second))
    return changes


def _text(value: object) -> str:
    """Return a value as the hash sees it: 1, 1.0 and true are three values."""
    return json.dumps(value, sort_keys=True)


def _order_changes(before: GraphDocument, after: GraphDocument) -> list[Change]:
    """Report which calls go out in another order because nodes stand in another order."""
    olds, news = _paths(semantic_content(before), ""), _paths(semantic_content(after), "")
    first, second = _common(olds, news)
    if first == second:
        return []
    sequences = _call_orders(draw(before, None), ""), _call_orders(draw(after, None), "")
    changes = []
    for name in sorted(sequences[0].keys() & sequences[1].keys()):
        one, other = _common(sequences[0][name], sequences[1][name])
        if one != other:
            changes.append(Change("reordered", name, *_where_they_differ(one, other)))
    what = "nodes (no calls of one nodeset change their order)"
    return changes or [Change("reordered", what, *_where_they_differ(first, second))]


def _paths(content: Content, prefix: str) -> list[str]:
    paths = []
    for node in content["nodes"]:
        paths.append(prefix + node["id"])
        graph = node["config"].get("graph")
        if _is_graph(graph):
            paths += _paths(graph, f"{prefix}{node['id']}/")
    return paths


def _call_orders(sketch: Sketch, path: str) -> dict[str, list[str]]:
    """Return what each nodeset is asked in which order, as if it were one copy."""
    scopes = find_scopes(sketch)
    if not isinstance(scopes, Scopes):
        return {}
    orders = {}
    for (nodeset, scope), units in make_schedule(sketch, scopes, sketch.nodesets).sequences.items():
        around = sketch.nodes[scope].path if scope != ROOT else path
        name = f"calls of nodeset {nodeset!r}" + (f" in {around!r}" if around else "")
        orders[name] = [sketch.nodes[unit].path for unit in units]
    for node in sketch.nodes:
        if node.inner is not None:
            orders |= _call_orders(node.inner, node.path)
    return orders


def _common(one: list[str], other: list[str]) -> tuple[list[str], list[str]]:
    return [p for p in one if p in set(other)], [p for p in other if p in set(one)]


def _where_they_differ(one: list[str], other: list[str]) -> tuple[list[str], list[str]]:
    places = [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    window = slice(places[0], places[-1] + 1)
    return one[window], other[window]
