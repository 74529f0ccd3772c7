"""Say which interpreter a nodeset asks for, and whether it can be had here.

Knows nothing of manifests or of how a copy is started.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.provision import NotBuiltError, Provision, Wish
from wayfare.fleet.registry import NodeSetEntry

OWN = "Wayfare's own"
HEADER = "script header"


@dataclass(frozen=True, slots=True)
class InterpreterState:
    """What a nodeset asks for, and what there is: `ready`, `not built` or `missing`."""

    wish: str
    state: Literal["ready", "not built", "missing"]
    path: Path | None = None
    version: str = ""
    reason: str = ""
    need: str = ""
    """What there should be, in a few words."""


async def inspect_interpreters(
    entries: Iterable[NodeSetEntry], provision: Provision
) -> list[InterpreterState]:
    """Return the state for each nodeset, in their order; builds environments if that may."""
    return list(await asyncio.gather(*(_inspect(entry, provision) for entry in entries)))


async def _inspect(entry: NodeSetEntry, provision: Provision) -> InterpreterState:
    python = entry.declaration.deployment.python
    wish = python or OWN
    try:
        if Wish.of(python, entry.path).header is not None:
            wish = HEADER if python is None else f"{HEADER}, {python}"
        found = await provision.get(python, entry.path, entry.name)
    except NotBuiltError as error:
        return InterpreterState(wish, "not built", reason=str(error), need=error.need)
    except InterpreterError as error:
        return InterpreterState(wish, "missing", reason=str(error), need=error.need)
    return InterpreterState(wish, "ready", found.path, found.version)
