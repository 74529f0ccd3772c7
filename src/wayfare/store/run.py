"""Write a run's episodes as they finish, each exactly once, and read them back.

Knows nothing of who runs the episodes or what their metrics mean.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from wayfare.store.errors import RecordRefusedError, StorageWriteError, StoreError
from wayfare.store.firings import pack_firings, unpack_firings
from wayfare.store.folder import (
    FIRINGS_FILE,
    SUMMARY_FILE,
    RunLock,
    find_folder,
    is_locked,
    make_folder,
    naming_refusals,
    read_header,
    read_summary,
    write_header,
    write_summary,
)
from wayfare.store.frames import HEAD_BYTES, FrameWriter, read_frame
from wayfare.store.recording import VIDEOS_FILE
from wayfare.store.recording_actions import RecordedAction, need_actions
from wayfare.store.recording_calls import CallReader, need_calls
from wayfare.store.recording_videos import VideoRecord, read_videos
from wayfare.store.records import OUTCOMES, EpisodeKey, EpisodeRecord, Firing, RunHeader
from wayfare.store.summary import RunSummary
from wayfare.store.truth import (
    EPISODES_FILE,
    Committed,
    iter_latest,
    pack_committed,
    pack_record,
    read_latest,
    read_truth,
)


@dataclass(frozen=True, slots=True)
class _Pending:
    """An episode that waits for the disk; `earlier` is the state of the one that it replaces."""

    position: int
    key: EpisodeKey
    record: bytes
    firings: bytes
    earlier: int
    written: Future[None]


class RunWriter:
    """The one writer of a run folder; close it, or use it in a `with` statement.

    `append` may be called from several threads at once: those that wait for the disk at the same
    time share one wait.
    """

    def __init__(self, folder: Path, header: RunHeader, files: ExitStack) -> None:
        self.folder = folder
        self.header = header
        self._files = files
        self._positions = {planned.key: n for n, planned in enumerate(header.episodes)}
        self._states = bytearray(len(header.episodes))
        """By position: 0 for an episode that is not recorded, else 1 + its outcome's number."""
        self._pending: list[_Pending] = []
        self._state_guard = threading.Lock()
        self._commit_guard = threading.Lock()
        firings_end = HEAD_BYTES
        if (folder / EPISODES_FILE).exists():
            for committed in read_truth(folder):
                self._states[committed.position] = _state_of(committed.record)
                firings_end = max(firings_end, committed.firings_offset)
        self._episodes = self._open_file(EPISODES_FILE)
        self._firings = self._open_file(FIRINGS_FILE, firings_end)

    @classmethod
    def create(cls, root: Path, header: RunHeader) -> Self:
        """Make a new run folder in `root`, named by time and graph, and open it for writing.

        The writer's `header` has the run's id. Raises StorageWriteError if the folder can't be
        made, ValueError if an episode stands twice in the list.
        """
        if len({planned.key for planned in header.episodes}) != len(header.episodes):
            raise ValueError(f"the episodes of graph {header.graph_name!r} are not all different.")
        with naming_refusals(root), ExitStack() as files:
            folder, run_id = make_folder(root, header)
            files.callback(RunLock.acquire(folder).release)
            writer = cls(folder, replace(header, run_id=run_id), files)
            write_header(folder, writer.header)
            writer._files = files.pop_all()
        return writer

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        """Open an existing run for more episodes; a record that was cut short is dropped.

        Raises RunLockedError while someone else writes it. The summary of the part that is there
        goes, since it would soon be wrong.
        """
        with naming_refusals(folder), ExitStack() as files:
            files.callback(RunLock.acquire(folder).release)
            writer = cls(folder, read_header(folder), files)
            (folder / SUMMARY_FILE).unlink(missing_ok=True)
            writer._files = files.pop_all()
        return writer

    def append(self, record: EpisodeRecord, firings: Sequence[Firing]) -> None:
        """Commit a finished episode; when this returns, the disk has it.

        Raises RecordRefusedError for an episode that the run does not have or that is already
        recorded (an `error` may be replaced by a new try), and StorageWriteError if the disk
        refuses: then nothing is kept and the same call may be repeated.
        """
        written = self.submit(record, firings)
        if not written.done():
            self.commit()
        written.result()

    def submit(self, record: EpisodeRecord, firings: Sequence[Firing]) -> Future[None]:
        """Take a finished episode for the next `commit`, which tells the future what came of it.

        Raises RecordRefusedError as `append` does.
        """
        return self._admit(record, firings).written

    def commit(self) -> None:
        """Put all that was submitted on disk, with one wait for it."""
        with self._commit_guard:
            if self._pending:
                self._commit()

    @property
    def is_complete(self) -> bool:
        """Whether every episode of the run's list is recorded."""
        return all(self._states)

    def finish(self, summary: RunSummary) -> None:
        """Write the run's summary at once or not at all."""
        write_summary(self.folder, summary)

    def close(self) -> None:
        """Close the files and give the lock back; a second call does nothing."""
        with self._commit_guard:
            self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_file(self, name: str, start: int = HEAD_BYTES) -> FrameWriter:
        file = FrameWriter.open(self.folder / name, start)
        self._files.callback(file.close)
        return file

    def _admit(self, record: EpisodeRecord, firings: Sequence[Firing]) -> _Pending:
        position = self._positions.get(record.key)
        if position is None:
            raise RecordRefusedError(
                f"run {self.header.run_id}: episode {record.key.text} is not on the run's list of "
                f"{len(self._positions)}; only listed episodes count."
            )
        packed = pack_record(record), pack_firings(position, firings)
        with self._state_guard:
            earlier = self._states[position]
            if earlier and OUTCOMES[earlier - 1] != "error":
                raise RecordRefusedError(
                    f"run {self.header.run_id}: episode {record.key.text} is recorded already "
                    f"({OUTCOMES[earlier - 1]}); an episode counts once."
                )
            pending = _Pending(position, record.key, *packed, earlier, Future())
            self._states[position] = _state_of(record)
            self._pending.append(pending)
        return pending

    def _commit(self) -> None:
        """Write all that waits: the firings first, so that a record's firings are always there."""
        with self._state_guard:
            batch, self._pending = self._pending, []
        try:
            offsets = self._firings.append([entry.firings for entry in batch])
            records = [
                pack_committed(entry.position, offset, entry.record)
                for entry, offset in zip(batch, offsets, strict=True)
            ]
            self._episodes.append(records)
        except BaseException as error:
            self._reject(batch, error)
            if not isinstance(error, OSError):
                raise
        else:
            for entry in batch:
                entry.written.set_result(None)

    def _reject(self, batch: Sequence[_Pending], error: BaseException) -> None:
        """Let every caller of the batch know, and forget their records, so that they may repeat."""
        for entry in reversed(batch):
            with self._state_guard:
                self._states[entry.position] = entry.earlier
            refusal = StorageWriteError(
                f"run folder {self.folder}: episode {entry.key.text} can't be written: {error}.",
                error.errno if isinstance(error, OSError) else None,
            )
            entry.written.set_exception(refusal)


