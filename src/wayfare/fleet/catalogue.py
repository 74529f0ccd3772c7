"""Ask nodesets what they are: start a copy of each, take its manifest, end it.

Knows nothing of graphs or runs; initializes nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nodeset.errors import NodeSetError
from wayfare.fleet.errors import CopyStartError, FleetSetupError, InterpreterError
from wayfare.fleet.fleet import Fleet
from wayfare.fleet.launcher import Launcher
from wayfare.fleet.member import Member
from wayfare.fleet.place import place
from wayfare.fleet.registry import NodeSetEntry

_ABSENT = re.compile(r"^ModuleNotFoundError: No module named '([^']+)'", re.MULTILINE)
_PLACE = re.compile(r"^(nodeset '\w+' \([^()]*\)|copy '\w+') ")
"""What begins a message and stands beside it in a list anyway."""


@dataclass(frozen=True, slots=True)
class NodeSetDescription:
    """A nodeset of a workspace: its manifest, or the reason why there is none here."""

    entry: NodeSetEntry
    manifest: Mapping[str, Any] | None
    unavailable: str = ""
    """The reason in full; `need` has it in a few words."""
    need: str = ""


async def describe_nodesets(
    entries: Iterable[NodeSetEntry],
    launcher: Launcher,
    configs: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[NodeSetDescription]:
    """Return the description of each nodeset, in the order of `entries`.

    `configs` lays configuration over a nodeset's default, by name. One that can't be started
    gets the reason; the others are not affected.
    """
    asked = (_describe(entry, launcher, (configs or {}).get(entry.name, {})) for entry in entries)
    return list(await asyncio.gather(*asked))


async def _describe(
    entry: NodeSetEntry, launcher: Launcher, config: Mapping[str, Any]
) -> NodeSetDescription:
    placement = place(entry.name, entry.declaration.parallelism, 1)
    member = Member(entry.declaration, entry.path, config, placement)
    try:
        async with await Fleet.start([member], 1, launcher) as fleet:
            return NodeSetDescription(entry, fleet.manifests[entry.name])
    except (FleetSetupError, NodeSetError) as error:
        return NodeSetDescription(entry, None, str(error), _describe_need(error))


def _describe_need(error: FleetSetupError | NodeSetError) -> str:
    """Return what a nodeset that did not start lacks, or how its code fails: at most a line."""
    if isinstance(error, InterpreterError):
        return error.need
    text = str(error)
    if not isinstance(error, CopyStartError | NodeSetError):
        return _PLACE.sub("", text)
    if absent := _ABSENT.search(text):
        return f"module {absent[1]!r} in its interpreter"
    said = _PLACE.sub("", text.partition("\n")[0].rpartition(" did not start: ")[2])
    return f"code that starts: {said.removeprefix('raised ').rpartition(' raised ')[2]}"
