"""Read the inline script metadata (PEP 723) of a nodeset's file.

Knows nothing of how an environment is made of it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from wayfare.fleet.errors import InterpreterError

_BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
_OPENING = re.compile(r"(?m)^# /// script\s*$")
_KEYS = ("requires-python", "dependencies", "tool")


class HeaderError(InterpreterError):
    """A file's script metadata can't be used; the message names file, line and rule."""

    def __init__(self, message: str) -> None:
        super().__init__(message, need="its script header mended")


@dataclass(frozen=True, slots=True)
class ScriptHeader:
    """What a file says it needs: a Python, packages, and settings of uv."""

    file: Path
    line: int
    requires_python: str = ""
    dependencies: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The table `tool.uv`."""

    @property
    def place(self) -> str:
        """Return where it stands."""
        return f"{self.file}:{self.line}"

    @property
    def pythons(self) -> SpecifierSet:
        """Return the versions of Python that it allows."""
        return SpecifierSet(self.requires_python)


def read_header(file: Path) -> ScriptHeader | None:
    """Return the metadata of a file; None if it has none. Raises HeaderError."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HeaderError(f"{file} can't be read: {error}.") from error
    openings = [text.count("\n", 0, match.start()) + 1 for match in _OPENING.finditer(text)]
    if not openings:
        return None
    if len(openings) > 1:
        lines = " and ".join(map(str, openings))
        _refuse(file, openings[1], f"there are two script blocks, in lines {lines}; one may stand")
    block = next((m for m in _BLOCK.finditer(text) if m["type"] == "script"), None)
    if block is None:
        rule = "the script block does not end: each line begins with '# ', the last is '# ///'"
        _refuse(file, openings[0], rule)
    content = "".join(
        line[2:] if line.startswith("# ") else line[1:]
        for line in block["content"].splitlines(keepends=True)
    )
    return _parse(content, file, openings[0])


def _parse(content: str, file: Path, line: int) -> ScriptHeader:
    try:
        data = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        _refuse(file, line, f"the script block is not TOML: {error}")
    for key in data:
        if key not in _KEYS:
            _refuse(file, line, f"the script block has a key {key!r}; it may have {_list(_KEYS)}")
    header = ScriptHeader(
        file,
        line,
        _read_python(data.get("requires-python", ""), file, line),
        _read_dependencies(data.get("dependencies", []), file, line),
        _read_settings(data.get("tool", {}), file, line),
    )
    return header


def _read_python(value: Any, file: Path, line: int) -> str:
    try:
        SpecifierSet(value)
    except (InvalidSpecifier, TypeError, AttributeError):
        rule = "it must be a range of versions such as '>=3.8,<3.12'"
        _refuse(file, line, f"requires-python is {value!r}; {rule}")
    return str(value)


def _read_dependencies(value: Any, file: Path, line: int) -> tuple[str, ...]:
    if not isinstance(value, list):
        _refuse(file, line, f"dependencies is {value!r}; it must be a list of requirements")
    for item in value:
        try:
            Requirement(item)
        except (InvalidRequirement, TypeError) as error:
            rule = "it must be a requirement such as 'numpy>=1.20'"
            _refuse(file, line, f"dependencies holds {item!r}; {rule} ({error})".replace("\n", " "))
    return tuple(value)


def _read_settings(value: Any, file: Path, line: int) -> Mapping[str, Any]:
    settings = value.get("uv", {}) if isinstance(value, dict) else value
    if not isinstance(settings, dict):
        _refuse(file, line, f"tool is {value!r}; it must be a table")
    if "sources" in settings:
        rule = "write the address into the dependency: 'package @ https://…'"
        _refuse(file, line, f"tool.uv has sources, which Wayfare does not read; {rule}")
    return settings


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names))


def _refuse(file: Path, line: int, rule: str) -> NoReturn:
    raise HeaderError(f"{file}:{line}: {rule}.")
