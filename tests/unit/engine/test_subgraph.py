"""How subgraphs run: as if their nodes stood in the graph around them."""

from __future__ import annotations


async def test_a_subgraph_runs_in_the_turns_of_the_loop_around_it(bench):
    inner = bench.build(
        {
            "x": ("graphIn", {"portName": "x"}),
            "twice": "policy__need",
            "y": ("graphOut", {"portName": "y"}),
        },
        ["x.value -> twice.x", "twice.y -> y.value"],
    )
    nodes = {
        "loop": ("iterIn", {}),
        "sub": ("subgraph", {"graph": inner.to_json()}),
        "end": ("iterOut", {"loop": "loop", "ports": ["last"]}),
        "done": "env__is_done",
        "out": ("graphOut", {"portName": "last"}),
    }
    edges = [
        "loop.step -> sub.x",
        "sub.y -> end.last",
        "loop.step -> done.x",
        "done.done -> end.stop",
        "end.final_last -> out.value",
        "done.done -> sub.after",
    ]
    invoker = bench.invoker(
        {
            "sub/twice": lambda call: {"y": 2 * call.inputs["x"]},
            "done": lambda call: {"done": call.inputs["x"] == 2},
        }
    )
    result = await bench.executor(bench.build(nodes, edges), invoker).run()
    assert result.metrics == {"last": 4}
    assert invoker.paths == ["done", "sub/twice"] * 3
    assert [call.turns for call in invoker.calls if call.path == "sub/twice"] == [(0,), (1,), (2,)]


async def test_a_loop_within_a_subgraph_finds_its_own_ends(bench):
    inner = bench.build(
        {
            "loop": ("iterIn", {}),
            "done": "env__is_done",
            "end": ("iterOut", {"loop": "loop"}),
            "n": ("graphOut", {"portName": "n"}),
        },
        ["loop.step -> done.x", "done.done -> end.stop", "end.final_step -> n.value"],
    )
    nodes = {
        "sub": ("subgraph", {"graph": inner.to_json()}),
        "out": ("graphOut", {"portName": "n"}),
    }
    document = bench.build(nodes, ["sub.n -> out.value"])
    result = await bench.run(document, {"sub/done": lambda call: {"done": call.step == 1}})
    assert (result.metrics, result.steps) == ({"n": 2}, 2)
