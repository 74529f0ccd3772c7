"""Keep every call of an episode, with all that is needed to send it again, and read it back.

Equal arrays stand in a file once. Knows nothing of who answers calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from nodeset.digest import digest_value
from wayfare.store.errors import CorruptFileError, NotRecordedError
from wayfare.store.frames import (
    FRAME_BYTES,
    HEAD_BYTES,
    FrameWriter,
    read_frame,
    read_frames,
)
from wayfare.store.recording import calls_path, record_token
from wayfare.store.recording_block import (
    Array,
    pack_block,
    pack_value,
    peek_block,
    read_only,
    unpack_block,
    unpack_value,
)
from wayfare.store.records import EpisodeRecord
from wayfare.store.room import Room

_EPISODE = 1
_ARRAY = 2
_CALL = 3
_END = 4
_HAS_END = b"end"
"""The key of the first block of a file whose last block is its end; older files have none."""
_MIN_SHARED_BYTES = 64
"""Arrays below it stand in the call itself: a reference would be no shorter."""
_FLUSH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One call as it was sent; `digest` is that of its outputs, None: it failed.

    `number` counts the episode's calls in the order in which they were answered.
    """

    number: int
    path: str
    nodeset: str
    tool: str
    config: Mapping[str, Any]
    inputs: Mapping[str, Any]
    step: int
    turns: tuple[int, ...]
    seed: int
    digest: bytes | None


class CallWriter:
    """Writes the calls of one episode; `seal` or `discard` ends it. For one thread at a time."""

    def __init__(self, path: Path, episode: Mapping[str, Any], room: Room | None = None) -> None:
        self._path = path
        self._file = FrameWriter.open(path, room=room)
        self._known: set[bytes] = set()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._put(pack_block(_EPISODE, pack_value(dict(episode)), _HAS_END))

    def write(self, call: RecordedCall) -> None:
        """Write one call. Raises OSError when the disk refuses."""
        entry = [call.number, call.path, call.nodeset, call.step, call.turns]
        fields = [call.tool, call.config, call.inputs, call.seed, call.digest]
        self._put(pack_block(_CALL, pack_value(fields, self._refer), pack_value(entry)))

    def seal(self, target: Path) -> None:
        """End the file and move it to `target`; by then the disk has it."""
        heads = FRAME_BYTES * len(self._waiting)
        self._put(_pack_end(self._file.end + self._waiting_bytes + heads))
        self._flush()
        self._file.close()
        self._path.replace(target)

    def discard(self) -> None:
        """Remove the file."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _refer(self, array: Array) -> bytes | None:
        if array.nbytes < _MIN_SHARED_BYTES:
            return None
        key = digest_value([array.dtype.str, array])
        if key not in self._known:
            self._known.add(key)
            content = [array.dtype.str, array.shape, array.tobytes()]
            self._put(pack_block(_ARRAY, pack_value(content), key))
        return key

    def _put(self, payload: bytes) -> None:
        self._waiting.append(payload)
        self._waiting_bytes += len(payload)
        if self._waiting_bytes >= _FLUSH_BYTES:
            self._flush()

    def _flush(self) -> None:
        self._file.append(self._waiting)
        self._waiting, self._waiting_bytes = [], 0


@dataclass(frozen=True, slots=True)
class CallEntry:
    """Where a recorded call stands in its file, and what it was."""

    offset: int
    number: int
    path: str
    nodeset: str
    step: int
    turns: tuple[int, ...]


def need_calls(folder: Path, position: int, record: EpisodeRecord) -> CallReader:
    """Return the calls kept for this record. Raises NotRecordedError."""
    path = calls_path(folder, position, record_token(record))
    if not path.exists():
        raise NotRecordedError(
            f"run folder {folder} has no calls of episode {record.key.text}; `wayfare eval` keeps "
            f"them with --record full, of the episodes that --record-only names."
        )
    return CallReader.open(path)


class CallReader:
    """The recorded calls of one episode; what they were given is read when asked for."""

    def __init__(self, path: Path, episode: Mapping[str, Any]) -> None:
        self._path = path
        self.episode = episode
        """The fields of the episode's context."""
        self.entries: list[CallEntry] = []
        """The calls in the order in which they were answered."""
        self._arrays: dict[bytes, int] = {}

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a sealed file. Raises CorruptFileError."""
        reader: Self | None = None
        has_end, kind = False, _EPISODE
        for offset, payload in read_frames(path, is_sealed=True):
            where = f"{path}: byte {offset}"
            if reader is None:
                first = unpack_block(payload, where)
                reader, has_end = cls(path, first.fields), first.key == _HAS_END
            else:
                kind, key = peek_block(payload, where)
                reader._index(offset, kind, key)
        if reader is None:
            raise CorruptFileError(f"{path}: no episode stands in it.")
        if has_end and kind != _END:
            raise CorruptFileError(_describe_cut(path))
        reader.entries.sort(key=lambda entry: entry.number)
        return reader

    def load(self, entry: CallEntry) -> RecordedCall:
        """Return the call with its inputs. Raises CorruptFileError."""
        payload = read_frame(self._path, entry.offset)
        where = f"{self._path}: byte {entry.offset}"
        tool, config, inputs, seed, digest = unpack_block(payload, where, self._array).fields
        return RecordedCall(
            number=entry.number,
            path=entry.path,
            nodeset=entry.nodeset,
            tool=tool,
            config=config,
            inputs=inputs,
            step=entry.step,
            turns=entry.turns,
            seed=seed,
            digest=digest,
        )

    def _index(self, offset: int, kind: int, key: bytes) -> None:
        if kind == _ARRAY:
            self._arrays[key] = offset
        elif kind == _CALL:
            number, path, nodeset, step, turns = unpack_value(key)
            self.entries.append(CallEntry(offset, number, path, nodeset, step, tuple(turns)))

    def _array(self, key: bytes) -> Array:
        offset = self._arrays.get(key)
        if offset is None:
            raise CorruptFileError(f"{self._path}: array {key.hex()} is missing.")
        payload = read_frame(self._path, offset)
        dtype, shape, content = unpack_block(payload, f"{self._path}: byte {offset}").fields
        return read_only(dtype, shape, content)


def check_ends(path: Path) -> None:
    """Raise CorruptFileError where a file of calls does not begin and end as it was written.

    Two short reads tell that it was neither cut nor added to; an older file, which has no end of
    its own, is read whole.
    """
    offset, payload = next(read_frames(path, is_sealed=True), (0, b""))
    _, key = peek_block(payload, f"{path}: byte {offset}")
    if key != _HAS_END:
        CallReader.open(path)
    elif not _is_ended(path):
        raise CorruptFileError(_describe_cut(path))


def _is_ended(path: Path) -> bool:
    """Return whether the file's last block is an end that stands where it was written."""
    at = path.stat().st_size - _END_BYTES
    try:
        return at > HEAD_BYTES and read_frame(path, at) == _pack_end(at)
    except CorruptFileError:
        return False


def _pack_end(offset: int) -> bytes:
    """Return the last block of a file; it is of one length, so that it can be found."""
    return pack_block(_END, pack_value(offset.to_bytes(8, "big")))


_END_BYTES = FRAME_BYTES + len(_pack_end(0))


def _describe_cut(path: Path) -> str:
    return f"{path}: it does not end as it was written; it was cut short, or something was added."
