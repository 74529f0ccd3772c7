"""Record what an attempt's calls were given: the actions, or everything.

Knows nothing of which episodes are recorded or of how attempts end.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from nodeset.context import EpisodeContext
from nodeset.digest import digest_firing
from wayfare.evals.recorder_choice import EpisodeChoice
from wayfare.evals.recorder_lane import Lane
from wayfare.graph.calls import ToolCall
from wayfare.store.errors import NoRoomError, StorageWriteError
from wayfare.store.recording import CALLS_FOLDER, PART_SUFFIX, calls_path
from wayfare.store.recording_actions import ActionFile, RecordedAction, pack_action
from wayfare.store.recording_calls import CallWriter, RecordedCall
from wayfare.store.records import EpisodeRecord
from wayfare.store.room import Room

Outputs = Mapping[str, Any] | None
"""What a call answered; None: it failed."""
Tool = tuple[str, str]

MAX_ACTION_BYTES = 256 * 2**10
"""What the actions of one attempt may hold in memory."""
_UNENCODABLE = (TypeError, ValueError, OverflowError)
"""What an input raises that can't cross to a copy either, by which its call fails."""
_MAX_TEXT = 500
_CALL_BYTES = 4096
"""What a call holds besides its arrays, roughly."""


class Track(Protocol):
    """One kind of recording of one attempt."""

    def begin(self, call: ToolCall) -> bool:
        """Take a call that begins; return whether `note` wants it when it has ended."""
        ...

    async def note(self, call: ToolCall, outputs: Outputs) -> None:
        """Take a call that has ended; may wait until there is room for it."""
        ...

    async def keep(self, record: EpisodeRecord, token: bytes) -> None:
        """Keep it as the recording of an episode whose record is about to be committed."""
        ...

    def discard(self) -> None:
        """Forget it: the attempt does not count."""
        ...


@dataclass(frozen=True, slots=True)
class EpisodeTarget:
    """The episode whose attempt is recorded, and where its recordings go."""

    folder: Path
    """The run's."""
    position: int
    """Its place in the run's list."""
    episode: EpisodeContext
    choice: EpisodeChoice
    room: Room | None = None
    """What waits while the disk is full."""


@dataclass(frozen=True, slots=True)
class ToolPorts:
    """The ports that recordings ask for, by nodeset and tool."""

    actions: dict[Tool, tuple[str, ...]] = field(default_factory=dict)
    images: dict[Tool, tuple[str, ...]] = field(default_factory=dict)
    volatile: dict[Tool, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, manifests: Mapping[str, Mapping[str, Any]]) -> ToolPorts:
        """Return the ports that the nodesets of a graph declare, by the names it gives them."""
        ports = cls()
        for nodeset, manifest in manifests.items():
            for tool in manifest["tools"]:
                key, inputs, outputs = (nodeset, tool["name"]), tool["inputs"], tool["outputs"]
                ports.actions[key] = _names(inputs, "ACTION")
                ports.images[key] = _names(outputs, "IMAGE")
                ports.volatile[key] = frozenset(p["name"] for p in outputs if p["volatile"])
        return ports


class ActionTrack:
    """The values that reach action ports."""

    def __init__(self, file: ActionFile, ports: ToolPorts, position: int) -> None:
        self._file = file
        self._ports = ports.actions
        self._position = position
        self._packed = bytearray()
        self._parts: list[asyncio.Future[int]] = []

    def begin(self, call: ToolCall) -> bool:
        """Pack the call's actions at once: an array may hold a whole message in memory."""
        for port in self._ports.get((call.nodeset, call.tool), ()):
            if port in call.inputs:
                self._packed += _pack_anything(
                    RecordedAction(call.path, call.turns, port, call.inputs[port])
                )
        if len(self._packed) > MAX_ACTION_BYTES:
            packed, self._packed = bytes(self._packed), bytearray()
            loop = asyncio.get_running_loop()
            self._parts.append(loop.run_in_executor(None, self._file.append_part, packed))
        return False

    async def note(self, call: ToolCall, outputs: Outputs) -> None:
        """Do nothing: how a call ends does not change what it was given."""

    async def keep(self, record: EpisodeRecord, token: bytes) -> None:  # noqa: ARG002
        """Wait until the disk has the actions. Raises StorageWriteError."""
        parts = [await part for part in self._parts]
        await asyncio.to_thread(
            self._file.append_episode,
            self._position,
            token,
            actions=bytes(self._packed),
            parts=parts,
        )

    def discard(self) -> None:
        """Forget the actions; what was written of a long attempt stays, unread."""
        self._packed.clear()
        for part in self._parts:
            part.cancel()


