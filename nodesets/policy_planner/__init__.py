"""Policies without learned weights: planners, oracles, random agents; each a pure batched tool.

Knows no environment: what a policy sees and remembers comes in by its ports.
"""

from __future__ import annotations

from typing import List

from nodeset import BaseCanvasNode, BaseNodeSet

from . import minigrid, random


class PolicyPlannerNodeSet(BaseNodeSet):
    name = "policy_planner"
    description = "Planners, oracles and random agents for Minigrid, Gymnasium and Room-to-Room."
    parallelism = "shared"

    def get_tools(self) -> List[BaseCanvasNode]:
        return [tool() for tool in (*minigrid.TOOLS, *random.TOOLS)]
