"""Hold the values of a tool's settings against its defaults: each must be of its default's kind.

Knows nothing of graphs, of unknown keys, or of what a tool does with a setting.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wayfare.graph.fault import Fault, shorten


def value_faults(
    node_type: str,
    config: Mapping[str, Any],
    defaults: Mapping[str, Any],
    *,
    place: str,
    option: str,
) -> Iterable[Fault]:
    """Report values of another kind than their defaults.

    `place` and `option` say, up to the key, where they stand and what sets one on a command line.
    Whole numbers and fractions are one kind: who writes 1 as a default may mean 1.0. A default that
    is None, or that no graph document can hold, says nothing of its kind.
    """
    for key, value in config.items():
        due = _KINDS.get(type(defaults.get(key)))
        if due is None or type(value) in due.types:
            continue
        default = shorten(defaults[key])
        rule = f"tool {node_type!r} takes {due.name} as {key!r}, like its default {default}"
        yield Fault("config", place + key, rule, _remedy(due, value, option + key), value)


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    types: tuple[type, ...]
    remedy: str


_TEXT = _Kind("a text", (str,), "Write a text.")
_NUMBER = _Kind("a number", (int, float), "Write a number.")
_KINDS: Mapping[type, _Kind] = {
    bool: _Kind("true or false", (bool,), "Write true or false."),
    int: _NUMBER,
    float: _NUMBER,
    str: _TEXT,
    list: _Kind("a list", (list, tuple), "Write a list in JSON, such as [1, 2]."),
    dict: _Kind("an object", (dict,), 'Write an object in JSON, such as {"key": 1}.'),
}


def _remedy(due: _Kind, value: object, option: str) -> str:
    """Return how the value is to be written; what reads as a number may be meant as a text."""
    if due is _TEXT and isinstance(value, (bool, int, float)):
        quoted = json.dumps(json.dumps(value))
        return f"If it is meant as a text, put it in quotes: {quoted}, or {option}='{quoted}'."
    return due.remedy
