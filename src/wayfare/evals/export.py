"""Turn a run's episodes into JSON, CSV or Parquet: a row per episode, a column per thing known.

Knows nothing of where the file goes.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Literal

from wayfare.evals.report import list_episodes
from wayfare.evals.table import arrow_table, list_columns
from wayfare.store.labels import Label
from wayfare.store.records import EpisodeRecord
from wayfare.store.run import RunReader

TableFormat = Literal["parquet", "json", "csv"]
Columns = dict[str, list[Any]]
Labels = Mapping[str, list[Label]]
LABEL = "info."


def list_run_columns(reader: RunReader, labels: Labels) -> Columns:
    """Return the finished episodes of a run as columns, sorted by key.

    They are those of `wayfare.evals.table.list_columns`, then `split`, `repeat` and `group`, and
    `info.KEY` for the `labels`: what the environment tells of each episode in short values.
    """
    records = sorted(reader.records(), key=lambda record: record.key.parts)
    return {
        **list_columns(list_episodes(records)),
        "split": [record.key.split for record in records],
        "repeat": [record.key.repeat for record in records],
        "group": [record.group for record in records],
        **_list_labels(reader, labels, records),
    }


def export_json(reader: RunReader, labels: Labels) -> str:
    """Return one JSON object per episode, in a list."""
    columns = list_run_columns(reader, labels)
    rows = [dict(zip(columns, values, strict=True)) for values in _rows(columns)]
    return json.dumps(rows, indent=1, allow_nan=False) + "\n"


def export_csv(reader: RunReader, labels: Labels) -> str:
    """Return comma-separated values with a line of names; None is empty, booleans as in JSON."""
    columns = list_run_columns(reader, labels)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_as_text(value) for value in values] for values in _rows(columns))
    return text.getvalue()


def export_parquet(reader: RunReader, labels: Labels) -> bytes:
    """Return a Parquet file, with the run's id, graph and digest of it in the schema's metadata.

    Raises MissingExtraError where pyarrow is not installed.
    """
    header = reader.header
    facts = {"run_id": header.run_id, "graph": header.graph_name, "seed": str(header.seed)}
    table = arrow_table(list_run_columns(reader, labels)).replace_schema_metadata(facts)
    sink = io.BytesIO()
    import_module("pyarrow.parquet").write_table(table, sink)
    return sink.getvalue()


def _list_labels(reader: RunReader, labels: Labels, records: Sequence[EpisodeRecord]) -> Columns:
    rows = {planned.key: n for n, planned in enumerate(reader.header.episodes)}
    places = [rows[record.key] for record in records]
    return {
        f"{LABEL}{name}": _one_type([column[place] for place in places])
        for name, column in labels.items()
    }


def _one_type(values: list[Any]) -> list[Any]:
    """Return values of one type, since a column has one: texts where they differ."""
    if len({type(value) for value in values if value is not None}) < 2:
        return values
    return [None if value is None else str(value) for value in values]


def _rows(columns: Columns) -> list[tuple[Any, ...]]:
    return list(zip(*columns.values(), strict=True))


def _as_text(value: Any) -> Any:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value
