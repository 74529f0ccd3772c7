"""Run short programs, and ask interpreters what they are and have.

Knows nothing of nodesets or of where interpreters are found.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wayfare.fleet.errors import InterpreterError

REQUIRED_PACKAGES = ("numpy", "msgpack", "xxhash")
"""What `nodeset` needs of the interpreter that it runs in."""
PROBE_SECONDS = 60.0
_PROBE = """
import importlib, json, sys
missing = []
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError:
        missing.append(name)
print(json.dumps({"version": "%d.%d.%d" % sys.version_info[:3], "missing": missing}))
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a program ended, and what it printed on both streams."""

    status: int
    text: str


@dataclass(frozen=True, slots=True)
class Probe:
    """What an interpreter says of itself."""

    version: str
    missing: tuple[str, ...] = ()
    """Packages that `nodeset` needs and that it can't import."""


async def run_program(
    argv: Sequence[str],
    seconds: float = PROBE_SECONDS,
    *,
    environment: Mapping[str, str] | None = None,
) -> Answer:
    """Return what a short program came to. Raises InterpreterError past the deadline.

    Cancellation ends the program.
    """
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment,
    )
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise InterpreterError(f"{argv[0]!r} did not answer within {seconds:g} s.") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Answer(process.returncode or 0, output.decode(errors="replace"))


async def probe(python: Path) -> Probe:
    """Return the version of an interpreter and which of REQUIRED_PACKAGES it lacks.

    Raises InterpreterError if it does not run.
    """
    try:
        answer = await run_program([str(python), "-c", _PROBE, *REQUIRED_PACKAGES])
        found = json.loads(answer.text.splitlines()[-1])
        return Probe(str(found["version"]), tuple(found["missing"]))
    except OSError as error:
        raise InterpreterError(
            f"the interpreter {str(python)!r} does not run: {error.strerror}."
        ) from error
    except (ValueError, LookupError, TypeError) as error:
        raise InterpreterError(
            f"the interpreter {str(python)!r} does not run (status {answer.status}): "
            f"{answer.text.strip()!r}"
        ) from error
