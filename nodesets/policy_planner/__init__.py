"""Policies without learned weights: planners, oracles, random agents; each a pure batched tool.

Knows no environment: what a policy sees and remembers comes in by its ports.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet

from . import feedback, grid, minigrid, panorama, point, r2r, random


class PolicyPlannerNodeSet(BaseNodeSet):
    name = "policy_planner"
    description = "Planners, oracles and random agents for Minigrid, Gymnasium and Room-to-Room."
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        kinds: tuple[type[BaseCanvasNode], ...] = (
            *feedback.TOOLS,
            *grid.TOOLS,
            *minigrid.TOOLS,
            *panorama.TOOLS,
            *point.TOOLS,
            *random.TOOLS,
            *r2r.TOOLS,
        )
        return [kind() for kind in kinds]

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return a random view of a grid without doors, and a space of a few actions."""
        cells = rng.choice([minigrid.EMPTY, minigrid.WALL, minigrid.GOAL], size=(7, 7))
        image = np.zeros((7, 7, 3), np.uint8)
        image[:, :, 0] = cells
        poses = grid.make_grid(3, 4)
        space = {"kind": "discrete", "n": int(rng.integers(2, 9)), "start": 0}
        return {
            "minigrid_action": {"image": image, "direction": int(rng.integers(4))},
            "linear_feedback": {"observation": np.zeros(0)},
            "grid_start": {"poses": poses},
            "grid_walk": {
                "poses": poses,
                "pose": poses[0],
                "depth": rng.uniform(0.1, 5.0, (6, 8)).astype(np.float32),
                "visits": rng.integers(0, 3, len(poses)),
            },
            "to_point": {"pose": np.array([0, 0, 0, 0, 0, 0, 1.0]), "goal": rng.uniform(-5, 5, 3)},
            "random_action": {"action_space": space},
            **panorama.sample_calls(rng),
        }
