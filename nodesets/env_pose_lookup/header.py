"""Hold the header of a store to its form: each field by its name, its kind and its range.

Knows nothing of files or of what the arrays hold.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Mapping

import numpy as np

_SCALARS = ("INT", "FLOAT", "BOOL")
_WIRE_TYPES = ("IMAGE", "DEPTH", "POSE", "ARRAY", *_SCALARS)
_RANKS = {"IMAGE": 3, "DEPTH": 2, "POSE": 1, **dict.fromkeys(_SCALARS, 0)}
_KINDS_OF_ARRAYS = "biufcSUmM"
_HASH = re.compile("[0-9a-f]{32}")

Rule = Callable[[Any], bool]


class HeaderError(ValueError):
    """A field is missing or is not what it must be."""


def _is_whole(value: Any, least: int | None = None) -> bool:
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return is_int and (least is None or value >= least)


def _is_list_of_whole(value: Any) -> bool:
    return isinstance(value, list) and all(_is_whole(item, 0) for item in value)


def _is_dtype(value: Any) -> bool:
    try:
        return isinstance(value, str) and np.dtype(value).kind in _KINDS_OF_ARRAYS
    except (TypeError, ValueError, SyntaxError):
        return False


_RULES: Mapping[str, Rule] = {
    "a text": lambda value: isinstance(value, str),
    "the name of a port": lambda value: isinstance(value, str) and value.isidentifier(),
    "true or false": lambda value: isinstance(value, bool),
    "an object": lambda value: isinstance(value, dict),
    "an object or null": lambda value: value is None or isinstance(value, dict),
    "a list of one object or more": lambda value: (
        isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
    ),
    "a whole number": _is_whole,
    "a whole number from 0": lambda value: _is_whole(value, 0),
    "a whole number from 1": lambda value: _is_whole(value, 1),
    "a whole number or null": lambda value: value is None or _is_whole(value),
    "a list of whole numbers from 0": _is_list_of_whole,
    "32 hexadecimal digits": lambda value: (
        isinstance(value, str) and _HASH.fullmatch(value) is not None
    ),
    "a dtype of NumPy's": _is_dtype,
    f"one of {', '.join(_WIRE_TYPES)}": lambda value: value in _WIRE_TYPES,
}
_OWN = {
    "source": "an object",
    "nodeset": "a text",
    "request": "an object",
    "versions": "an object",
    "pose_frame": "a text",
    "split": "a text",
    "episodes": "a list of one object or more",
    "scenes": "a list of one object or more",
    "poses_hash": "32 hexadecimal digits",
    "digests_hash": "32 hexadecimal digits",
    "outputs": "a list of one object or more",
    "is_finished": "true or false",
    "verification": "an object or null",
}
_EPISODE = {
    "id": "a text",
    "scene_id": "a text",
    "group": "a text",
    "step_budget": "a whole number or null",
    "info": "an object",
}
_SCENE = {
    "scene_id": "a text",
    "episodes": "a list of whole numbers from 0",
    "first_row": "a whole number from 0",
    "rows": "a whole number from 1",
}
_OUTPUT = {
    "name": "the name of a port",
    "wire_type": f"one of {', '.join(_WIRE_TYPES)}",
    "description": "a text",
    "dtype": "a dtype of NumPy's",
    "shape": "a list of whole numbers from 0",
}
_VERIFICATION = {
    "rows": "a whole number from 0",
    "seed": "a whole number",
    "different": "a list of whole numbers from 0",
}


def check_header(header: Mapping[str, Any]) -> None:
    """Refuse a finished store's header that is not of its form. Raises HeaderError."""
    _check(header, _OWN, "")
    if header["verification"] is not None:
        _check(header["verification"], _VERIFICATION, "verification.")
    for name, rules in (("episodes", _EPISODE), ("scenes", _SCENE), ("outputs", _OUTPUT)):
        for number, fields in enumerate(header[name]):
            _check(fields, rules, f"{name}[{number}].")
    _check_outputs(header["outputs"])
    _check_scenes(header["scenes"], len(header["episodes"]))


def _check(fields: Mapping[str, Any], rules: Mapping[str, str], where: str) -> None:
    for name, rule in rules.items():
        if name not in fields:
            raise HeaderError(f"{where}{name} is missing; it must be {rule}")
        if not _RULES[rule](fields[name]):
            raise _refusal(f"{where}{name}", fields[name], rule)


def _check_outputs(outputs: list[Mapping[str, Any]]) -> None:
    names = [output["name"] for output in outputs]
    for number, output in enumerate(outputs):
        where, shape, kind = f"outputs[{number}]", output["shape"], output["wire_type"]
        if output["name"] in names[:number]:
            raise _refusal(f"{where}.name", output["name"], "another than those before it")
        rank = _RANKS.get(kind, len(shape))
        if len(shape) != rank:
            raise _refusal(f"{where}.shape", shape, f"{rank} long for a row of type {kind}")


def _check_scenes(scenes: list[Mapping[str, Any]], episodes: int) -> None:
    """Refuse scenes whose rows don't follow each other, or episodes without one scene."""
    first, seen = 0, [0] * episodes
    for number, scene in enumerate(scenes):
        where = f"scenes[{number}]"
        if scene["first_row"] != first:
            raise _refusal(f"{where}.first_row", scene["first_row"], f"{first}, where it begins")
        first += scene["rows"]
        for index in scene["episodes"]:
            if index >= episodes:
                rule = f"below {episodes}, the number of episodes"
                raise _refusal(f"{where}.episodes", scene["episodes"], rule)
            seen[index] += 1
    for index, count in enumerate(seen):
        if count != 1:
            raise HeaderError(f"episodes[{index}] is in {count} scenes; it must be in one")


def _refusal(name: str, value: Any, rule: str) -> HeaderError:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return HeaderError(f"{name} is {shown}; it must be {rule}")