class CallTrack:
    """Every call with its inputs and the digest of its outputs, written on a lane."""

    def __init__(self, lane: Lane, ports: ToolPorts, target: EpisodeTarget) -> None:
        self._lane = lane
        self._volatile = ports.volatile
        self._target = target
        self._numbers = itertools.count()
        self._writer: CallWriter | None = None
        self._refusal: OSError | StorageWriteError | None = None

    def begin(self, call: ToolCall) -> bool:  # noqa: ARG002
        """Want every call."""
        return True

    async def note(self, call: ToolCall, outputs: Outputs) -> None:
        """Queue the call; its values are passive data that nobody writes to."""
        held_bytes = _CALL_BYTES + _measure(call.inputs) + _measure(outputs)
        number = next(self._numbers)
        await self._lane.put(lambda: self._write(number, call, outputs), held_bytes)

    async def keep(self, record: EpisodeRecord, token: bytes) -> None:
        """Wait until the disk has the calls, if the episode is wanted. Raises StorageWriteError."""
        target = self._target
        if not target.choice.wants(record):
            self.discard()
            return
        path = calls_path(target.folder, target.position, token)
        try:
            await self._lane.call(lambda: self._open().seal(path))
            if self._refusal is not None:
                raise self._refusal
        except NoRoomError:
            raise
        except (OSError, StorageWriteError) as error:
            raise StorageWriteError(
                f"{path}: a recording can't be written: {error}.", error.errno
            ) from error

    def discard(self) -> None:
        """Remove what was written."""
        self._lane.put_now(self._remove)

    def _write(self, number: int, call: ToolCall, outputs: Outputs) -> None:
        try:
            self._open().write(self._record(number, call, outputs))
        except (OSError, StorageWriteError) as error:
            self._refusal = self._refusal or error
        except _UNENCODABLE:
            if outputs is not None:
                raise

    def _record(self, number: int, call: ToolCall, outputs: Outputs) -> RecordedCall:
        volatile = self._volatile.get((call.nodeset, call.tool), frozenset())
        digest = None
        if outputs is not None:
            kept = {name: value for name, value in outputs.items() if name not in volatile}
            digest = digest_firing(call.path, call.turns, kept)
        return RecordedCall(
            number=number,
            path=call.path,
            nodeset=call.nodeset,
            tool=call.tool,
            config=call.config,
            inputs=call.inputs,
            step=call.step,
            turns=call.turns,
            seed=call.seed,
            digest=digest,
        )

    def _open(self) -> CallWriter:
        if self._writer is None:
            target = self._target
            part = target.folder / CALLS_FOLDER / f"{target.position:06d}{PART_SUFFIX}"
            episode = {**vars(target.episode), "info": dict(target.episode.info)}
            self._writer = CallWriter(part, episode, target.room)
        return self._writer

    def _remove(self) -> None:
        if self._writer is not None:
            self._writer.discard()


def _names(ports: Iterable[Mapping[str, Any]], wire_type: str) -> tuple[str, ...]:
    return tuple(port["name"] for port in ports if port["wire_type"] == wire_type)


def _pack_anything(action: RecordedAction) -> bytes:
    try:
        return pack_action(action)
    except _UNENCODABLE:
        return pack_action(replace(action, value=repr(action.value)[:_MAX_TEXT]))


def _measure(value: Any) -> int:
    """Return how many bytes the arrays, texts and bytes in a value hold."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_measure, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_measure, value))
    return 0
