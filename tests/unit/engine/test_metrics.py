"""What becomes of the values that reach a graph's outputs."""

from __future__ import annotations

import pytest

from wayfare.engine.errors import NodeFailure


async def results_of(bench, **values):
    nodes, edges = {}, []
    for name in values:
        nodes |= {name: "env__go", f"out_{name}": ("graphOut", {"portName": name})}
        edges.append(f"{name}.y -> out_{name}.value")
    answers = {name: (lambda call, value=value: {"y": value}) for name, value in values.items()}
    return await bench.run(bench.build(nodes, edges), answers)


async def test_metrics_dicts_give_one_metric_per_name(bench):
    result = await results_of(bench, all={"sr": True, "ne": 2.0, "spl": {"undefined": "no path"}})
    assert result.metrics == {"sr": True, "ne": 2.0}
    assert result.undefined == {"spl": "no path"}


@pytest.mark.parametrize(
    ("value", "reason"),
    [("nan", "not a number"), ("inf", "infinite"), ("-inf", "minus infinite")],
)
async def test_what_is_no_finite_number_is_undefined_and_says_what_it_is(bench, value, reason):
    result = await results_of(bench, m=float(value))
    assert (result.metrics, result.undefined) == ({}, {"m": reason})


async def test_one_metric_name_from_two_outputs_is_an_error(bench):
    with pytest.raises(
        NodeFailure, match="metric 'b' comes from graphOut 'out_a' and from 'out_b'"
    ):
        await results_of(bench, a={"b": 1}, b=2)


async def test_a_result_that_is_no_metric_is_an_error_that_shows_it(bench):
    with pytest.raises(NodeFailure, match=r"graphOut 'out_m' got \[1, 2\]; a result is a number"):
        await results_of(bench, m=[1, 2])
