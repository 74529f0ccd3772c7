"""Wait for room on a full disk, and repeat what it refused.

Knows nothing of what is written.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from wayfare.store.errors import NoRoomError, StorageWriteError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What passes once there is room. Other refusals, such as EIO, may have lost what was written."""
LOOK_SECONDS = 0.5
_Result = TypeVar("_Result")


class Room:
    """Shared by all that a run writes: `give_up` ends every wait, the present ones and later ones.

    `tell` is called, on the thread that waits, when the first wait begins and when the last ends.
    """

    def __init__(self, tell: Callable[[str], None], look_seconds: float = LOOK_SECONDS) -> None:
        self._tell = tell
        self._look_seconds = look_seconds
        self._given_up = threading.Event()
        self._guard = threading.Lock()
        self._waiting = 0

    def keep_trying(self, write: Callable[[], _Result], path: Path) -> _Result:
        """Return what `write` returns, which keeps nothing of `path` where it is refused.

        Blocks the thread while the disk is full. Raises NoRoomError once given up, and what
        `write` raises for any other reason.
        """
        try:
            return write()
        except (OSError, StorageWriteError) as error:
            if error.errno not in FULL:
                raise
            self._begin_wait(path)
        try:
            return self._wait(write, path)
        finally:
            self._end_wait()

    def give_up(self) -> None:
        """Let nobody wait any longer."""
        self._given_up.set()

    def _wait(self, write: Callable[[], _Result], path: Path) -> _Result:
        while True:
            is_last = self._given_up.wait(self._look_seconds)
            try:
                return write()
            except (OSError, StorageWriteError) as error:
                if error.errno not in FULL:
                    raise
                if is_last:
                    reason = f"{path} can't be written: no room was made on the disk."
                    raise NoRoomError(reason, error.errno) from error

    def _begin_wait(self, path: Path) -> None:
        with self._guard:
            self._waiting += 1
            is_first = self._waiting == 1
        if is_first and not self._given_up.is_set():
            self._tell(
                f"the disk is full: {path} can't be written. The run waits, and goes on once there "
                f"is room. Ctrl-C ends it: what is finished is kept, and the run can be resumed."
            )

    def _end_wait(self) -> None:
        with self._guard:
            self._waiting -= 1
            is_last = not self._waiting
        if is_last and not self._given_up.is_set():
            self._tell("there is room on the disk again; the run goes on.")


def keep_trying(room: Room | None, write: Callable[[], _Result], path: Path) -> _Result:
    """Return what `write` returns, waiting as the room says; without a room nobody waits."""
    return write() if room is None else room.keep_trying(write, path)
