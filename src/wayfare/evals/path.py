"""Take the paths that a program hands in. Knows nothing of what lies there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wayfare.evals.errors import SetupError


def read_path(given: Path | str, name: str) -> Path:
    """Return a path; `name` is what it was given as. Raises SetupError for an empty text."""
    if not str(given).strip():
        raise SetupError(f"{name} is {given!r}; it must be a path: '.' is the current folder.")
    return Path(given)


def read_paths(given: Iterable[Path | str], name: str) -> list[Path]:
    """Return several paths. Raises SetupError for an empty text, or a text in place of a list."""
    if isinstance(given, str):
        raise SetupError(f"{name} is the text {given!r}; it must be a list of paths.")
    return [read_path(path, name) for path in given]
