"""Keep in a run's folder when it went on, with how many workers, and over which differences.

Knows nothing of how runs go on.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from wayfare.store.document import read_document, write_document
from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.records import STRICT_FIELDS, NodesetRecord
from wayfare.store.summary import NodesetReport

RESUMPTIONS_FILE = "resumptions.json"
DAMAGED_FILE = "resumptions.json.damaged"
"""Where a file stands that was damaged when its run went on."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class Resumption:
    """One time that a run went on.

    `at` is a time in UTC (ISO 8601), `kept` how many finished episodes stood by then, `forced` the
    differences that `--force` went over, with `nodesets` and `graph` as they were from then on.
    `counted` is what copies had done by then, but for `uncounted_parts` of the run.
    """

    at: str
    worker_count: int
    kept: int
    retry_errors: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    forced: tuple[str, ...] = ()
    graph: dict[str, Any] = field(default_factory=dict)
    nodesets: dict[str, NodesetRecord] = field(default_factory=dict)
    counted: dict[str, NodesetReport] = field(default_factory=dict)
    uncounted_parts: int = 0


_ALL: TypeAdapter[tuple[Resumption, ...]] = TypeAdapter(tuple[Resumption, ...])


def resume_command(folder: str | Path) -> str:
    """Return the command that lets the run in a folder go on.

    A folder of one name stands there with its whole path: else a run of that id would go before it.
    """
    path = Path(folder) if len(Path(folder).parts) > 1 else Path(folder).absolute()
    return f"wayfare eval --resume {shlex.quote(str(path))}"


def read_resumptions(folder: Path) -> tuple[Resumption, ...]:
    """Return every time that the run went on, in that order.

    Raises CorruptFileError, FormatVersionError.
    """
    path = folder / RESUMPTIONS_FILE
    if not path.exists():
        return ()
    try:
        return _ALL.validate_python(read_document(path).get("resumptions"))
    except ValidationError as error:
        raise CorruptFileError(f"{path}: {error}") from error


def find_resumptions(folder: Path) -> tuple[tuple[Resumption, ...], str]:
    """Return every time that the run went on; of a damaged file none, and what is wrong with it."""
    try:
        return read_resumptions(folder), ""
    except (CorruptFileError, FormatVersionError) as error:
        return (), str(error)


def count_workers(first: int, resumptions: Iterable[Resumption]) -> tuple[int, ...]:
    """Return how many workers the parts of a run had, in their order; it began with `first`."""
    return (first, *(resumption.worker_count for resumption in resumptions))


def add_resumption(folder: Path, resumption: Resumption) -> None:
    """Write one more down, at once or not at all; a file that is damaged is kept aside."""
    try:
        earlier = read_resumptions(folder)
    except CorruptFileError:
        (folder / RESUMPTIONS_FILE).replace(folder / DAMAGED_FILE)
        earlier = ()
    entries = _ALL.dump_python((*earlier, resumption))
    write_document(folder / RESUMPTIONS_FILE, {"resumptions": entries})
