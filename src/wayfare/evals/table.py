"""Turn episodes into columns, and these into tables of libraries that may not be installed.

Knows nothing of runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from wayfare.evals.report import EpisodeRow

EXTRA = "table"
COLUMNS = ("key", "episode_id", "scene_id", "outcome", "attempts", "worker", "steps", "seconds")


METRIC = "metrics."


class MissingExtraError(ImportError):
    """A library is not installed that Wayfare itself does not need."""


def list_columns(rows: Sequence[EpisodeRow]) -> dict[str, list[Any]]:
    """Return the rows as columns: the fields of a row, then its metrics.

    A metric `success` is the column `metrics.success`, None where it is undefined, and then
    `undefined.success` has the reasons. `error` is the message, None without one.
    """
    table: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    table["digest"] = [row.digest for row in rows]
    table["error"] = [row.error and f"{row.error.type}: {row.error.message}" for row in rows]
    for name in sorted({name for row in rows for name in row.metrics}):
        values = [row.metrics.get(name) for row in rows]
        reasons = [v["undefined"] if isinstance(v, Mapping) else None for v in values]
        table[METRIC + name] = _uniform(
            [None if isinstance(value, Mapping) else value for value in values]
        )
        if any(reasons):
            table[f"undefined.{name}"] = reasons
    return table


def to_arrow(rows: Sequence[EpisodeRow]) -> Any:
    """Return a `pyarrow.Table` of `list_columns`. Raises MissingExtraError."""
    return arrow_table(list_columns(rows))


def arrow_table(columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return a `pyarrow.Table` of columns. Raises MissingExtraError."""
    arrow = _need("pyarrow")
    return arrow.table(
        {
            name: arrow.array(values, _type_without_values(arrow, name, values))
            for name, values in columns.items()
        }
    )


def to_pandas(rows: Sequence[EpisodeRow]) -> Any:
    """Return a `pandas.DataFrame` of `list_columns`. Raises MissingExtraError.

    A BOOL metric that is undefined somewhere has the nullable type `boolean`.
    """
    frame = _need("pandas").DataFrame(list_columns(rows))
    for name in frame.columns:
        if name.startswith(METRIC) and frame[name].dtype == object:
            has_values = frame[name].notna().any()
            frame[name] = frame[name].astype("boolean" if has_values else "float64")
    return frame


def _type_without_values(arrow: ModuleType, name: str, values: Sequence[Any]) -> Any:
    """Return the type of a column that has no value to tell it, so that tables can be joined."""
    if any(value is not None for value in values):
        return None
    return arrow.float64() if name.startswith(METRIC) else arrow.string()


def _uniform(values: list[Any]) -> list[Any]:
    """Return numbers of one kind, since a column has one type."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    return [None if value is None else float(value) for value in values]


def _need(library: str) -> ModuleType:
    try:
        return import_module(library)
    except ImportError as error:
        raise MissingExtraError(
            f"{library} is not installed, which turns episodes into a table; "
            f"`pip install 'wayfare[{EXTRA}]'` brings it."
        ) from error
