"""Find conda's environments by name, without starting conda.

Knows nothing of what is in them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wayfare.fleet.errors import InterpreterError

_INSTALLATIONS = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".mamba")
_PROGRAM_VARIABLES = ("CONDA_EXE", "MAMBA_EXE")
_ROOT_VARIABLES = ("CONDA_ROOT", "MAMBA_ROOT_PREFIX", "CONDA_PREFIX")
_FOLDER_VARIABLES = ("CONDA_ENVS_PATH", "CONDA_ENVS_DIRS")
BASE = "base"


@dataclass(frozen=True, slots=True)
class CondaSearch:
    """Where environments are looked for: installations, and folders of environments."""

    roots: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> CondaSearch:
        """Return the search that these variables describe: conda's own, PATH, HOME."""
        folders = [
            Path(entry)
            for name in ("WAYFARE_PYTHONS", *_FOLDER_VARIABLES)
            for entry in environment.get(name, "").split(os.pathsep)
            if entry
        ]
        home = environment.get("HOME")
        if home:
            folders.append(Path(home, ".conda", "envs"))
        roots = dict.fromkeys(_list_roots(environment))
        return cls(tuple(roots), tuple(dict.fromkeys([*folders, *(r / "envs" for r in roots)])))

    def list_environments(self) -> dict[str, Path]:
        """Return each environment's interpreter by its name, the first of each name."""
        found: dict[str, Path] = {}
        for root in self.roots:
            if _is_python(root / "bin" / "python") and (root / "conda-meta").is_dir():
                found.setdefault(BASE, root / "bin" / "python")
        for folder in self.folders:
            for path in sorted(folder.glob("*/bin/python")):
                if _is_python(path):
                    found.setdefault(path.parent.parent.name, path)
        return found


def find_conda(name: str, search: CondaSearch) -> Path:
    """Return the interpreter of the environment of that name. Raises InterpreterError."""
    environments = search.list_environments()
    if name in environments:
        return environments[name]
    known = ", ".join(sorted(environments)) or "none"
    looked = ", ".join(map(str, search.folders)) or "no folder"
    raise InterpreterError(
        f"no conda environment {name!r} found; there are: {known} (looked in {looked}). "
        f"Make it with: conda create --name {name} python, or name the folder that holds it in "
        f"CONDA_ENVS_PATH.",
        need=f"conda environment {name!r}",
    )


def _list_roots(environment: Mapping[str, str]) -> Iterator[Path]:
    for name in _ROOT_VARIABLES:
        if environment.get(name):
            root = Path(environment[name])
            yield root.parent.parent if root.parent.name == "envs" else root
    programs = [environment.get(name) for name in _PROGRAM_VARIABLES]
    path = environment.get("PATH")
    programs += [shutil.which(name, path=path) for name in ("conda", "mamba")] if path else []
    for program in programs:
        if program:  # …/condabin/conda or …/bin/conda
            yield Path(program).resolve().parent.parent
    if environment.get("HOME"):
        yield from (Path(environment["HOME"], name) for name in _INSTALLATIONS)


def _is_python(path: Path) -> bool:
    return os.access(path, os.X_OK)
