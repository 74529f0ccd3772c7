"""Make text fit to be stored and printed, wherever it came from.

Knows nothing of what it says.
"""

from __future__ import annotations

MAX_TEXT = 65536
"""Characters of a message or traceback that are kept."""


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
