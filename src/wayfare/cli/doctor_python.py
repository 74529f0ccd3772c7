"""Find out which interpreters nodesets can ask for, and what they lack.

Knows nothing of which nodesets there are.
"""

from __future__ import annotations

import asyncio
import platform
import sys

from wayfare.cli.doctor_finding import Finding
from wayfare.fleet.candidate import (
    Candidate,
    iterate_candidates,
    list_named_folders,
    list_pythons_in,
)
from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.interpreter import OLDEST_PYTHON, InterpreterSearch
from wayfare.fleet.probe import Probe, probe

AREA = "python"


async def check_pythons(search: InterpreterSearch) -> list[Finding]:
    """Return a line for each interpreter, and for each folder of WAYFARE_PYTHONS without one."""
    found = [Finding(AREA, platform.python_version(), "ok", f"{sys.executable}: Wayfare's own")]
    for folder in list_named_folders(search):
        if not list_pythons_in(folder):
            detail = f"WAYFARE_PYTHONS names {folder}, which holds no python3.N"
            found.append(Finding(AREA, str(folder), "missing", detail, "correct WAYFARE_PYTHONS"))
    candidates = [candidate async for candidate in iterate_candidates(search)]
    answers = await asyncio.gather(*(_ask(candidate) for candidate in candidates))
    found += [finding for finding in answers if finding is not None]
    if search.uv is None:
        detail = "no uv on PATH: no environments from script headers"
        found.append(Finding(AREA, "uv", "warning", detail, "pip install uv"))
    return found


async def _ask(candidate: Candidate) -> Finding | None:
    """Return the line of an interpreter; None for one that no nodeset could run in."""
    try:
        answer = await probe(candidate.path)
    except InterpreterError as error:
        if candidate.found_in == "PATH":  # a shim may stand for a version that is not there
            return None
        return Finding(AREA, str(candidate.path), "warning", str(error))
    if tuple(map(int, answer.version.split(".")[:2])) < OLDEST_PYTHON:
        return None
    return _judge(candidate, answer)


def _judge(candidate: Candidate, answer: Probe) -> Finding:
    place = f"{candidate.path} ({candidate.wish or candidate.found_in})"
    if not answer.missing:
        return Finding(AREA, answer.version, "ok", place)
    detail = f"{place}, without {', '.join(answer.missing)}: for nodesets with a script header"
    if candidate.found_in == "PATH":  # the system's own: nobody should install into it
        return Finding(AREA, answer.version, "ok", detail)
    remedy = f"{candidate.path} -m pip install {' '.join(answer.missing)}"
    return Finding(AREA, answer.version, "warning", detail, remedy)
