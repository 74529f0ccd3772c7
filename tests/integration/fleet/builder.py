"""Build the environment of a nodeset's file, as a process of its own: CACHE UV FILE.

Knows nothing of what the tests do to it meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from pathlib import Path

from wayfare.fleet.environment import EnvironmentStore
from wayfare.fleet.environment_build import EnvironmentRequest
from wayfare.fleet.interpreter import Interpreter
from wayfare.fleet.script_header import read_header


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def build(cache: Path, uv: Path, file: Path) -> Interpreter:
    header = read_header(file)
    assert header is not None
    base = Interpreter(Path(sys.executable), platform.python_version())
    store = EnvironmentStore(cache, uv, os.environ)
    return await store.build(EnvironmentRequest("sim", header, base), say)


if __name__ == "__main__":
    cache, uv, file = map(Path, sys.argv[1:])
    print(asyncio.run(build(cache, uv, file)).path)
