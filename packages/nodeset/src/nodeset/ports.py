"""Typed ports: which values each wire type takes, and which edges fit.

Knows nothing of tools, graphs or transport; batches are checked row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import numpy as np

from nodeset.errors import PortError
from nodeset.passive import (
    INT_MAX,
    INT_MIN,
    MismatchError,
    contiguous,
    describe,
    encodable,
    passive,
)

WIRE_TYPES = (
    "IMAGE",
    "DEPTH",
    "POSE",
    "ACTION",
    "INT",
    "FLOAT",
    "BOOL",
    "TEXT",
    "ARRAY",
    "METRICS",
    "JSON",
    "ANY",
)
STACKED = frozenset({"IMAGE", "DEPTH", "POSE", "ARRAY"})
"""The types that reach a batched tool stacked on a leading axis; ACTION too if it is an array."""


@dataclass(frozen=True)
class PortDef:
    """One port of a tool.

    `wire_type` is one of `WIRE_TYPES` or `LIST[T]`. An optional input may be unwired or absent;
    an optional output may be left out. A volatile port (a time, a process id) enters no digest.
    """

    name: str
    wire_type: str
    description: str = ""
    optional: bool = False
    volatile: bool = False


def parse_wire_type(text: str) -> Tuple[str, Optional[str]]:
    """Return (`LIST`, element) for `LIST[T]`, else (`text`, None); raises ValueError."""
    if text in WIRE_TYPES:
        return text, None
    if str(text).startswith("LIST[") and text.endswith("]"):
        inner = text[5:-1]
        parse_wire_type(inner)
        return "LIST", inner
    raise ValueError(
        f"wire type {text!r} is unknown; it must be one of {', '.join(WIRE_TYPES)} or LIST[T]"
    )


_WIDENS: Dict[str, Tuple[str, ...]] = {
    "INT": ("FLOAT", "ACTION", "JSON"),
    "FLOAT": ("ACTION", "JSON"),
    "BOOL": ("JSON",),
    "TEXT": ("ACTION", "JSON"),
    "METRICS": ("JSON",),
    "JSON": ("ACTION",),
    "ARRAY": ("ACTION",),
    "IMAGE": ("ARRAY",),
    "DEPTH": ("ARRAY",),
    "POSE": ("ARRAY", "ACTION"),
    "ACTION": (),
}
_PASSIVE = frozenset({"INT", "FLOAT", "BOOL", "TEXT", "METRICS", "JSON", "ANY"})


def is_compatible(source: str, target: str) -> bool:
    """Say whether an output of type `source` may feed an input of type `target`.

    `ANY` fits everything (the value is checked when it arrives); otherwise a type fits itself and
    what it is a special case of: INT a FLOAT, IMAGE an ARRAY, text or numbers a JSON.
    """
    if source == target or "ANY" in (source, target):
        return True
    source_kind, source_inner = parse_wire_type(source)
    target_kind, target_inner = parse_wire_type(target)
    if source_inner is not None and target_inner is not None:
        return is_compatible(source_inner, target_inner)
    if source_inner is not None:
        return target == "JSON" and _is_passive(source_inner)
    return target_inner is None and target_kind in _WIDENS[source_kind]


def _is_passive(wire_type: str) -> bool:
    kind, inner = parse_wire_type(wire_type)
    return _is_passive(inner) if inner is not None else kind in _PASSIVE


def accept(port: PortDef, value: Any, where: str) -> Any:
    """Return `value` as `port` passes it on; raises PortError naming `where`, port, got and due.

    Tuples become lists, NumPy scalars Python's, arrays contiguous. `where` names the tool and the
    side, such as `env_line__step output`. Called where values enter and leave a tool.
    """
    try:
        acceptor = _ACCEPTORS.get(port.wire_type)
        return _accept(port.wire_type, value) if acceptor is None else acceptor(value)
    except MismatchError as error:
        raise PortError(
            f"{where} {port.name!r} ({port.wire_type}): got {describe(error.value)}, "
            f"due {error.due}{error.at}"
        ) from None


def _accept(wire_type: str, value: Any) -> Any:
    acceptor = _ACCEPTORS.get(wire_type)
    if acceptor is not None:
        return acceptor(value)
    return _accept_list(wire_type[5:-1], value)


def _accept_list(inner: str, value: Any) -> Any:
    if not isinstance(value, (list, tuple)):
        raise MismatchError(value, f"a list of {inner}")
    items = []
    for index, item in enumerate(value):
        try:
            items.append(_accept(inner, item))
        except MismatchError as error:
            raise MismatchError(error.value, error.due, f" at [{index}]{error.at}") from None
    return items


def _array(value: Any, due: str) -> Any:
    if not isinstance(value, np.ndarray):
        raise MismatchError(value, due)
    return contiguous(value)


def _shaped(value: Any, due: str, dtype: type, shape: Sequence[Optional[int]]) -> Any:
    array = _array(value, due)
    fits = array.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape)
    )
    if array.dtype != dtype or not fits:
        raise MismatchError(value, due)
    return array


def _image(value: Any) -> Any:
    return _shaped(value, "an array of shape (H, W, 3) and dtype uint8", np.uint8, (None, None, 3))


def _depth(value: Any) -> Any:
    due = "an array of shape (H, W) and dtype float32, in metres"
    return _shaped(value, due, np.float32, (None, None))


def _pose(value: Any) -> Any:
    due = "an array of shape (7,) and dtype float64: x y z in metres, quaternion x y z w"
    return _shaped(value, due, np.float64, (7,))


def _any_array(value: Any) -> Any:
    return _array(value, "a NumPy array")


def _int(value: Any) -> int:
    if type(value) is int and INT_MIN <= value <= INT_MAX:
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise _mismatch(value, "an integer", "iu")
    if not INT_MIN <= int(value) <= INT_MAX:
        raise MismatchError(value, "an integer that fits in 64 bits")
    return int(value)


def _float(value: Any) -> float:
    if type(value) is float:
        return value
    numbers = (int, float, np.integer, np.floating)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers):
        raise _mismatch(value, "a number", "iuf")
    try:
        return float(value)
    except OverflowError:
        raise MismatchError(value, "a number that fits in 64 bits") from None


def _bool(value: Any) -> bool:
    if value is True or value is False:
        return value
    if not isinstance(value, (bool, np.bool_)):
        raise _mismatch(value, "True or False", "b")
    return bool(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _mismatch(value, "text", "U")
    return encodable(str(value))


def _metric(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return _int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, Mapping) and list(value) == ["undefined"]:
        return {"undefined": _text(value["undefined"])}
    raise _mismatch(value, 'a number, a boolean or {"undefined": reason}', "biuf")


def _mismatch(value: Any, due: str, kinds: str) -> MismatchError:
    """Return the error; of an array that holds one value of these kinds it says how to get it."""
    if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in kinds:
        due += "; .item() takes it out of the array"
    return MismatchError(value, due)


def _metrics(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise MismatchError(value, "a dict of metric names to numbers or booleans")
    result = {}
    for name, number in value.items():
        if not isinstance(name, str):
            raise MismatchError(name, "metric names that are text")
        try:
            result[encodable(name)] = _metric(number)
        except MismatchError as error:
            raise MismatchError(error.value, error.due, f" at [{name!r}]") from None
    return result


def _json(value: Any) -> Any:
    return passive(value, arrays=False)


def _any(value: Any) -> Any:
    return passive(value, arrays=True)


_ACCEPTORS: Dict[str, Callable[[Any], Any]] = {
    "IMAGE": _image,
    "DEPTH": _depth,
    "POSE": _pose,
    "ACTION": _any,
    "INT": _int,
    "FLOAT": _float,
    "BOOL": _bool,
    "TEXT": _text,
    "ARRAY": _any_array,
    "METRICS": _metrics,
    "JSON": _json,
    "ANY": _any,
}
