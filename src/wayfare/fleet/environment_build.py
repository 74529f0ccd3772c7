"""Make one environment of a script header in a folder: choose versions, install them.

Knows nothing of where environments are kept or of who else makes one.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeset.manifest import LOCK_FILE
from wayfare.fleet.interpreter import Interpreter
from wayfare.fleet.nodeset_wheel import NAME, list_requirements, write_wheel
from wayfare.fleet.script_header import ScriptHeader
from wayfare.fleet.uv_program import run_uv

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class EnvironmentRequest:
    """What an environment is to be: a header's packages, and what `nodeset` needs, over a Python.

    `nodeset` itself goes in by path, as into every interpreter.
    """

    nodeset: str
    """The nodeset that asks, for messages."""
    header: ScriptHeader
    base: Interpreter

    @property
    def lock_key(self) -> str:
        """Return what decides which versions are chosen, as a name."""
        return hash_name(
            [
                list(self.header.dependencies),
                self.header.settings,
                self.base.version,
                [sys.platform, platform.machine()],
                list_requirements(),
            ]
        )

    def environment_key(self, lock: str) -> str:
        """Return what decides what is installed, as a name."""
        base = str(self.base.path.resolve())
        return hash_name([self.lock_key, lock, base])


@dataclass(frozen=True, slots=True)
class EnvironmentBuild:
    """The making of one environment in the folder `work`, which is its maker's own."""

    request: EnvironmentRequest
    uv: Path
    variables: Mapping[str, str]
    work: Path
    say: Say

    async def resolve(self) -> Path:
        """Return the file that says which version of each package is taken, with hashes."""
        wheel = write_wheel(self.work)
        lines = [*self.request.header.dependencies, f"{NAME} @ {wheel.as_uri()}"]
        (self.work / "requirements.in").write_text("\n".join(lines) + "\n", encoding="utf-8")
        await self._run(
            *("pip", "compile", "requirements.in", "--output-file", LOCK_FILE),
            *(
                "--python",
                str(self.request.base.path),
                "--generate-hashes",
                "--no-header",
                "--no-annotate",
            ),
            *("--no-emit-index-url", "--no-emit-find-links", "--no-emit-package", NAME),
        )
        return self.work / LOCK_FILE

    async def install(self, lock: str) -> Path:
        """Return the folder of the environment; it may be moved."""
        target = self.work / "environment"
        base = str(self.request.base.path)
        quiet = ("--quiet", "--no-project", "--relocatable")
        await self._run("venv", *quiet, "--python", base, str(target))
        (target / LOCK_FILE).write_text(lock, encoding="utf-8")
        await self._run(
            *("pip", "install", "--python", str(target / "bin" / "python"), "--no-deps"),
            *("--requirements", str(target / LOCK_FILE)),
        )
        return target

    async def _run(self, *arguments: str) -> None:
        settings = self.request.header.settings
        own: tuple[str, ...] = ()
        if settings:
            text = "".join(f"{key} = {_toml(value)}\n" for key, value in settings.items())
            (self.work / "uv.toml").write_text(text, encoding="utf-8")
            own = ("--config-file", str(self.work / "uv.toml"))
        await run_uv(
            self.uv,
            [*arguments, *own],
            environment=self.variables,
            folder=self.work,
            say=self.say,
        )


def hash_name(content: Any) -> str:
    """Return a hash of plain data, short enough for a folder's name."""
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _toml(value: Any) -> str:
    """Return a value as TOML writes it in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool | int | float) else str(value)
