"""Passive data: the numbers, text, lists, dicts and arrays that may cross between processes.

Knows nothing of ports or frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Dict

import numpy as np

from nodeset.text import is_encodable

MAX_DEPTH = 64
INT_MIN, INT_MAX = -(2**63), 2**64 - 1
"""The integers that fit in 64 bits, signed or unsigned."""
DTYPE_KINDS = "biufcSUmM"
"""The kinds of arrays that may cross: booleans, numbers, texts and times."""
_WRITTEN_BITS = 256
"""A longer integer is told by its length."""


class MismatchError(Exception):
    """A value is not what is due; `at` says where inside the whole it stands."""

    def __init__(self, value: Any, due: str, at: str = "") -> None:
        super().__init__(due)
        self.value, self.due, self.at = value, due, at


def describe(value: Any) -> str:
    """Return a short text for a value in an error: type, and shape and dtype or the value."""
    if isinstance(value, np.ndarray):
        return f"ndarray of shape {value.shape} and dtype {value.dtype}"
    text = _write(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}"


def _write(value: Any) -> str:
    """Return `repr(value)`, which may be the author's code, and refuses too many digits."""
    if isinstance(value, int) and value.bit_length() > _WRITTEN_BITS:
        return f"of {value.bit_length()} bits"
    try:
        return repr(value)
    except Exception:  # noqa: BLE001  the author's `__repr__`, or that of a number far inside
        return "that can't be written out"


def plain_scalar(value: Any) -> Any:
    """Return a NumPy scalar as Python's; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def passive(value: Any, *, arrays: bool, at: str = "", depth: int = 0) -> Any:
    """Return a copy of `value` in plain lists and dicts; raises MismatchError.

    With `arrays`, arrays and bytes may stand in it too; without, it is what JSON can say.
    """
    if depth > MAX_DEPTH:
        raise MismatchError("...", f"at most {MAX_DEPTH} levels of nesting", _at(at[:60]))
    kind = type(value)
    if kind is str:
        return value if value.isascii() else encodable(value, at)
    if kind in (float, bool) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [
            passive(item, arrays=arrays, at=f"{at}[{i}]", depth=depth + 1)
            for i, item in enumerate(value)
        ]
    if isinstance(value, Mapping):
        return _passive_dict(value, arrays, at, depth)
    return _passive_atom(value, arrays, at)


def encodable(text: str, at: str = "") -> str:
    """Return the text; raises MismatchError for one that no file or message can hold."""
    if not is_encodable(text):
        raise MismatchError(text, "text without lone surrogates", _at(at))
    return text


def _at(at: str) -> str:
    return f" at {at}" if at else ""


def _passive_dict(value: Mapping[Any, Any], arrays: bool, at: str, depth: int) -> Dict[str, Any]:
    result = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise MismatchError(key, "dict keys that are text", _at(at))
        name = encodable(str(key), at)
        result[name] = passive(item, arrays=arrays, at=f"{at}[{key!r}]", depth=depth + 1)
    return result


def _passive_atom(value: Any, arrays: bool, at: str) -> Any:
    plain = plain_scalar(value)
    if isinstance(plain, int):
        return _passive_int(plain, at)
    if isinstance(plain, (str, float)):
        return encodable(str(plain), at) if isinstance(plain, str) else float(plain)
    if arrays and isinstance(plain, bytes):
        return plain
    if arrays and isinstance(value, np.ndarray):
        return contiguous(value, at)
    due = "numbers, text, lists and dicts" + (", bytes and arrays" if arrays else "")
    if isinstance(value, np.ndarray):
        due += "; .tolist() makes such of an array"
    raise MismatchError(value, f"passive data: {due}", _at(at))


def _passive_int(value: int, at: str) -> Any:
    if isinstance(value, bool):
        return value
    if not INT_MIN <= value <= INT_MAX:
        raise MismatchError(value, "an integer that fits in 64 bits", _at(at))
    return int(value)


def contiguous(value: np.ndarray[Any, Any], at: str = "") -> np.ndarray[Any, Any]:
    """Return an array in C order; raises MismatchError for one that may not cross."""
    dtype = value.dtype
    if dtype.hasobject or dtype.names is not None:
        due = "an array whose dtype is neither object nor structured"
        raise MismatchError(value, due, _at(at))
    if dtype.kind not in DTYPE_KINDS or not dtype.itemsize:
        due = "an array of booleans, numbers, texts or times, of a byte or more each"
        raise MismatchError(value, due, _at(at))
    if type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray):
        raise MismatchError(value, "an array that is not masked; .filled(value) makes one", _at(at))
    return value if value.flags.c_contiguous else np.ascontiguousarray(value)
