"""Choose the interpreter that an environment is made from.

Knows nothing of what the environment holds.
"""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from packaging.specifiers import SpecifierSet

from wayfare.fleet.candidate import iterate_candidates, list_managed
from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.interpreter import OLDEST_PYTHON, Interpreter, InterpreterSearch
from wayfare.fleet.probe import run_program

NEWEST_MINOR = 13
"""The newest Python 3.N that `nodeset` promises to run in."""
DOWNLOAD_SECONDS = 600.0
_MAX_PATCH = 60
_MINOR = re.compile(r"python3\.(\d+)")
_VERSION = re.compile(r"3\.\d+\.\d+")
_PRINT_VERSION = "import sys; print('%d.%d.%d' % sys.version_info[:3])"


async def choose_base(
    wanted: SpecifierSet,
    search: InterpreterSearch,
    *,
    place: str,
    notify: Callable[[str], None] | None = None,
) -> Interpreter:
    """Return the first interpreter that is wanted: Wayfare's own, then as the search finds them.

    With `notify`, uv may bring one, which it is told. Raises InterpreterError, naming the `place`
    that asks.
    """
    async for interpreter in _list_bases(wanted, search):
        if wanted.contains(interpreter.version):
            return interpreter
    minor = _newest_minor(wanted)
    if minor is None:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        raise InterpreterError(
            f"{place}: requires-python is {str(wanted)!r}; `nodeset` runs in Python {oldest} to "
            f"3.{NEWEST_MINOR}.",
            need="another requires-python",
        )
    said = ""
    if notify is not None and search.uv is not None:
        notify(f"no Python {wanted} is here; asking uv for 3.{minor}")
        said = await _download(search.uv, minor)
        async for interpreter in _list_managed(search):
            if wanted.contains(interpreter.version):
                return interpreter
    raise InterpreterError(
        f"{place}: no Python that fits requires-python {str(wanted)!r} found: looked in "
        f"WAYFARE_PYTHONS ({search.pythons!r}), PATH and uv.{said} Put the folder that holds one "
        f"into WAYFARE_PYTHONS, or run: uv python install 3.{minor}",
        need=f"Python {wanted}",
    )


async def _list_bases(
    wanted: SpecifierSet, search: InterpreterSearch
) -> AsyncIterator[Interpreter]:
    yield Interpreter(Path(sys.executable), platform.python_version())
    async for candidate in iterate_candidates(search):
        minor = _MINOR.fullmatch(candidate.path.name)
        if candidate.wish or (minor and not _may_fit(wanted, int(minor[1]))):
            continue
        version = await _ask_version(candidate.path)
        if version is not None:
            yield Interpreter(candidate.path, version)


async def _list_managed(search: InterpreterSearch) -> AsyncIterator[Interpreter]:
    """Yield uv's own interpreters."""
    for candidate in await list_managed(search):
        version = await _ask_version(candidate.path)
        if version is not None:
            yield Interpreter(candidate.path, version)


async def _ask_version(python: Path) -> str | None:
    """Ask the interpreter itself: a shim on PATH may stand for a version that is not there."""
    try:
        answer = await run_program([str(python), "-c", _PRINT_VERSION])
    except (InterpreterError, OSError):
        return None
    version = answer.text.strip()
    return version if answer.status == 0 and _VERSION.fullmatch(version) else None


async def _download(uv: Path, minor: int) -> str:
    """Have uv bring an interpreter; return what it said if it could not."""
    command = [str(uv), "python", "install", f"3.{minor}", "--no-progress", "--color", "never"]
    answer = await run_program([*command, "--no-bin"], DOWNLOAD_SECONDS)
    return f" uv could not bring one: {json.dumps(answer.text.strip())}." if answer.status else ""


def _newest_minor(wanted: SpecifierSet) -> int | None:
    minors = range(NEWEST_MINOR, OLDEST_PYTHON[1] - 1, -1)
    return next((minor for minor in minors if _may_fit(wanted, minor)), None)


def _may_fit(wanted: SpecifierSet, minor: int) -> bool:
    """Say whether some Python 3.minor.N is wanted that `nodeset` runs in."""
    is_known = OLDEST_PYTHON[1] <= minor <= NEWEST_MINOR
    return is_known and any(wanted.contains(f"3.{minor}.{patch}") for patch in range(_MAX_PATCH))
