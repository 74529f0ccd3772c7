"""Read values from the command line: JSON or else text, turned into what a port's type asks for.

Knows nothing of commands or of where ports come from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nodeset.ports import PortDef, parse_wire_type
from wayfare.evals.errors import SetupError

ARRAY_KEYS = {"dtype", "shape", "data"}
"""The form of an array in JSON, as `--json` prints it."""
FILE_SUFFIX = ".npy"
_DTYPES = {"ARRAY": None, "IMAGE": np.uint8, "DEPTH": np.float32, "POSE": np.float64}
_BOOLEANS = {"True": True, "False": False}


class ValueTextError(SetupError):
    """What was typed can't be read as a value."""


def parse_value(text: str) -> Any:
    """Return the text as JSON, or as it is where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse_setting(text: str, option: str) -> tuple[str, Any]:
    """Return key and value of `KEY=VALUE`; `option` names where it was given."""
    key, equals, raw = text.partition("=")
    if not equals or not key:
        raise ValueTextError(f"{option} {text!r} must read KEY=VALUE; VALUE is JSON, else text.")
    return key, parse_value(raw)


def parse_nodeset_setting(text: str) -> tuple[str, str, Any]:
    """Return nodeset, key and value of `--set NODESET.KEY=VALUE`."""
    target, value = parse_setting(text, "--set")
    nodeset, dot, key = target.removeprefix("nodesets.").partition(".")
    if not dot or not nodeset or not key:
        raise ValueTextError(f"--set {text!r} must read NODESET.KEY=VALUE, with a dot.")
    return nodeset, key, value


def read_value(port: PortDef, text: str) -> Any:
    """Return what the text means at the port; whether it fits is for `nodeset.ports.accept`."""
    if text.startswith("@"):
        return _load_array(Path(text[1:]))
    value = parse_value(text)
    if port.wire_type == "TEXT":
        return value if isinstance(value, str) else text
    return _shape(port.wire_type, value)


def _shape(wire_type: str, value: Any) -> Any:
    kind, inner = parse_wire_type(wire_type)
    if kind == "LIST" and inner is not None:
        return [_shape(inner, item) for item in value] if isinstance(value, list) else value
    if kind == "BOOL":
        return _BOOLEANS.get(value, value) if isinstance(value, str) else value
    if kind in _DTYPES:
        return _as_array(value, _DTYPES[kind])
    return _with_arrays(value) if kind in ("ACTION", "ANY") else value


def _with_arrays(value: Any) -> Any:
    """Return a value of a port that takes anything, with arrays where their JSON form stands."""
    if isinstance(value, list):
        return [_with_arrays(item) for item in value]
    if isinstance(value, Mapping):
        if set(value) == ARRAY_KEYS:
            return _as_array(value, None)
        return {key: _with_arrays(item) for key, item in value.items()}
    return value


def _as_array(value: Any, dtype: Any) -> Any:
    """Return numbers and lists of them as an array; anything else as it is, to be refused."""
    if isinstance(value, Mapping) and set(value) == ARRAY_KEYS:
        return _from_json_form(value)
    if not isinstance(value, list | int | float):
        return value
    try:
        plain = np.array(value)
        array = plain if dtype is None else plain.astype(dtype)
    except (ValueError, TypeError) as error:
        raise ValueTextError(f"it can't be made an array: {error}") from error
    if dtype is np.uint8 and not np.array_equal(array, plain):
        raise ValueTextError("an image holds whole numbers from 0 to 255 only")
    return array


def _from_json_form(value: Mapping[str, Any]) -> Any:
    try:
        return np.array(value["data"], np.dtype(value["dtype"])).reshape(value["shape"])
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueTextError(f"it can't be made an array: {error}") from error


def _load_array(path: Path) -> Any:
    if path.suffix != FILE_SUFFIX:
        raise ValueTextError(
            f"what follows @ must be a file that ends in {FILE_SUFFIX}, or TOOL.PORT of an earlier "
            f"call; text that begins with @ is written in double quotes, as JSON"
        )
    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise ValueTextError(f"{str(path)!r} can't be read: {error.strerror}") from error
    except (ValueError, EOFError) as error:
        raise ValueTextError(f"{str(path)!r} holds no array: {error}") from error
