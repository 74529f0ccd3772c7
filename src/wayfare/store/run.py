"""Read a run's episodes back, also while it is being written.

Knows nothing of who runs the episodes or what their metrics mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Self

from wayfare.store.errors import StoreError
from wayfare.store.folder import find_folder, find_summary, is_locked, read_header
from wayfare.store.recording import VIDEOS_FILE
from wayfare.store.recording_actions import RecordedAction, need_actions
from wayfare.store.recording_calls import CallReader, need_calls
from wayfare.store.recording_videos import VideoRecord, read_videos
from wayfare.store.records import EpisodeKey, EpisodeRecord, Firing, RunHeader
from wayfare.store.summary import RunSummary
from wayfare.store.truth import Committed, iter_latest, read_firings, read_latest


class RunReader:
    """A run folder as it stands, also while it is being written."""

    def __init__(self, folder: Path, header: RunHeader) -> None:
        self.folder = folder
        self.header = header

    @classmethod
    def open(cls, run: str | Path, root: Path) -> Self:
        """Open the run with this id in `root`, or the run folder at this path.

        Raises RunNotFoundError, FormatVersionError or CorruptFileError.
        """
        folder = find_folder(run, root)
        return cls(folder, read_header(folder))

    def records(self) -> list[EpisodeRecord]:
        """Return each finished episode's last record, in the order of the run's list."""
        return [entry.record for entry in self._read_latest()]

    def iter_records(self) -> Iterator[EpisodeRecord]:
        """Yield each finished episode's last record as they were written, none of them kept.

        Their keys are the header's, so that who keeps a key keeps nothing new.
        """
        return (entry.record for entry in iter_latest(self.folder, self._keys()))

    def firings(self, key: EpisodeKey) -> list[Firing]:
        """Return the firings of a finished episode, sorted by turns and path."""
        return self._firings_of(self._find(key))

    def actions(self, key: EpisodeKey) -> list[RecordedAction]:
        """Return what reached the action ports in a finished episode, by turns and path."""
        return need_actions(self.folder, self._find(key).record)

    def calls(self, key: EpisodeKey) -> CallReader:
        """Return the recorded calls of a finished episode, which can be sent again."""
        found = self._find(key)
        return need_calls(self.folder, found.position, found.record)

    def videos(self) -> list[VideoRecord]:
        """Return the videos of finished episodes, in the order of the run's list."""
        if not (self.folder / VIDEOS_FILE).exists():
            return []
        return read_videos(self.folder, self.records())

    def all_firings(self) -> Iterator[tuple[EpisodeRecord, list[Firing]]]:
        """Yield each finished episode and its firings, in the order of the run's list."""
        for entry in self._read_latest():
            yield entry.record, self._firings_of(entry)

    def summary(self) -> RunSummary | None:
        """Return the summary that the run ended with.

        None: it runs still, or was killed, or the file is damaged; the records say most of it.
        """
        return find_summary(self.folder)[0]

    @property
    def is_running(self) -> bool:
        """Whether a process writes the run now."""
        return is_locked(self.folder)

    def _keys(self) -> list[EpisodeKey]:
        return [planned.key for planned in self.header.episodes]

    def _read_latest(self) -> list[Committed]:
        return read_latest(self.folder, self._keys())

    def _find(self, key: EpisodeKey) -> Committed:
        for entry in self._read_latest():
            if entry.record.key == key:
                return entry
        raise StoreError(f"run {self.header.run_id} has no finished episode {key.text}.")

    def _firings_of(self, entry: Committed) -> list[Firing]:
        return read_firings(self.folder, entry)
