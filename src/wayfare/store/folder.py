"""Make, name, lock and find run folders, and keep their small files.

Knows nothing of episodes beyond the list in `plan.json`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from wayfare.store.document import (
    checksum,
    read_document,
    read_sealed,
    seal,
    to_json,
    write_atomically,
    write_document,
)
from wayfare.store.errors import (
    CorruptFileError,
    FormatVersionError,
    RunLockedError,
    RunNotFoundError,
    StorageWriteError,
)
from wayfare.store.records import EpisodeKey, PlannedEpisode, RunHeader
from wayfare.store.summary import RunSummary

HEADER_FILE = "run.json"
PLAN_FILE = "plan.json"
SUMMARY_FILE = "summary.json"
LOCK_FILE = "lock"

_PLAN = "plan"
"""The field of the header that ties the list to it: the list's checksum."""
_ELSEWHERE = "Name a folder that can be written with --out or WAYFARE_RUNS."
_NAME_TRIES = 1000
_HEADER: TypeAdapter[RunHeader] = TypeAdapter(RunHeader)
_SUMMARY: TypeAdapter[RunSummary] = TypeAdapter(RunSummary)
_PLAN_COLUMNS = ["index", "scene_id", "id", "repeat", "group"]


def make_folder(root: Path, header: RunHeader) -> tuple[Path, str]:
    """Make a new folder in `root` and return it and the run's id, which is its name."""
    created = datetime.fromisoformat(header.created).astimezone(UTC)
    graph_name = re.sub(r"[^A-Za-z0-9_.-]+", "-", header.graph_name)[:60].strip("-.") or "graph"
    root.mkdir(parents=True, exist_ok=True)
    for _ in range(_NAME_TRIES):
        run_id = f"{created:%Y%m%dT%H%M%SZ}-{graph_name}-{secrets.token_hex(2)}"
        with contextlib.suppress(FileExistsError):
            (root / run_id).mkdir()
            return root / run_id, run_id
    raise StorageWriteError(f"{root}: {_NAME_TRIES} names for a new run folder were taken.", None)


@contextlib.contextmanager
def naming_refusals(folder: Path, remedy: str = _ELSEWHERE) -> Iterator[None]:
    """Raise StorageWriteError, with what to do, where the file system refuses a run folder."""
    try:
        yield
    except OSError as error:
        is_file = isinstance(error, FileExistsError | NotADirectoryError)
        reason = "it is no folder" if is_file else error.strerror or str(error)
        raise StorageWriteError(
            f"{folder}: a run can't be opened there: {reason}. {remedy}", error.errno
        ) from error


def find_folder(run: str | Path, root: Path) -> Path:
    """Return the folder of `run`: the id of a run in `root`, or a run folder's path.

    An id is one name: what reads like a path is one, from the current folder, never from `root`.
    """
    if not str(run).strip():
        rule = f"it must be a run's id, or a run folder (one with a {HEADER_FILE})"
        raise RunNotFoundError(f"the run is {run!r}; {rule}.")
    is_name = str(run) not in (".", "..") and Path(run).name == str(run)
    folders = [root / run, Path(run)] if is_name else [Path(run)]
    for folder in folders:
        if _is_run(folder):
            return folder
    places = [str(folder.absolute()) for folder in folders]
    reason = f"neither {' nor '.join(places)} is a" if is_name else f"{places[0]} is no"
    raise RunNotFoundError(
        f"there is no run {str(run)!r}: {reason} run folder (one with a {HEADER_FILE}); "
        f"`wayfare runs` lists the runs."
    )


def _is_run(folder: Path) -> bool:
    try:
        return (folder / HEADER_FILE).is_file()
    except (OSError, ValueError):  # no name that a file can have
        return False


class RunLock:
    """The right to write one run folder; it ends with `release` or with the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, folder: Path) -> Self:
        """Take the lock of `folder`, or raise RunLockedError saying who has it."""
        path = folder / LOCK_FILE
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"pid {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        except BlockingIOError:
            owner = os.pread(descriptor, 200, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise RunLockedError(
                f"run folder {folder} is being written by {owner or 'another process'}; a run has "
                "one writer: wait for its end or start a new run."
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        return cls(descriptor)

    def release(self) -> None:
        """Give the lock back; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def is_locked(folder: Path) -> bool:
    """Return whether someone writes the run now; False also where nobody can tell."""
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False


def write_header(folder: Path, header: RunHeader) -> None:
    """Write `plan.json` and then `run.json`, which makes the folder a run folder."""
    fields = _HEADER.dump_python(replace(header, episodes=()))
    del fields["episodes"]
    plan = _plan_fields(header)
    write_atomically(folder / PLAN_FILE, _plan_text(plan))
    write_document(folder / HEADER_FILE, {_PLAN: checksum(plan), **fields})


def read_header(folder: Path, *, with_episodes: bool = True) -> RunHeader:
    """Return the run's header; without its episodes the plan, which may be long, is not read."""
    path = folder / HEADER_FILE
    fields = read_document(path)
    plan = fields.pop(_PLAN, None)
    episodes = _read_plan(folder / PLAN_FILE, str(plan)) if with_episodes else ()
    try:
        return _HEADER.validate_python({**fields, "episodes": episodes})
    except ValidationError as error:
        raise CorruptFileError(f"{path}: {error}") from error


def write_summary(folder: Path, summary: RunSummary) -> None:
    """Write `summary.json` at once or not at all."""
    write_document(folder / SUMMARY_FILE, _SUMMARY.dump_python(summary))


def read_summary(folder: Path) -> RunSummary | None:
    """Return the summary that the run ended with; None: it has not ended, or was killed."""
    path = folder / SUMMARY_FILE
    if not path.exists():
        return None
    try:
        return _SUMMARY.validate_python(read_document(path))
    except ValidationError as error:
        raise CorruptFileError(f"{path}: {error}") from error


def find_summary(folder: Path) -> tuple[RunSummary | None, str]:
    """Return the summary that the run ended with, if it did; of a damaged one what is wrong."""
    try:
        return read_summary(folder), ""
    except (CorruptFileError, FormatVersionError) as error:
        return None, str(error)


def _plan_fields(header: RunHeader) -> dict[str, Any]:
    """Return the fixed list as passive data: what all keys share stands once."""
    shared = {(e.key.environment, e.key.list_hash, e.key.split) for e in header.episodes}
    if len(shared) > 1:
        raise ValueError(f"a run has one environment, list and split; these are {shared}.")
    environment, list_hash, split = next(iter(shared), ("", "", header.split))
    head = {"environment": environment, "list_hash": list_hash, "split": split}
    rows = [[e.index, e.key.scene_id, e.key.id, e.key.repeat, e.group] for e in header.episodes]
    return {**head, "columns": _PLAN_COLUMNS, "episodes": rows}


def _plan_text(plan: Mapping[str, Any]) -> str:
    """Return the list as JSON, one episode per line."""
    first = {**seal(plan), "episodes": None}
    lines = ",\n".join(to_json(row) for row in plan["episodes"])
    return to_json(first).removesuffix("null}") + f"[\n{lines}\n]}}\n"


def _read_plan(path: Path, expected: str) -> tuple[PlannedEpisode, ...]:
    fields = read_sealed(path, expected)
    try:
        head = (fields["environment"], fields["list_hash"], fields["split"])
        return tuple(
            PlannedEpisode(key=EpisodeKey(*head, scene_id, id_, repeat), index=index, group=group)
            for index, scene_id, id_, repeat, group in fields["episodes"]
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptFileError(f"{path} is no list of episodes: {error!r}.") from error
