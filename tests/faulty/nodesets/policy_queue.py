"""A queue of actions for all workers: a chunk is planned when it is empty. Mended: it is a port."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef

CHUNK = 3


def plan_chunk(seen: Any) -> list[float]:
    return [float(round(value * 10)) for value in seen[:CHUNK]]


class Act(BaseCanvasNode):
    node_type = "policy_queue__act"
    input_ports = [PortDef("seen", "ARRAY")]
    output_ports = [PortDef("action", "ACTION")]
    batched = True
    batch_dim = "seen"

    def __init__(self, nodeset: QueueNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        actions = []
        for seen in inputs["seen"]:
            if not self.nodeset.queue:
                self.nodeset.queue.extend(plan_chunk(seen))
            actions.append(self.nodeset.queue.pop(0))
        return {"action": actions}


class MendedAct(BaseCanvasNode):
    node_type = "policy_queue_mended__act"
    input_ports = [PortDef("seen", "ARRAY"), PortDef("queue", "LIST[FLOAT]", optional=True)]
    output_ports = [PortDef("action", "ACTION"), PortDef("queue", "LIST[FLOAT]")]
    batched = True
    batch_dim = "seen"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        queues = inputs.get("queue", [[]] * len(inputs["seen"]))
        chunks = [list(queue) or plan_chunk(seen) for seen, queue in zip(inputs["seen"], queues)]
        return {"action": [chunk[0] for chunk in chunks], "queue": [chunk[1:] for chunk in chunks]}


class QueueNodeSet(BaseNodeSet):
    name = "policy_queue"
    parallelism = "shared"

    def __init__(self) -> None:
        self.queue: list[float] = []

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Act(self)]


class MendedQueueNodeSet(BaseNodeSet):
    name = "policy_queue_mended"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedAct()]
