"""Append records to a file so that each is wholly there or not there at all, and read them back.

A record is a length, two checksums and its bytes. Knows nothing of what the bytes mean.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Self

import xxhash

from wayfare.store.errors import CorruptFileError, DamagedRecordError, FormatVersionError
from wayfare.store.room import Room, keep_trying

FORMAT_VERSION = 1
MAX_PAYLOAD_BYTES = 1 << 30

_MAGIC = b"WAYFARE\n"
_HEAD = struct.Struct("<8sII")  # magic, version, 0
_FRAME = struct.Struct("<IQ")  # payload's length, its xxh3_64; then the xxh32 of these 12 bytes
_CHECK = struct.Struct("<I")

HEAD_BYTES = _HEAD.size
FRAME_BYTES = _FRAME.size + _CHECK.size


def read_frames(
    path: Path, start: int = HEAD_BYTES, *, is_sealed: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and payload of each record from the offset `start` on.

    A last record that was cut short, or whose bytes never reached the disk, is left out; in a file
    that `is_sealed`, to which nothing is appended any more, it is damage. Raises CorruptFileError,
    naming file and offset, where any other record is damaged or there is no such file, and
    FormatVersionError where the file's head names another format.
    """
    with _open(path) as file:
        size = os.fstat(file.fileno()).st_size
        offset = start
        if _read_head(file, path):
            file.seek(start)
            while (payload := _read_frame(file, path, offset=offset, size=size)) is not None:
                yield offset, payload
                offset += FRAME_BYTES + len(payload)
        if is_sealed and offset != size:
            raise CorruptFileError(
                f"{path}: byte {min(offset, size)}: the file was whole when it was closed; what "
                f"stands from there on is cut short or was never written."
            )


def salvage_frames(path: Path, problems: list[str]) -> Iterator[tuple[int, bytes]]:
    """Yield what `read_frames` yields, leaving out what is damaged; `problems` gets what is wrong.

    Of a record whose length is damaged nobody knows where it ends: what follows it is left out too.
    """
    start: int | None = HEAD_BYTES
    while start is not None:
        try:
            yield from read_frames(path, start)
            start = None
        except DamagedRecordError as error:
            problems.append(str(error))
            start = error.end
        except (CorruptFileError, FormatVersionError) as error:
            problems.append(str(error))
            start = None


def read_frame(path: Path, offset: int) -> bytes:
    """Return the payload of the record at `offset`; raises CorruptFileError if there is none."""
    for _, payload in read_frames(path, offset):
        return payload
    raise CorruptFileError(f"{path}: no whole record stands at byte {offset}; the file ends there.")


def frame(payload: bytes) -> bytes:
    """Return `payload` as a record: length, checksums, content."""
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise ValueError(
            f"a record of {len(payload)} bytes is above the bound of {MAX_PAYLOAD_BYTES}."
        )
    fields = _FRAME.pack(len(payload), xxhash.xxh3_64_intdigest(payload))
    return fields + _CHECK.pack(xxhash.xxh32_intdigest(fields)) + payload


