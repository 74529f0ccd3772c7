"""Bring documents of older formats to the present one, step by step, and say what that changed.

Knows nothing of the present format beyond its version and where graphs stand within graphs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wayfare.graph.fault import Fault, GraphError

FORMAT_VERSION = 1

Step = Callable[[dict[str, Any]], tuple[dict[str, Any], list[str]]]
"""Takes a document; returns it in the next version, and a sentence for whatever is not as before.

The version number is written by the caller. What is lost without a sentence that names it is noted
too, so a step can forget to say so and the person still learns of it.
"""


@dataclass(frozen=True, slots=True)
class Format:
    """The version that is read, and the steps to it, each with the version that it starts from."""

    version: int
    steps: tuple[tuple[int, Step], ...] = ()

    def __post_init__(self) -> None:
        starts = [start for start, _ in self.steps]
        if starts != list(range(self.oldest, self.version)):
            raise ValueError(f"steps start at {starts}; they must lead to {self.version} by ones")

    @property
    def oldest(self) -> int:
        """Return the oldest version that can be read."""
        return min((start for start, _ in self.steps), default=self.version)


FORMAT = Format(FORMAT_VERSION)


def migrate(data: dict[str, Any], where: str, target: Format) -> tuple[dict[str, Any], list[str]]:
    """Return the document in the present version, graphs within it too, and what that changed.

    Raises `GraphError` for a version that is newer or has no way to the present one. What has no
    version that is a number is left as it is.
    """
    version = data.get("version")
    if type(version) is not int:
        return data, []
    _check_version(version, where, target)
    notes: list[str] = []
    for start, step in target.steps:
        if start == version:
            changed, said = step(data)
            version += 1
            changed = {**changed, "version": version}
            said = [*said, *_unsaid(data, changed, said)]
            notes += [f"{where}, version {start} to {version}: {note}" for note in said]
            data = changed
    return _migrate_inner(data, where, target, notes), notes


def _check_version(version: int, where: str, target: Format) -> None:
    if version > target.version:
        rule = f"document version must be {target.version} for this Wayfare"
        raise GraphError([Fault("version", f"{where} version", rule, "Upgrade Wayfare.", version)])
    if version < target.oldest:
        rule = f"document version must be {target.oldest} to {target.version} for this Wayfare"
        remedy = f"Versions start at {target.oldest}."
        raise GraphError([Fault("version", f"{where} version", rule, remedy, version)])


def _migrate_inner(
    data: dict[str, Any], where: str, target: Format, notes: list[str]
) -> dict[str, Any]:
    """Migrate the graphs of subgraphs and maps; a newer one is left to whoever reads it."""
    nodes = data.get("nodes")
    if not isinstance(nodes, list):
        return data
    migrated = list(nodes)
    for index, node in enumerate(nodes):
        graph = _graph_of(node)
        version = graph.get("version") if graph is not None else None
        if type(version) is int and target.oldest <= version <= target.version:
            inner, said = migrate(graph, f"{where} node {node.get('id')!r}", target)
            notes += said
            if inner is not graph:
                migrated[index] = {**node, "config": {**node["config"], "graph": inner}}
    is_changed = any(new is not old for new, old in zip(migrated, nodes, strict=True))
    return {**data, "nodes": migrated} if is_changed else data


def _graph_of(node: object) -> Any:
    config = node.get("config") if isinstance(node, Mapping) else None
    graph = config.get("graph") if isinstance(config, Mapping) else None
    return graph if isinstance(graph, dict) else None


def _unsaid(before: Mapping[str, Any], after: Mapping[str, Any], said: list[str]) -> list[str]:
    """Return a note for every value that is nowhere any more and that no sentence names."""
    left = Counter(_key(value) for place, value in _leaves(after, "") if place != "version")
    notes = []
    for place, value in _leaves(before, ""):
        if place == "version":
            continue
        if left[_key(value)]:
            left[_key(value)] -= 1
        elif not any(_names(sentence, value) for sentence in said):
            notes.append(f"{place}: {value!r} is gone")
    return notes


def _names(sentence: str, value: object) -> bool:
    return re.search(rf"(?<!\w){re.escape(repr(value))}(?!\w)", sentence) is not None


def _key(value: object) -> tuple[str, str]:
    return type(value).__name__, str(value)


def _leaves(value: object, place: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{place}[{index}]")
    else:
        yield place, value
