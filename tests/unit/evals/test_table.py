"""Episodes as columns."""

from __future__ import annotations

import pytest

from wayfare.evals.report import EpisodeRow
from wayfare.evals.table import list_columns, to_arrow, to_pandas
from wayfare.store.records import ErrorRecord


def row(number, **metrics):
    return EpisodeRow(
        key=f"k{number}",
        episode_id=str(number),
        scene_id="s",
        outcome="completed",
        attempts=1,
        worker=0,
        steps=3,
        seconds=0.5,
        metrics=metrics,
        digest="d",
        error=None,
    )


def test_metrics_are_columns_beside_those_of_the_row():
    table = list_columns([row(1, success=True, steps=2), row(2, success=False, steps=4)])
    assert table["metrics.success"] == [True, False]
    assert (table["steps"], table["metrics.steps"]) == ([3, 3], [2, 4])
    assert len({len(column) for column in table.values()}) == 1


def test_an_undefined_metric_is_none_with_its_reason_beside():
    table = list_columns([row(1, spl={"undefined": "no path"}), row(2, spl=0.5), row(3)])
    assert table["metrics.spl"] == [None, 0.5, None]
    assert table["undefined.spl"] == ["no path", None, None]


def test_a_column_has_one_type():
    table = list_columns([row(1, m=True), row(2, m=2), row(3, m=0.5)])
    assert [type(value) for value in table["metrics.m"]] == [float] * 3


def test_an_error_is_its_message():
    error = ErrorRecord(kind="author", type="ValueError", message="bad")
    failed = EpisodeRow(**{**{f: getattr(row(1), f) for f in EpisodeRow.__slots__}, "error": error})
    assert list_columns([failed, row(2)])["error"] == ["ValueError: bad", None]


def test_no_episodes_make_an_empty_table():
    assert list_columns([])["key"] == []


def test_columns_without_a_value_have_a_type_in_arrow():
    arrow = pytest.importorskip("pyarrow", reason="pip install 'wayfare[table]' brings it")
    schema = to_arrow([row(1, spl={"undefined": "no path"}, success=True)]).schema
    assert (schema.field("error").type, schema.field("metrics.spl").type) == (
        arrow.string(),
        arrow.float64(),
    )
    assert schema.field("metrics.success").type == arrow.bool_()


def test_means_skip_what_is_undefined_in_pandas():
    pytest.importorskip("pandas", reason="pip install 'wayfare[table]' brings it")
    undefined = {"undefined": "no path"}
    rows = [row(1, success=True, spl=undefined), row(2, success=undefined, spl=undefined)]
    frame = to_pandas(rows)
    assert (frame["metrics.success"].mean(), str(frame["metrics.success"].dtype)) == (1, "boolean")
    assert frame["metrics.spl"].isna().all()
