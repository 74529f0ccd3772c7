"""Write values and calls as Python text, broken into lines where they are long.

Knows nothing of graphs.
"""

from __future__ import annotations

import json
import keyword
import math
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 100
VALUE_WIDTH = 76
"""How long a value may be beside what stands around it."""
INDENT = "    "


def call(function: str, arguments: Sequence[tuple[str, str]], room: int = WIDTH) -> str:
    """Return a call; each argument is a name ("" for a positional one) and an expression."""
    parts = [f"{name}={value}" if name else value for name, value in arguments]
    return _enclose(f"{function}(", parts, ")", room)


def literal(value: Any, room: int = VALUE_WIDTH) -> str:
    """Return a JSON value as a Python literal, on one line if it is no longer than `room`."""
    match value:
        case str():
            return text(value)
        case float() if not math.isfinite(value):
            return f'float("{value}")'
        case list() | tuple():
            return _enclose("[", [literal(item, room - len(INDENT)) for item in value], "]", room)
        case dict():
            return mapping({k: literal(v, room - len(INDENT)) for k, v in value.items()}, room)
    return repr(value)


def mapping(expressions: Mapping[str, str], room: int = VALUE_WIDTH) -> str:
    """Return a dict whose values are expressions."""
    parts = [f"{text(key)}: {value}" for key, value in expressions.items()]
    return _enclose("{", parts, "}", room)


def text(value: str) -> str:
    """Return a text as a literal in double quotes."""
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which source text can't hold
        return repr(value)
    return json.dumps(value, ensure_ascii=False)


def is_keyword_argument(name: str) -> bool:
    """Say whether `name=` may stand in a call and means exactly that name."""
    # Python normalises identifiers that are not ASCII, which would change the name.
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def _enclose(opening: str, parts: Sequence[str], closing: str, room: int) -> str:
    line = f"{opening}{', '.join(parts)}{closing}"
    if not parts or (len(line) <= room and "\n" not in line):
        return line
    inner = "".join(f"{INDENT}{part.replace(chr(10), chr(10) + INDENT)},\n" for part in parts)
    return f"{opening}\n{inner}{closing}"
