"""Find what is wrong with one recorded file: the calls of an episode, or one video.

Knows nothing of which files a run should have.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.recording_calls import CallReader, check_ends
from wayfare.store.recording_videos import VideoRecord, hash_file
from wayfare.store.records import Firing

_BOX = struct.Struct(">I4s")
_LONG_BOX = struct.Struct(">Q")
_MAX_BOXES = 1000
"""A video that was written here has four."""


def find_call_fault(path: Path, firings: Iterable[Firing], *, is_thorough: bool) -> str:
    """Return what is wrong with an episode's file of calls, "" if nothing.

    It is held to its beginning and its end; if `is_thorough`, every call is read, as it is to be
    sent again, and its digest is held to that of the firing.
    """
    if not path.is_file():
        return f"{path} is missing."
    try:
        if is_thorough:
            return _compare_calls(path, CallReader.open(path), firings)
        check_ends(path)
    except (CorruptFileError, FormatVersionError) as error:
        return str(error)
    return ""


def find_video_fault(path: Path, video: VideoRecord, *, is_thorough: bool) -> str:
    """Return what is wrong with the file of a video that a run lists, "" if nothing.

    It is held to its size and to the boxes that it consists of; if `is_thorough`, to its hash.
    """
    if not path.is_file():
        return f"{path} is missing."
    try:
        size = path.stat().st_size
        if video.file_hash and size != video.size_bytes:
            return f"{path} has {size} bytes; it had {video.size_bytes} when it was written."
        with path.open("rb") as file:
            if not _is_mp4(file, size):
                return f"{path} is no whole mp4 file; it was cut short or overwritten."
        if is_thorough and video.file_hash not in ("", hash_file(path)):
            return f"{path} is damaged: it is not what was written."
    except OSError as error:
        return f"{path} can't be read: {error.strerror}."
    return ""


def _compare_calls(path: Path, calls: CallReader, firings: Iterable[Firing]) -> str:
    given = {(firing.path, firing.turns): firing.digest for firing in firings}
    for entry in calls.entries:
        digest = calls.load(entry).digest
        if digest is not None and given.get((entry.path, entry.turns), digest) != digest:
            return (
                f"{path}: byte {entry.offset}: the call of {entry.path!r} is not the one that the "
                f"run's firings have."
            )
    return ""


def _is_mp4(file: BinaryIO, size: int) -> bool:
    """Return whether boxes make up the whole file, with the frames and their index among them."""
    kinds = _list_boxes(file, size)
    return kinds[:1] == [b"ftyp"] and {b"mdat", b"moov"} <= set(kinds)


def _list_boxes(file: BinaryIO, size: int) -> list[bytes]:
    """Return the kinds of the outermost boxes; none if they do not make up the whole file."""
    start = 0
    kinds: list[bytes] = []
    while start < size and len(kinds) < _MAX_BOXES:
        file.seek(start)
        length, kind = _read_box(file, size - start)
        if length < _BOX.size:
            return []
        start += length
        kinds.append(kind)
    return kinds if start == size else []


def _read_box(file: BinaryIO, left: int) -> tuple[int, bytes]:
    """Return the length and the kind of the box that begins here; a length of 0: there is none."""
    head = file.read(_BOX.size + _LONG_BOX.size)
    if len(head) < _BOX.size:
        return 0, b""
    length, kind = _BOX.unpack_from(head)
    if length == 0:
        return left, kind  # it goes on to the end
    if length == 1 and len(head) == _BOX.size + _LONG_BOX.size:
        (length,) = _LONG_BOX.unpack_from(head, _BOX.size)
    return length, kind
