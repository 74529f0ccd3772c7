"""Policies without learned weights: planners, oracles, random agents; each a pure batched tool.

Knows no environment: what a policy sees and remembers comes in by its ports.
"""

from __future__ import annotations

from nodeset import BaseCanvasNode, BaseNodeSet

from . import minigrid, r2r, random


class PolicyPlannerNodeSet(BaseNodeSet):
    name = "policy_planner"
    description = "Planners, oracles and random agents for Minigrid, Gymnasium and Room-to-Room."
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        kinds: tuple[type[BaseCanvasNode], ...] = (*minigrid.TOOLS, *random.TOOLS, *r2r.TOOLS)
        return [kind() for kind in kinds]
