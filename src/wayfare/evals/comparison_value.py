"""Say where two values differ: the element, the key, and both values to the last bit.

Knows nothing of runs. Values are equal when their digests are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodeset.digest import digest_value
from wayfare.graph.fault import shorten

Array = np.ndarray[Any, np.dtype[Any]]
_ABSENT = "nothing"


@dataclass(frozen=True, slots=True)
class Spot:
    """The first place in which two values differ: `.key`, `[index]`, or "" for the whole.

    `a` and `b` are what stands there, as Python writes it; `note` counts the elements of an array.
    """

    place: str
    a: str
    b: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueDifference:
    """Two recorded values that reached the same input in the same turn and differ.

    `source` is the output that the input is wired to, as `node.port`.
    """

    node: str
    turns: tuple[int, ...]
    port: str
    source: str
    place: str
    a: str
    b: str
    note: str = ""


def are_equal(a: Any, b: Any) -> bool:
    """Return whether two values have the same digest."""
    return digest_value(a) == digest_value(b)


def locate(a: Any, b: Any, place: str = "") -> Spot:
    """Return the first spot in which two different values differ; dicts go by sorted keys."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return _locate_element(a, b, place)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        olds = {f"{place}.{key}": a[key] for key in sorted(a)}
        news = {f"{place}.{key}": b[key] for key in sorted(b)}
    elif _is_list(a) and _is_list(b) and len(a) == len(b):
        olds = {f"{place}[{index}]": item for index, item in enumerate(a)}
        news = {f"{place}[{index}]": item for index, item in enumerate(b)}
    else:
        return Spot(place, describe(a), describe(b))
    within = next(name for name in [*olds, *news] if not _is_same(name, olds, news))
    if within in olds and within in news:
        return locate(olds[within], news[within], within)
    return Spot(within, _write(olds, within), _write(news, within))


def describe(value: Any) -> str:
    """Return a value as Python writes it, cut where it is long; of an array its type and shape."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    return shorten(value)


def _locate_element(a: Array, b: Array, place: str) -> Spot:
    if a.dtype != b.dtype or a.shape != b.shape or not a.size:
        return Spot(place, describe(a), describe(b))
    differing = (_as_bytes(a) != _as_bytes(b)).any(axis=1)
    first = int(np.argmax(differing))
    index = ", ".join(str(int(part)) for part in np.unravel_index(first, a.shape))
    note = f"{int(differing.sum())} of {a.size} elements of {a.dtype} {a.shape} differ"
    one, other = a.reshape(-1)[first].item(), b.reshape(-1)[first].item()
    return Spot(f"{place}[{index}]" if index else place, shorten(one), shorten(other), note)


def _as_bytes(array: Array) -> Array:
    """Return one row of bytes per element: 0.0 and -0.0 differ, and a NaN equals itself."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(flat.size, -1)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_same(name: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return name in a and name in b and are_equal(a[name], b[name])


def _write(holder: Mapping[str, Any], key: str) -> str:
    return describe(holder[key]) if key in holder else _ABSENT
