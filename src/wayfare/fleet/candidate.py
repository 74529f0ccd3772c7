"""List the interpreters of this machine that a nodeset could ask for.

Knows nothing of nodesets, or of what the interpreters have installed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.interpreter import InterpreterSearch, list_conda_folders
from wayfare.fleet.probe import run_program

_PYTHON = re.compile(r"python3\.\d+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An interpreter, and where it was found: as a person would name the place."""

    path: Path
    found_in: str
    wish: str = ""
    """What `Deployment.python` says to get it, if it is neither a path nor a version."""


async def list_candidates(search: InterpreterSearch) -> list[Candidate]:
    """Return the interpreters that the search would find, each once, in its order."""
    found = [*_list_named(search), *_list_on_path(search), *_list_conda(search)]
    found += await _list_uv(search)
    return list({candidate.path.resolve(): candidate for candidate in reversed(found)}.values())[
        ::-1
    ]


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
    for folder in list_conda_folders(search):
        for path in sorted(folder.glob("*/bin/python")):
            name = path.parent.parent.name
            if (path.parent.parent / "conda-meta").is_dir():
                yield Candidate(path, "conda", f"conda:{name}")


async def _list_uv(search: InterpreterSearch) -> list[Candidate]:
    if search.uv is None:
        return []
    command = [str(search.uv), "python", "list", "--only-installed", "--managed-python", "--quiet"]
    try:
        answer = await run_program([*command, "--output-format", "json"])
        rows = json.loads(answer.text)
        return [Candidate(Path(row["path"]), "uv") for row in rows]
    except (InterpreterError, OSError, ValueError, TypeError, KeyError):
        return []  # what uv can't list, it can't give


def _list_programs(folder: Path) -> list[Path]:
    """Return a folder's `python3.N`, the newest first."""
    try:
        names = [entry.name for entry in folder.iterdir() if _PYTHON.fullmatch(entry.name)]
    except OSError:
        return []
    names.sort(key=lambda name: -int(name.rpartition(".")[2]))
    return [folder / name for name in names if os.access(folder / name, os.X_OK)]
