"""Find the Python that a nodeset asks for and prepare the environment that its copies start in.

Knows nothing of how a copy is started or called.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from uv import find_uv_bin

from wayfare.fleet.conda import CondaSearch, find_conda
from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.probe import probe, run_program

OLDEST_PYTHON = (3, 8)
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
HOST_SCRIPT = "nodeset_host.py"
"""What starts a host: with `-m` the user's working folder, too, would be on the copy's path."""
_HOST_SCRIPT_TEXT = "from nodeset.__main__ import leave, main\n\nleave(main())\n"
_VERSION = re.compile(r"\d+(\.\d+){1,2}")
_PRINT_VERSION = "import sys; print('%d.%d.%d' % sys.version_info[:3])"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that can host a nodeset."""

    path: Path
    version: str


@dataclass(frozen=True, slots=True)
class InterpreterSearch:
    """Where interpreters are looked for."""

    pythons: str = ""
    """Folders between path separators: interpreters, `bin` folders, installations, environments."""
    path: str = ""
    home: Path = Path("/nonexistent")
    conda: CondaSearch = field(default_factory=CondaSearch)
    uv: Path | None = None
    """The program that makes environments and finds interpreters of its own."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> InterpreterSearch:
        """Return the search that these environment variables describe."""
        return cls(
            pythons=environment.get("WAYFARE_PYTHONS", ""),
            path=environment.get("PATH", ""),
            home=Path(environment.get("HOME", "/nonexistent")),
            conda=CondaSearch.from_environment(environment),
            uv=find_uv(environment.get("PATH", "")),
        )


def find_uv(path: str) -> Path | None:
    """Return the uv that came with Wayfare, else the one on PATH."""
    try:
        return Path(find_uv_bin())
    except FileNotFoundError:
        found = shutil.which("uv", path=path) if path else None
        return Path(found) if found else None


def is_version(python: str) -> bool:
    """Say whether `Deployment.python` is a version, such as `3.8`."""
    return _VERSION.fullmatch(python) is not None


async def find_interpreter(python: str | None, search: InterpreterSearch) -> Interpreter:
    """Return the interpreter behind `Deployment.python`, checked for what `nodeset` needs.

    Raises InterpreterError when there is none or when it lacks a package.
    """
    if python is None:  # it runs this, so it has what `nodeset` needs
        return Interpreter(Path(sys.executable), platform.python_version())
    path = await _locate(python, search)
    answer = await probe(path)
    if answer.missing:
        raise InterpreterError(
            f"the interpreter {str(path)!r} (Python {answer.version}) lacks "
            f"{', '.join(map(repr, answer.missing))}; bring it with:"
            f" {path} -m pip install {' '.join(answer.missing)}",
            need=f"{', '.join(answer.missing)} in its interpreter",
        )
    return Interpreter(path, answer.version)


async def _locate(python: str, search: InterpreterSearch) -> Path:
    if python.startswith("conda:"):
        return find_conda(python.removeprefix("conda:"), search.conda)
    if is_version(python):
        if tuple(map(int, python.split("."))) < OLDEST_PYTHON:
            raise InterpreterError(
                f"deployment.python is {python!r}; `nodeset` needs Python "
                f"{'.'.join(map(str, OLDEST_PYTHON))} or later.",
                need=f"a later Python than {python}",
            )
        found = await _find_version(python, search) or await _ask_uv(python, search)
        if found is None:
            raise InterpreterError(
                f"no Python {python} found: looked in WAYFARE_PYTHONS ({search.pythons!r}), PATH "
                f"and uv. Put the folder that holds it into WAYFARE_PYTHONS, or run: "
                f"uv python install {python}",
                need=f"Python {python}",
            )
        return found
    return _check_path(python, search)


def _check_path(python: str, search: InterpreterSearch) -> Path:
    path = search.home / python[2:] if python.startswith("~/") else Path(python)
    if not os.access(path, os.X_OK) or path.is_dir():
        raise InterpreterError(
            f"the interpreter {python!r} is no executable file; deployment.python is a path, "
            f"a version such as '3.8', or 'conda:NAME'.",
            need=f"the interpreter {python}",
        )
    return path.absolute()


async def _find_version(version: str, search: InterpreterSearch) -> Path | None:
    folders = [Path(entry) for entry in search.pythons.split(os.pathsep) if entry]
    candidates = [path for folder in folders for path in _list_pythons(folder, version)]
    minor = ".".join(version.split(".")[:2])
    found = shutil.which(f"python{minor}", path=search.path) if search.path else None
    if found is not None:
        candidates.append(Path(found))
    for path in candidates:
        if await _has_version(path, version):
            return path
    return None


def _list_pythons(folder: Path, version: str) -> list[Path]:
    """Return what may be the version under a folder: itself, its `bin`, or an installation's."""
    name = "python" + ".".join(version.split(".")[:2])
    places = [folder, folder / "bin", *sorted(folder.glob("*/bin"), reverse=True)]
    return [place / name for place in places if os.access(place / name, os.X_OK)]


async def _has_version(path: Path, version: str) -> bool:
    """Ask the interpreter itself: a shim on PATH may stand for a version that is not there."""
    try:
        answer = await run_program([str(path), "-c", _PRINT_VERSION])
    except OSError:
        return False
    return answer.status == 0 and f"{answer.text.strip()}.".startswith(f"{version}.")


async def _ask_uv(version: str, search: InterpreterSearch) -> Path | None:
    if search.uv is None:
        return None
    command = [str(search.uv), "python", "find", "--no-project", "--managed-python", "--quiet"]
    answer = await run_program([*command, "--no-python-downloads", version])
    found = answer.text.strip()
    return Path(found) if answer.status == 0 and found else None


def link_nodeset(folder: Path, package: Path) -> Path:
    """Return a folder that holds a link to the installed `nodeset` package and HOST_SCRIPT.

    It goes on a foreign interpreter's path, whose own packages stay what they are: the folder that
    holds `nodeset` here holds everything else of this interpreter too.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    link = folder / "nodeset"
    if not link.is_symlink():
        link.symlink_to(package, target_is_directory=True)
        (folder / HOST_SCRIPT).write_text(_HOST_SCRIPT_TEXT, encoding="utf-8")
    return folder


def build_environment(
    base: Mapping[str, str],
    *,
    nodeset_folder: Path,
    deployment_env: Mapping[str, str],
    threads: int | None,
) -> dict[str, str]:
    """Return the variables that a copy starts with; `threads` None: all cores."""
    count = str(threads if threads is not None else os.cpu_count() or 1)
    environment = {**base, **dict.fromkeys(THREAD_VARIABLES, count), **deployment_env}
    path = environment.get("PYTHONPATH")
    folders = [str(nodeset_folder), *([path] if path else [])]
    environment["PYTHONPATH"] = os.pathsep.join(folders)
    return environment
