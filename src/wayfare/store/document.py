"""Keep a small JSON document in a file: written at once or not at all, and known when damaged.

Knows nothing of what the documents say.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nodeset.digest import hash_document
from wayfare.store.errors import CorruptFileError, FormatVersionError, StorageWriteError
from wayfare.store.frames import FORMAT_VERSION, describe_version

_CHECKSUM = "checksum"


def write_document(path: Path, fields: Mapping[str, Any]) -> None:
    """Write the fields with the format's version and a checksum, at once or not at all.

    Raises StorageWriteError, also for a number that JSON does not have.
    """
    document = {"format": FORMAT_VERSION, **fields}
    try:
        text = to_json({**document, _CHECKSUM: checksum(document)}, indent=2)
    except ValueError as error:
        reason = next(_list_unfit(document), str(error))
        raise StorageWriteError(f"{path} can't be written: {reason}.", None) from error
    write_atomically(path, text + "\n")


def read_document(path: Path) -> dict[str, Any]:
    """Return the fields that were written. Raises CorruptFileError, FormatVersionError."""
    fields = read_sealed(path)
    version = fields.pop("format", None)
    if version != FORMAT_VERSION:
        raise FormatVersionError(describe_version(path, version))
    return fields


def seal(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with a checksum before them, which `read_sealed` checks and takes off."""
    return {_CHECKSUM: checksum(fields), **fields}


def read_sealed(path: Path, expected: str | None = None) -> dict[str, Any]:
    """Return the object that a file holds.

    Raises CorruptFileError where it is damaged, or has another checksum than is `expected`.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise CorruptFileError(f"{path} is no plain file; a run's documents stand in one.")
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CorruptFileError(f"{path} can't be read: {error}.") from error
    if not isinstance(fields, dict):
        raise CorruptFileError(f"{path} holds a {type(fields).__name__}; it must hold an object.")
    found = fields.pop(_CHECKSUM, None)
    if fields.get("format", FORMAT_VERSION) == FORMAT_VERSION and found != checksum(fields):
        raise CorruptFileError(f"{path} is damaged: its checksum is not that of what it holds.")
    if expected is not None and found != expected:
        raise CorruptFileError(f"{path} is another run's: its checksum is not the one expected.")
    return fields


def to_json(value: Any, indent: int | None = None) -> str:
    """Return `value` as strict JSON; raises ValueError for NaN and infinities."""
    return json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False)


def _list_unfit(value: Any, at: str = "") -> Iterator[str]:
    """Yield the numbers that JSON does not have, each with its place."""
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{at} is {value!r}, and JSON has finite numbers alone"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _list_unfit(item, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _list_unfit(item, f"{at}[{index}]")


def write_atomically(path: Path, text: str) -> None:
    """Put `text` at `path` so that a reader sees the old file or the new one, never a part."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
            os.fchmod(descriptor, 0o644)
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageWriteError(f"{path} can't be written: {error}.", error.errno) from error


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the folder's list of files."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def checksum(fields: Mapping[str, Any]) -> str:
    """Return what tells one document from all others."""
    return hash_document(fields)
