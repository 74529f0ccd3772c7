"""List the interpreters of this machine that a nodeset could ask for.

Knows nothing of nodesets, or of what the interpreters have installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.interpreter import InterpreterSearch
from wayfare.fleet.probe import run_program

_PYTHON = re.compile(r"python3\.\d+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An interpreter, and where it was found: as a person would name the place."""

    path: Path
    found_in: str
    wish: str = ""
    """What `Deployment.python` says to get it, if it is neither a path nor a version."""


async def iterate_candidates(search: InterpreterSearch) -> AsyncIterator[Candidate]:
    """Yield the interpreters that the search finds, each once, in its order; uv is asked last."""
    seen = set()
    for candidate in (*_list_named(search), *_list_on_path(search), *_list_conda(search)):
        if candidate.path.resolve() not in seen:
            seen.add(candidate.path.resolve())
            yield candidate
    for candidate in await list_managed(search):
        if candidate.path.resolve() not in seen:
            yield candidate


async def list_managed(search: InterpreterSearch) -> list[Candidate]:
    """Return the interpreters that uv has brought, the newest first."""
    if search.uv is None:
        return []
    try:
        answer = await run_program([str(search.uv), "python", "dir", "--color", "never"])
    except (InterpreterError, OSError):
        return []
    return _list_brought(Path(answer.text.strip())) if answer.status == 0 else []


def _list_brought(folder: Path) -> list[Candidate]:
    pythons = [path for place in folder.glob("*/bin") for path in _list_programs(place)]
    pythons.sort(key=lambda path: (-_minor(path), path.parent.parent.is_symlink(), str(path)))
    return [Candidate(path, "uv") for path in pythons]


def list_named_folders(search: InterpreterSearch) -> list[Path]:
    """Return the folders that WAYFARE_PYTHONS names."""
    return [Path(entry) for entry in search.pythons.split(os.pathsep) if entry]


def list_pythons_in(folder: Path) -> list[Path]:
    """Return the interpreters of a folder: its own, its `bin`'s, those of installations in it."""
    places = [folder, folder / "bin", *sorted(folder.glob("*/bin"))]
    return [path for place in places for path in _list_programs(place)]


def _list_named(search: InterpreterSearch) -> Iterator[Candidate]:
    for folder in list_named_folders(search):
        yield from (Candidate(path, "WAYFARE_PYTHONS") for path in list_pythons_in(folder))


def _list_on_path(search: InterpreterSearch) -> Iterator[Candidate]:
    for entry in search.path.split(os.pathsep):
        if entry:
            yield from (Candidate(path, "PATH") for path in _list_programs(Path(entry)))


def _list_conda(search: InterpreterSearch) -> Iterator[Candidate]:
    for name, path in search.conda.list_environments().items():
        if (path.parent.parent / "conda-meta").is_dir():
            yield Candidate(path, "conda", f"conda:{name}")


def _list_programs(folder: Path) -> list[Path]:
    """Return a folder's `python3.N`, the newest first."""
    try:
        names = [entry.name for entry in folder.iterdir() if _PYTHON.fullmatch(entry.name)]
    except OSError:
        return []
    paths = [folder / name for name in names if os.access(folder / name, os.X_OK)]
    return sorted(paths, key=lambda path: -_minor(path))


def _minor(path: Path) -> int:
    return int(path.name.rpartition(".")[2])
