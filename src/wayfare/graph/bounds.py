"""Refuse documents that are too large or too deep, and what no file or message can hold.

Knows nothing of nodes or of what a document means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from nodeset.passive import INT_MAX, INT_MIN
from nodeset.text import is_encodable, tidy
from wayfare.graph.fault import Fault, GraphError

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 128
"""Lists and objects within each other; four of them are one subgraph inside another."""
MAX_VALUES = 2_000_000
MAX_NODES = 20_000
"""Nodes of an agent with all its subgraphs."""

Location = tuple[int | str, ...]


def check_size(size: int, where: str, *, unit: str = "bytes", most: int = MAX_BYTES) -> None:
    """Raise GraphError where a document is larger than it may be."""
    if size > most:
        raise GraphError([too_large(where, size, unit, most=most)])


def too_large(where: str, size: int, unit: str, *, most: int) -> Fault:
    """Return the fault of a document that is too large."""
    rule = f"has {size} {unit}; a graph may have at most {most}"
    return Fault("size", where, rule, "Keep data in files that a nodeset reads.")


def check_values(data: dict[str, Any], where: str) -> None:
    """Raise GraphError for what is too deep or too much, and for values that can't be kept.

    These are texts with lone surrogates, which JSON can write though UTF-8 can't, and numbers that
    are not finite or not of 64 bits.
    """
    faults: list[Fault] = []
    level: list[tuple[Location, Any]] = [((), data)]
    count = 0
    for _ in range(MAX_DEPTH + 1):
        count += len(level)
        check_size(count, where, unit="values", most=MAX_VALUES)
        for location, value in level:
            faults += _unfit(location, value, where)
        level = [child for location, value in level for child in _children(location, value)]
        if not level:
            break
    else:
        place = describe_location(level[0][0][:3])
        rule = f"is nested deeper than {MAX_DEPTH} levels"
        raise GraphError([Fault("size", tidy(place) or where, rule, "Make it flatter.")])
    if faults:
        raise GraphError(sorted(faults, key=lambda fault: fault.place))


def describe_location(location: Location) -> str:
    """Write a path into a document the way a person reads it: `nodes[3].config`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _children(location: Location, value: Any) -> Iterator[tuple[Location, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*location, str(key)), item
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield (*location, index), item


def _unfit(location: Location, value: Any, where: str) -> Iterator[Fault]:
    texts = value if isinstance(value, dict) else (value,)
    for text in texts:
        if isinstance(text, str) and not is_encodable(text):
            rule = "holds a lone surrogate, which no file or message can hold"
            yield Fault("text", _place(location, where), rule, "Mend the text.", text)
    if isinstance(value, float) and not math.isfinite(value):
        rule = "must be finite: JSON has no such number"
        yield Fault("number", _place(location, where), rule, "Write it as text.", value)
    if type(value) is int and not INT_MIN <= value <= INT_MAX:
        rule = "must fit in 64 bits"
        yield Fault("number", _place(location, where), rule, "Write it as text.", tidy(hex(value)))


def _place(location: Location, where: str) -> str:
    return tidy(describe_location(location)) or where
