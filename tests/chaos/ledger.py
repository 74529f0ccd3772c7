"""Hold a run's file of truth to what it said before: nothing goes, nothing counts twice.

Knows nothing of processes.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from wayfare.store.errors import CorruptFileError
from wayfare.store.folder import read_header
from wayfare.store.frames import HEAD_BYTES, read_frames
from wayfare.store.truth import EPISODES_FILE, FIRINGS_FILE, read_truth


class Ledger:
    """What a run has finished so far; `failures` are what must never happen."""

    def __init__(self) -> None:
        self.finished: dict[int, str] = {}
        self.total = 0
        self.lost = 0
        self.twice = 0

    def read(self, folder: Path) -> None:
        """Read the run's records again, and count what was lost or is there twice."""
        keys = [planned.key for planned in read_header(folder).episodes]
        self.total = len(keys)
        finals: Counter[int] = Counter()
        now: dict[int, str] = {}
        for entry in read_truth(folder, keys):
            if entry.record.is_final:
                finals[entry.position] += 1
                now[entry.position] = entry.record.digest
        self.twice += sum(count - 1 for count in finals.values())
        self.lost += sum(now.get(place) != digest for place, digest in self.finished.items())
        self.finished = now

    @property
    def is_complete(self) -> bool:
        return 0 < self.total == len(self.finished)


def is_committing(folder: Path) -> bool:
    """Return whether firings are on disk whose episode's record is not, or not whole."""
    try:
        keys = [planned.key for planned in read_header(folder).episodes]
        last = max((entry.firings_offset for entry in read_truth(folder, keys)), default=0)
        offsets = [offset for offset, _ in read_frames(folder / FIRINGS_FILE)]
    except CorruptFileError:
        return True
    return _has_torn_end(folder / EPISODES_FILE) or any(offset > last for offset in offsets)


def _has_torn_end(path: Path) -> bool:
    end = HEAD_BYTES
    for offset, payload in read_frames(path):
        end = offset + 16 + len(payload)
    return path.stat().st_size > end
