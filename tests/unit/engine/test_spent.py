"""A call that was tried as often as it may be fails its node, whatever else fails first."""

from __future__ import annotations

import asyncio

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.graph.calls import InfrastructureError


def spent(text):
    error = InfrastructureError(text)
    error.is_spent = True
    return error


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
async def test_of_calls_that_were_tried_often_enough_the_first_in_document_order_stands(
    bench, order
):
    answers = {name: lambda call, name=name: spent(f"{name} killed its copy") for name in "ab"}
    document = bench.build(
        {
            "a": "env__go",
            "b": "policy__go",
            "out": ("graphOut", {"portName": "m"}),
            "out2": ("graphOut", {"portName": "n"}),
        },
        ["a.y -> out.value", "b.y -> out2.value"],
    )
    invoker = bench.invoker(answers, {"a", "b"})
    task = asyncio.ensure_future(bench.executor(document, invoker).run())
    for name in order:
        await invoker.wait_for(name)
        invoker.release(name)
    with pytest.raises(InfrastructureError, match="a killed its copy"):
        await asyncio.wait_for(task, HANG_SECONDS)


@pytest.mark.parametrize("released", [("a",), ("a", "b")])
async def test_calls_to_the_nodeset_whose_copy_one_has_killed_too_often_are_dropped(
    bench, released
):
    answers = {name: lambda call, name=name: spent(f"{name} killed its copy") for name in "ab"}
    outs = {name: ("graphOut", {"portName": name}) for name in ("m", "n")}
    document = bench.build(
        {"a": "policy__go", "b": "policy__go", **outs}, ["a.y -> m.value", "b.y -> n.value"]
    )
    invoker = bench.invoker(answers, {"a", "b"})
    task = asyncio.ensure_future(bench.executor(document, invoker).run())
    await invoker.wait_for("b")
    for name in released:
        invoker.release(name)
    with pytest.raises(InfrastructureError, match="a killed its copy"):
        await asyncio.wait_for(task, HANG_SECONDS)
    assert (invoker.cancelled or ["b"]) == ["b"]
    assert not invoker.running
