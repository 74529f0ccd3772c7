"""Write a run's episodes as they finish, each exactly once.

Knows nothing of who runs the episodes or what their metrics mean.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

from wayfare.store.errors import NoRoomError, RecordRefusedError, StorageWriteError
from wayfare.store.firings import pack_firings
from wayfare.store.folder import (
    SUMMARY_FILE,
    RunLock,
    make_folder,
    naming_refusals,
    read_header,
    write_header,
    write_summary,
)
from wayfare.store.frames import HEAD_BYTES, FrameWriter
from wayfare.store.labels import Label, write_labels
from wayfare.store.records import OUTCOMES, EpisodeKey, EpisodeRecord, Firing, RunHeader
from wayfare.store.resumption import (
    DAMAGED_FILE,
    Resumption,
    add_resumption,
    find_resumptions,
)
from wayfare.store.room import Room, keep_trying
from wayfare.store.summary import RunSummary
from wayfare.store.truth import (
    EPISODES_FILE,
    FIRINGS_FILE,
    Committed,
    pack_committed,
    pack_record,
    read_firings,
    read_truth,
)

_IN_PLACE = "A run goes on where it lies: make its folder writable, or copy it."
_NO_LABELS: Mapping[str, Sequence[Label]] = MappingProxyType({})


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

    def __init__(
        self, folder: Path, header: RunHeader, *, files: ExitStack, room: Room | None
    ) -> None:
        self.folder = folder
        self.header = header
        self._files = files
        self._room = room
        self._positions = {planned.key: n for n, planned in enumerate(header.episodes)}
        self._states = bytearray(len(header.episodes))
        """By position: 0 for an episode that is not recorded, else 1 + its outcome's number."""
        self.failed: dict[int, EpisodeRecord] = {}
        """The episodes that stood as errors when the run was opened again, by position."""
        self.worked_seconds = 0.0
        """When the last attempt on record ended, in seconds since the run began."""
        self.dropped: list[str] = []
        """What was dropped when the run was opened again, a sentence each."""
        self._pending: list[_Pending] = []
        self._state_guard = threading.Lock()
        self._commit_guard = threading.Lock()

    @classmethod
    def create(
        cls,
        root: Path,
        header: RunHeader,
        *,
        labels: Mapping[str, Sequence[Label]] = _NO_LABELS,
        room: Room | None = None,
    ) -> Self:
        """Make a new run folder in `root`, named by time and graph, and open it for writing.

        The writer's `header` has the run's id. While the disk is full, commits wait as `room` says.
        Raises StorageWriteError if the folder can't be made, ValueError if an episode stands twice
        in the list.
        """
        if len({planned.key for planned in header.episodes}) != len(header.episodes):
            raise ValueError(f"the episodes of graph {header.graph_name!r} are not all different.")
        with naming_refusals(root), ExitStack() as files:
            folder, run_id = make_folder(root, header)
            files.callback(RunLock.acquire(folder).release)
            writer = cls(folder, replace(header, run_id=run_id), files=files, room=room)
            writer._open_files(HEAD_BYTES)
            write_labels(folder, labels)
            write_header(folder, writer.header)  # last: what has a header is a run and has all
            writer._files = files.pop_all()
        return writer

    @classmethod
    def reopen(cls, folder: Path, *, room: Room | None = None) -> Self:
        """Open an existing run for more episodes; a record that was cut short is dropped.

        Raises RunLockedError while someone else writes it, CorruptFileError or FormatVersionError.
        """
        with naming_refusals(folder, _IN_PLACE), ExitStack() as files:
            files.callback(RunLock.acquire(folder).release)
            writer = cls(folder, read_header(folder), files=files, room=room)
            writer._open_files(writer._read_states())
            writer._note_damage()
            writer._files = files.pop_all()
        return writer

    def list_left(self, *, retry_errors: bool = False) -> list[int]:
        """Return the places in the list of the episodes that a resumed run runs.

        Those without a record, and of errors those of infrastructure; all with `retry_errors`.
        """
        return [
            position
            for position, state in enumerate(self._states)
            if not state
            or (position in self.failed and (retry_errors or not self.failed[position].is_final))
        ]

    def begin_again(self, resumption: Resumption, left: Iterable[int]) -> None:
        """Write down that the run goes on with the episodes at the places `left`.

        The summary of the part that is there goes, since it would soon be wrong.
        """
        add_resumption(self.folder, resumption)
        (self.folder / SUMMARY_FILE).unlink(missing_ok=True)
        for position in left:
            self._states[position] = 0

    def append(self, record: EpisodeRecord, firings: Sequence[Firing]) -> None:
        """Commit a finished episode; when this returns, the disk has it.

        Raises RecordRefusedError for an episode that the run does not have or that is already
        recorded (an `error` may be replaced by a new try), and StorageWriteError if the disk
        refuses: then nothing is kept and the same call may be repeated. NoRoomError is one.
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
        """Write the run's summary at once or not at all; waits while the disk is full."""
        path = self.folder / SUMMARY_FILE
        keep_trying(self._room, lambda: write_summary(self.folder, summary), path)

    def close(self) -> None:
        """Close the files and give the lock back; a second call does nothing."""
        with self._commit_guard:
            self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_files(self, last_firings: int) -> None:
        """Open the files; `last_firings` is where those of the last record stand."""
        self._episodes = FrameWriter.open(self.folder / EPISODES_FILE, room=self._room)
        self._files.callback(self._episodes.close)
        firings = self.folder / FIRINGS_FILE
        self._firings = FrameWriter.open(firings, last_firings, room=self._room)
        self._files.callback(self._firings.close)
        self.dropped = [
            f"{file.path}: a last record was cut short; its {file.dropped_bytes} bytes are dropped."
            for file in (self._episodes, self._firings)
            if file.dropped_bytes
        ]

    def _note_damage(self) -> None:
        """Tell of a list of earlier resumptions that is damaged; going on needs none of it."""
        _, problem = find_resumptions(self.folder)
        if problem:
            self.dropped.append(f"{problem} It is kept as {DAMAGED_FILE} when the run goes on.")

    def _read_states(self) -> int:
        """Take note of what is recorded; return where the firings of the last record stand."""
        last: Committed | None = None
        for committed in read_truth(self.folder, [planned.key for planned in self.header.episodes]):
            position, record = committed.position, committed.record
            self._states[position] = _state_of(record)
            self.failed.pop(position, None)
            if record.outcome == "error":
                self.failed[position] = record
            last = committed
            ended = (attempt.ended_seconds for attempt in record.attempts)
            self.worked_seconds = max(self.worked_seconds, *ended, 0.0)
        if last is None:
            return HEAD_BYTES
        read_firings(self.folder, last)  # a file that lacks them is not the one to go on with
        return last.firings_offset

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
            if not isinstance(error, OSError | StorageWriteError):
                raise
        else:
            for entry in batch:
                entry.written.set_result(None)

    def _reject(self, batch: Sequence[_Pending], error: BaseException) -> None:
        """Let every caller of the batch know, and forget their records, so that they may repeat."""
        for entry in reversed(batch):
            with self._state_guard:
                self._states[entry.position] = entry.earlier
            kind = NoRoomError if isinstance(error, NoRoomError) else StorageWriteError
            refusal = kind(
                f"run folder {self.folder}: episode {entry.key.text} can't be written: {error}.",
                error.errno if isinstance(error, OSError | StorageWriteError) else None,
            )
            entry.written.set_exception(refusal)


def _state_of(record: EpisodeRecord) -> int:
    return 1 + OUTCOMES.index(record.outcome)
