"""Get the interpreter that a nodeset's copies start in; build its environment if it needs one.

Knows nothing of how a copy is started.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from packaging.specifiers import SpecifierSet

from nodeset.source import module_file
from wayfare.fleet.base_python import choose_base
from wayfare.fleet.environment import EnvironmentStore, find_cache
from wayfare.fleet.environment_build import EnvironmentRequest
from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.interpreter import Interpreter, InterpreterSearch, find_interpreter, is_version
from wayfare.fleet.script_header import HeaderError, ScriptHeader, read_header


class NotBuiltError(InterpreterError):
    """An environment is not there yet, and nobody asked for it to be built."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a nodeset asks for: its `Deployment.python`, and the script header of its file."""

    python: str | None
    header: ScriptHeader | None

    @classmethod
    def of(cls, python: str | None, path: Path) -> Wish:
        """Return the wish of the nodeset in a file or folder. Raises HeaderError."""
        header = read_header(module_file(path))
        if header is not None and python is not None and not is_version(python):
            raise HeaderError(
                f"{header.place}: there is a script header, and deployment.python is {python!r}, "
                f"which has packages of its own. Leave one of them out, or give a version."
            )
        return cls(python, header)


class Provision:
    """Looks up each wish once; `close` it.

    `notify` is told a sentence a step while an environment is built; without `may_build` one that
    is not there raises NotBuiltError.
    """

    def __init__(
        self,
        search: InterpreterSearch,
        variables: Mapping[str, str],
        *,
        notify: Callable[[str], None],
        may_build: bool,
    ) -> None:
        self._search = search
        self._store = EnvironmentStore(find_cache(variables), search.uv, variables)
        self._notify = notify
        self._may_build = may_build
        self._found: dict[Wish, asyncio.Task[Interpreter]] = {}

    async def get(self, python: str | None, path: Path, nodeset: str) -> Interpreter:
        """Return the interpreter for a nodeset. Raises InterpreterError."""
        wish = Wish.of(python, path)
        if wish not in self._found:
            search = self._search_for(wish, nodeset)
            self._found[wish] = asyncio.create_task(search, name=f"interpreter of {nodeset}")
        return await asyncio.shield(self._found[wish])

    async def close(self) -> None:
        """End what is under way."""
        for search in self._found.values():
            search.cancel()
        await asyncio.gather(*self._found.values(), return_exceptions=True)

    async def _search_for(self, wish: Wish, nodeset: str) -> Interpreter:
        if wish.header is None:
            return await find_interpreter(wish.python, self._search)
        base = await self._find_base(wish, nodeset)
        request = EnvironmentRequest(nodeset, wish.header, base)
        found = self._store.find(request)
        if found is not None:
            return found
        if not self._may_build:
            raise NotBuiltError(
                f"{wish.header.place}: the environment of nodeset {nodeset!r} is not built yet. "
                f"Its first use builds it, or: wayfare nodesets --build {nodeset}",
                need=f"its environment: wayfare nodesets --build {nodeset}",
            )
        return await self._store.build(request, partial(self._say, nodeset))

    async def _find_base(self, wish: Wish, nodeset: str) -> Interpreter:
        assert wish.header is not None  # noqa: S101  asked only for headers
        notify = partial(self._say, nodeset) if self._may_build else None
        place = wish.header.place
        wanted = wish.header.pythons
        if wish.python is not None:
            exact = wish.python.count(".") == 2  # major.minor.patch
            wanted &= SpecifierSet(f"=={wish.python}" if exact else f"=={wish.python}.*")
        return await choose_base(wanted, self._search, place=place, notify=notify)

    def _say(self, nodeset: str, text: str) -> None:
        self._notify(f"environment of {nodeset}: {text}")