class FrameWriter:
    """Appends records to one file.

    Bytes beyond the last whole record are cut off when the file is opened. `end` is where the
    next record will stand. While the disk is full, it waits as `room` says. Not safe for several
    threads.
    """

    def __init__(self, path: Path, descriptor: int, *, end: int, room: Room | None) -> None:
        self.path = path
        self._descriptor = descriptor
        self._room = room
        self.end = end
        self.dropped_bytes = 0
        """How much of a last record that was cut short was cut off."""

    @classmethod
    def open(cls, path: Path, start: int = HEAD_BYTES, *, room: Room | None = None) -> Self:
        """Open `path` for appending, making it if it is missing.

        `start` is the offset of a record known to be whole: what precedes it is not read. Without
        a `room` nobody waits. Raises what `read_frames` raises.
        """
        end = _find_end(path, start) if path.exists() else 0
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        writer = cls(path, descriptor, end=end, room=room)
        try:
            writer.dropped_bytes = os.fstat(descriptor).st_size - end
            os.ftruncate(descriptor, end)
            if end == 0:
                head = _HEAD.pack(_MAGIC, FORMAT_VERSION, 0)
                keep_trying(room, lambda: _write_all(descriptor, head, 0), path)
                writer.end = HEAD_BYTES
        except BaseException:
            writer.close()
            raise
        return writer

    def append(self, payloads: Sequence[bytes]) -> list[int]:
        """Write the records and wait until the disk has them; return their offsets.

        All or nothing: when the system refuses (OSError), none of them is kept. Raises NoRoomError
        when the disk is full and the wait for room is given up.
        """
        records = [frame(payload) for payload in payloads]
        offsets = []
        end = self.end
        for record in records:
            offsets.append(end)
            end += len(record)
        content = b"".join(records)
        keep_trying(self._room, lambda: self._append(content), self.path)
        self.end = end
        return offsets

    def _append(self, content: bytes) -> None:
        try:
            _write_all(self._descriptor, content, self.end)
            os.fdatasync(self._descriptor)
        except BaseException:
            os.ftruncate(self._descriptor, self.end)
            raise

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _open(path: Path) -> BinaryIO:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            raise CorruptFileError(f"{path} is no plain file; a run's records stand in one.")
        return path.open("rb")
    except OSError as error:
        raise CorruptFileError(f"{path} can't be read: {error.strerror}.") from error


def _find_end(path: Path, start: int) -> int:
    with _open(path) as file:
        if not _read_head(file, path):
            return 0
    if start > HEAD_BYTES:
        read_frame(path, start)  # else cutting the file at `start` would lengthen it
    end = start
    for offset, payload in read_frames(path, start):
        end = offset + FRAME_BYTES + len(payload)
    return end


def _read_head(file: BinaryIO, path: Path) -> bool:
    """Return whether the file has a whole head; False: its making was cut short."""
    head = file.read(HEAD_BYTES)
    whole = _HEAD.pack(_MAGIC, FORMAT_VERSION, 0)
    if head == whole:
        return True
    if whole.startswith(head) or not any(head):
        return False
    if len(head) < HEAD_BYTES or not head.startswith(_MAGIC):
        raise CorruptFileError(f"{path}: byte 0: the file does not begin as a Wayfare file does.")
    _, version, _ = _HEAD.unpack(head)
    raise FormatVersionError(describe_version(path, version))


def describe_version(path: Path, version: object) -> str:
    """Say that `path` has the format `version`, which this Wayfare does not read."""
    newer = isinstance(version, int) and version > FORMAT_VERSION
    remedy = "use the Wayfare that wrote it, or a later one" if newer else "use an older Wayfare"
    return (
        f"{path} has format version {version!r}, this Wayfare reads {FORMAT_VERSION}: it was "
        f"written by {'a newer' if newer else 'an older'} one; {remedy}."
    )


def _read_frame(file: BinaryIO, path: Path, *, offset: int, size: int) -> bytes | None:
    fields = file.read(FRAME_BYTES)
    if len(fields) < FRAME_BYTES:
        return None
    (check,) = _CHECK.unpack_from(fields, _FRAME.size)
    if check != xxhash.xxh32_intdigest(fields[: _FRAME.size]):
        # A crash of the machine can leave a file longer than what was written: zeros follow then,
        # from the middle of a length on where that crosses from one page to the next.
        if _is_zero_to_end(file):
            return None
        raise CorruptFileError(_describe_damage(path, offset, "length"))
    length, checksum = _FRAME.unpack_from(fields)
    payload = file.read(length)
    end = offset + FRAME_BYTES + length
    if len(payload) < length:
        return None
    if xxhash.xxh3_64_intdigest(payload) != checksum:
        if end >= size:
            return None
        raise DamagedRecordError(_describe_damage(path, offset, "content"), end)
    return payload


def _describe_damage(path: Path, offset: int, what: str) -> str:
    return (
        f"{path}: byte {offset}: a record's {what} is damaged. What stands before it is whole: "
        f"keep a copy of the file; cut to its first {offset} bytes it can be read again."
    )


def _is_zero_to_end(file: BinaryIO) -> bool:
    while chunk := file.read(1 << 20):
        if any(chunk):
            return False
    return True


def _write_all(descriptor: int, content: bytes, offset: int) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view = view[written:]
        offset += written
