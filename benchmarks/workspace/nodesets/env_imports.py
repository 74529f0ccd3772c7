"""A replicated environment that does nothing but import what simulators bring along."""

from __future__ import annotations

from typing import Any

import gymnasium  # noqa: F401
import minigrid  # noqa: F401
import numpy as np  # noqa: F401

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef


class Step(BaseCanvasNode):
    node_type = "env_imports__step"
    output_ports = [PortDef("done", "BOOL")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"done": True}


class ImportsNodeSet(BaseNodeSet):
    name = "env_imports"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Step()]

    def get_eval_metadata(self) -> dict[str, Any]:
        return {"splits": ["test"], "default_split": "test", "metrics": ["steps"], "step_budget": 1}

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode("0")]