def _state_of(record: EpisodeRecord) -> int:
    return 1 + OUTCOMES.index(record.outcome)


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
        return [entry.record for entry in read_latest(self.folder)]

    def iter_records(self) -> Iterator[EpisodeRecord]:
        """Yield each finished episode's last record as they were written, none of them kept.

        Their keys are the header's, so that who keeps a key keeps nothing new.
        """
        keys = [planned.key for planned in self.header.episodes]
        return (entry.record for entry in iter_latest(self.folder, keys))

    def firings(self, key: EpisodeKey) -> list[Firing]:
        """Return the firings of a finished episode, sorted by turns and path."""
        return self._firings_at(self._find(key).firings_offset)

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
        for entry in read_latest(self.folder):
            yield entry.record, self._firings_at(entry.firings_offset)

    def summary(self) -> RunSummary | None:
        """Return the summary that the run ended with; None: it runs still, or was killed."""
        return read_summary(self.folder)

    @property
    def is_running(self) -> bool:
        """Whether a process writes the run now."""
        return is_locked(self.folder)

    def _find(self, key: EpisodeKey) -> Committed:
        for entry in read_latest(self.folder):
            if entry.record.key == key:
                return entry
        raise StoreError(f"run {self.header.run_id} has no finished episode {key.text}.")

    def _firings_at(self, offset: int) -> list[Firing]:
        return unpack_firings(read_frame(self.folder / FIRINGS_FILE, offset))[1]
