"""Make text fit to be stored and printed, wherever it came from.

Knows nothing of what it says.
"""

from __future__ import annotations

import re
from typing import Match

MAX_TEXT = 65536
"""Characters of a message or traceback that are kept."""
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Signs that move a cursor, colour or reorder what follows; lines and tabs are none of them."""


def is_encodable(text: str) -> bool:
    """Return whether UTF-8 can encode the text: whether it holds no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def tidy(text: str, limit: int = MAX_TEXT) -> str:
    """Return the text with lone surrogates as escapes and its middle cut out if it is too long."""
    if len(text) > limit:
        half = limit // 2
        left_out = len(text) - 2 * half
        text = f"{text[:half]} [... {left_out} characters left out ...] {text[-half:]}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def printable(text: str) -> str:
    """Return the text with what would steer a terminal as escapes; lines and tabs stay."""
    return _STEERING.sub(_escape, text)


def _escape(sign: Match[str]) -> str:
    return ascii(sign.group())[1:-1]
