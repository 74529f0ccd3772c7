"""Read what a configuration asks of volume, map and planner.

Knows nothing of how they work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from nodeset import Settings

CHOICES = ("best", "sample")
MAX_M = 10000.0
MAX_VOXELS = 2**31
DEFAULT_CONFIG: dict[str, Any] = {
    "voxel_m": 0.1,
    "truncation_voxels": 3,
    "max_depth_m": 5.0,
    "below_floor_m": 0.2,
    "above_floor_m": 3.3,
    "step_over_m": 0.2,
    "agent_height_m": 1.5,
    "agent_radius_m": 0.2,
    "start_clearance_m": 0.5,
    "frontier_spacing_m": 1.5,
    "min_frontier_cells": 3,
    "max_step_m": 3.0,
    "semantic_sigma_m": 0.5,
    "max_voxels": 64_000_000,
    "choice": "best",
}


@dataclass(frozen=True)
class Setting:
    """A checked configuration; lengths are metres.

    The volume reaches from `below_floor_m` under the floor to `above_floor_m` over it. What rises
    above `step_over_m` and begins below `agent_height_m` stands in the way. `choice` takes the
    frontier of the highest weight (`best`), or draws one by weight (`sample`).
    """

    voxel_m: float
    truncation_voxels: float
    max_depth_m: float
    below_floor_m: float
    above_floor_m: float
    step_over_m: float
    agent_height_m: float
    agent_radius_m: float
    start_clearance_m: float
    frontier_spacing_m: float
    min_frontier_cells: int
    max_step_m: float
    semantic_sigma_m: float
    max_voxels: int
    choice: str

    @property
    def truncation_m(self) -> float:
        return self.truncation_voxels * self.voxel_m


def read_setting(config: Mapping[str, Any]) -> Setting:
    """Check a configuration whose keys are those of `DEFAULT_CONFIG`; raises SettingError."""
    settings = Settings(config, "tsdf_planner")
    lengths = {
        key: settings.number(key, 0, MAX_M, is_above=True)
        for key in DEFAULT_CONFIG
        if key.endswith("_m")
    }
    truncation_voxels = settings.number("truncation_voxels", 0, MAX_M, is_above=True)
    if truncation_voxels < 2:
        rule = "at least 2, or no surface lies between two voxels that know it"
        settings.refuse("truncation_voxels", rule)
    return Setting(
        **lengths,
        truncation_voxels=truncation_voxels,
        min_frontier_cells=settings.whole("min_frontier_cells", 1),
        max_voxels=settings.whole("max_voxels", 1, MAX_VOXELS),
        choice=settings.choice("choice", CHOICES),
    )
