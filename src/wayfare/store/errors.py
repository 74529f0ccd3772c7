"""Name the ways in which a run can't be read or written. Knows nothing of the files' content."""

from __future__ import annotations


class StoreError(Exception):
    """Base of every error that the store raises on purpose."""


class CorruptFileError(StoreError):
    """A file's content is not what was written, and not just a last record cut short."""


class DamagedRecordError(CorruptFileError):
    """A record's content is damaged, its length is not: the next record stands at `end`."""

    def __init__(self, message: str, end: int) -> None:
        super().__init__(message)
        self.end = end


class FormatVersionError(StoreError):
    """A run's files were written in a format that this version does not read."""


class RunNotFoundError(StoreError):
    """No run folder stands where one was asked for."""


class NotRecordedError(StoreError):
    """A run did not keep what is asked for of an episode."""


class RunLockedError(StoreError):
    """Another process, or another writer of this one, is writing the run."""


class RecordRefusedError(StoreError):
    """A record would make an episode count twice, or count one that the run does not have."""


class StorageWriteError(StoreError):
    """The file system refused a write; nothing of it is kept, and the same append may be repeated.

    `errno` is the system's number for the cause, such as `errno.ENOSPC` for a full disk.
    """

    def __init__(self, message: str, errno: int | None) -> None:
        super().__init__(message)
        self.errno = errno


class NoRoomError(StorageWriteError):
    """The disk stayed full until the run was asked to end; what was to be written is not kept."""
