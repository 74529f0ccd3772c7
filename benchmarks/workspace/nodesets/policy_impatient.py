"""The sleeping policy in a copy that serves what waits whenever its handler is free."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet
from nodeset.batch_queue import BatchQueue

from .policy_sleeper import Act


def serve_at_once(*_: Any) -> str:
    return "gap"


BatchQueue.flush_reason = serve_at_once  # this process serves nothing else


class ImpatientAct(Act):
    node_type = "policy_impatient__act"


class PolicyImpatientNodeSet(BaseNodeSet):
    name = "policy_impatient"
    description = "Stands for a model; its calls wait for no others."
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [ImpatientAct()]
