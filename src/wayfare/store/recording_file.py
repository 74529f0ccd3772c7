"""Append to one file from several threads, those that wait at the same time sharing one wait.

Knows nothing of what is appended.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path

from wayfare.store.errors import NoRoomError, StorageWriteError
from wayfare.store.frames import FrameWriter
from wayfare.store.room import Room


class SharedAppender:
    """A framed file that several threads append to; close it when they have ended."""

    def __init__(self, path: Path, room: Room | None = None) -> None:
        self._path = path
        self._file = FrameWriter.open(path, room=room)
        self._waiting: list[tuple[bytes, Future[int]]] = []
        self._state_guard = threading.Lock()
        self._commit_guard = threading.Lock()

    def append(self, payload: bytes) -> int:
        """Return where the record stands; by then the disk has it.

        Raises StorageWriteError if the disk refuses; nothing of it is kept then.
        """
        written: Future[int] = Future()
        with self._state_guard:
            self._waiting.append((payload, written))
        with self._commit_guard:
            if not written.done():
                self._commit()
        return written.result()

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._commit_guard:
            self._file.close()

    def _commit(self) -> None:
        with self._state_guard:
            batch, self._waiting = self._waiting, []
        try:
            offsets = self._file.append([payload for payload, _ in batch])
        except (OSError, StorageWriteError) as error:
            kind = NoRoomError if isinstance(error, NoRoomError) else StorageWriteError
            for _, written in batch:
                refusal = f"{self._path}: a recording can't be written: {error}."
                written.set_exception(kind(refusal, error.errno))
            return
        for (_, written), offset in zip(batch, offsets, strict=True):
            written.set_result(offset)
