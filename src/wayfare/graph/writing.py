"""Write graph documents as JSON that people can read and compare: one node, one edge a line.

Knows nothing of what a document means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wayfare.graph.document import GraphDocument
from wayfare.graph.fault import Fault, GraphError

ONE_PER_LINE = ("nodes", "edges", "nodesets", "layout")
ORDER = (
    "$schema",
    "version",
    "name",
    "description",
    "environment",
    "step_budget",
    "nodesets",
    "nodes",
    "edges",
    "layout",
)


def save_graph(document: GraphDocument, path: Path) -> None:
    """Write the document to a file, which has either all of it or what was there before.

    Raises GraphError for a path that names no file.
    """
    if not path.name:
        rule, remedy = "is no file to write", "Name one, such as graph.json."
        raise GraphError([Fault("unwritable", str(path), rule, remedy)])
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(format_graph(document), encoding="utf-8")
    beside.replace(path)


def format_graph(document: GraphDocument) -> str:
    """Return the document as JSON text; reading it gives the same document."""
    data = document.to_json()
    known = [key for key in ORDER if key in data]
    entries = [
        f"  {_dump(key)}: {_format(key, data[key])}" for key in dict.fromkeys([*known, *data])
    ]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _format(key: str, value: Any) -> str:
    if key not in ONE_PER_LINE or not value or not isinstance(value, list | dict):
        return _dump(value)
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return "\n".join([opening, ",\n".join(_entries(value)), f"  {closing}"])


def _entries(value: list[Any] | dict[str, Any]) -> Iterator[str]:
    if isinstance(value, list):
        yield from (f"    {_dump(item)}" for item in value)
    else:
        yield from (f"    {_dump(key)}: {_dump(item)}" for key, item in value.items())


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
