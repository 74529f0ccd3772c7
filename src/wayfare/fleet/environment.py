"""Keep environments of script headers by their content, and have each made once.

Knows nothing of copies. Whoever builds holds a lock; an environment appears under its name when it
is whole, so that one whose making was cut short is none.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from wayfare.fleet.environment_build import EnvironmentBuild, EnvironmentRequest, Say
from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.interpreter import Interpreter
from wayfare.fleet.uv_program import UvError

CACHE_VARIABLE = "WAYFARE_CACHE"
_NEED = "its environment, which can't be built"
LOOK_SECONDS = 0.2
"""How often is looked whether another process has built it."""


def find_cache(environment: Mapping[str, str]) -> Path:
    """Return the folder that the variables name for what can be made again."""
    if named := environment.get(CACHE_VARIABLE):
        return Path(named).absolute()
    root = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME", "/"), ".cache")
    return Path(root).absolute() / "wayfare"


class EnvironmentStore:
    """The environments in a folder of the cache."""

    def __init__(self, cache: Path, uv: Path | None, variables: Mapping[str, str]) -> None:
        self._cache = cache
        self._locks = cache / "locks"
        self._environments = cache / "environments"
        self._uv = uv
        self._variables = {key: text for key, text in variables.items() if key != "VIRTUAL_ENV"}

    def find(self, request: EnvironmentRequest) -> Interpreter | None:
        """Return the interpreter of an environment that is there; needs no network."""
        try:
            lock = self._lock_path(request).read_text(encoding="utf-8")
        except OSError:
            return None
        folder = self._folder(request, lock)
        python = folder / "bin" / "python"
        if not os.access(python, os.X_OK):
            return None
        return Interpreter(python, request.base.version)

    async def build(self, request: EnvironmentRequest, say: Say) -> Interpreter:
        """Return the interpreter of an environment, made if it is not there; `say` what is done.

        Raises InterpreterError with what can't be had, and the command for another try.
        """
        if self._uv is None:
            raise InterpreterError(
                f"{request.header.place}: nodeset {request.nodeset!r} needs an environment of its "
                f"own, which uv makes; bring it with: pip install uv",
                need="uv",
            )
        try:
            async with self._building(request, say):
                found = self.find(request)
                if found is None:
                    await self._make(self._uv, request, say)
                    found = self.find(request)
        except UvError as error:
            need = f"package {error.missing!r}" if error.missing else _NEED
            raise InterpreterError(_explain(request, error), need=need) from error
        except OSError as error:
            raise InterpreterError(
                f"the environment of nodeset {request.nodeset!r} can't be kept in {self._cache}: "
                f"{error}. Name another folder with {CACHE_VARIABLE}.",
                need=_NEED,
            ) from error
        if found is None:
            gone = f"the environment of {request.nodeset!r} went away again."
            raise InterpreterError(gone, need=_NEED)
        return found

    async def _make(self, uv: Path, request: EnvironmentRequest, say: Say) -> None:
        begun = time.monotonic()
        say(f"building for Python {request.base.version}, once")
        lock_path = self._lock_path(request)
        with tempfile.TemporaryDirectory(dir=self._environments, prefix=_prefix(request)) as name:
            build = EnvironmentBuild(request, uv, self._variables, Path(name), say)
            if not lock_path.exists():
                (await build.resolve()).replace(lock_path)
            lock = lock_path.read_text(encoding="utf-8")
            made, target = await build.install(lock), self._folder(request, lock)
            shutil.rmtree(target, ignore_errors=True)  # one whose interpreter is gone
            made.replace(target)
        say(f"built in {time.monotonic() - begun:.1f} s")

    @contextlib.asynccontextmanager
    async def _building(self, request: EnvironmentRequest, say: Say) -> AsyncIterator[None]:
        """Hold the right to build; a process that dies gives it back. Removes what it left."""
        for folder in (self._locks, self._environments):
            folder.mkdir(parents=True, exist_ok=True)
        with (self._locks / f"{request.lock_key}.building").open("w") as file:
            is_told = False
            while not _try_lock(file.fileno()):
                if not is_told:
                    say("another process builds it; waiting")
                is_told = True
                await asyncio.sleep(LOOK_SECONDS)
            for left in self._environments.glob(f"{_prefix(request)}*"):
                shutil.rmtree(left, ignore_errors=True)
            yield

    def _lock_path(self, request: EnvironmentRequest) -> Path:
        return self._locks / f"{request.lock_key}.txt"

    def _folder(self, request: EnvironmentRequest, lock: str) -> Path:
        return self._environments / request.environment_key(lock)


def _prefix(request: EnvironmentRequest) -> str:
    """Return how the names of folders begin in which it is made."""
    return f".{request.lock_key}-"


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _explain(request: EnvironmentRequest, error: UvError) -> str:
    what = f"package {error.missing!r} can't be had" if error.missing else "uv fails"
    where = " without a network" if error.is_offline else ""
    return (
        f"{request.header.place}: nodeset {request.nodeset!r} needs an environment that can't be "
        f"built: {what}{where} for Python {request.base.version}. Once that is mended, build it "
        f"with: wayfare nodesets --build {request.nodeset}\nuv said:\n{error.text}"
    )
