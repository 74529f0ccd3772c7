"""Name the settings under which published figures were measured: camera, body, actions, success.

Knows nothing of episodes or of the simulator. A calibre is complete and frozen: two runs of one
name had the same settings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Mapping

import numpy as np

STOP, FORWARD, LEFT, RIGHT, LOOK_UP, LOOK_DOWN = range(6)
"""The discrete actions; only calibres with a tilt have the last two."""
ACTION_NAMES = ("stop", "move_forward", "turn_left", "turn_right", "look_up", "look_down")
STEP_BUDGET = 500


@dataclass(frozen=True)
class Camera:
    """A pinhole camera on the agent's axis, `height_m` above its feet, with square pixels."""

    width: int
    height: int
    hfov_deg: float
    height_m: float

    def intrinsics(self) -> np.ndarray:
        """Return the matrix (3, 3) that takes points (x right, y down, z ahead) to pixels."""
        focal = 0.5 * self.width / math.tan(0.5 * math.radians(self.hfov_deg))
        middle = (0.5 * self.width, 0.5 * self.height)
        rows = [[focal, 0.0, middle[0]], [0.0, focal, middle[1]], [0.0, 0.0, 1.0]]
        return np.array(rows, dtype=np.float64)


@dataclass(frozen=True)
class Calibre:
    """Everything that an episode's outcome depends on beside the scene and the agent.

    Depth is clipped to `depth_min_m` and `depth_max_m`. An agent succeeds that calls STOP strictly
    nearer than `success_m`, along the ground, to the goal. `tilt_deg` 0: no look actions.
    `submission` is the leaderboard's format, if there is one.
    """

    name: str
    rgb: Camera
    depth: Camera
    success_m: float
    turn_deg: float
    depth_min_m: float = 0.0
    depth_max_m: float = 10.0
    forward_m: float = 0.25
    tilt_deg: float = 0.0
    agent_height_m: float = 1.5
    agent_radius_m: float = 0.1
    allows_sliding: bool = True
    step_budget: int = STEP_BUDGET
    has_reference_path: bool = False
    submission: str = ""

    def actions(self) -> range:
        """Return the discrete actions that the agent has."""
        return range(LOOK_DOWN + 1 if self.tilt_deg else RIGHT + 1)

    def metrics(self) -> list[str]:
        """Return the names of the metrics that `evaluate` gives."""
        return list(self.metric_definitions())

    def metric_definitions(self) -> dict[str, dict[str, Any]]:
        """Return of each metric how distances are measured and what the threshold is."""
        ground, straight = "geodesic on the navigation mesh", "Euclidean"
        threshold = {"threshold_m": self.success_m}
        definitions: dict[str, dict[str, Any]] = {
            "NE": {"distance": ground},
            "TL": {"distance": straight},
            "SR": {"distance": ground, **threshold},
            "OSR": {"distance": ground, **threshold},
            "SPL": {"distance": ground, **threshold, "step_distance": straight},
        }
        if self.has_reference_path:
            fidelity = {"distance": straight, **threshold}
            definitions.update(nDTW=fidelity, sDTW=fidelity)
        return definitions


def _square(side: int) -> Camera:
    return Camera(side, side, 90.0, 1.25)


_LOCOBOT_CAMERA = Camera(640, 480, 79.0, 0.88)
_LOCOBOT = {
    "rgb": _LOCOBOT_CAMERA,
    "depth": _LOCOBOT_CAMERA,
    "turn_deg": 30.0,
    "depth_min_m": 0.5,
    "depth_max_m": 5.0,
    "tilt_deg": 30.0,
    "agent_height_m": 0.88,
    "agent_radius_m": 0.18,
    "allows_sliding": False,
}


def _make_calibres() -> Mapping[str, Calibre]:
    locobot: dict[str, Any] = dict(_LOCOBOT)
    calibres = (
        # Krantz et al., "Beyond the Nav-Graph", ECCV 2020, and the settings published with it.
        Calibre(
            "vlnce_r2r",
            rgb=_square(224),
            depth=_square(256),
            success_m=3.0,
            turn_deg=15.0,
            has_reference_path=True,
            submission="vln_ce",
        ),
        # The RxR-Habitat challenge, whose body is a LoCoBot.
        Calibre(
            "rxr_habitat",
            success_m=3.0,
            has_reference_path=True,
            submission="rxr_habitat",
            **locobot,
        ),
        # Savva et al., "Habitat", ICCV 2019.
        Calibre("pointnav", rgb=_square(256), depth=_square(256), success_m=0.2, turn_deg=10.0),
        # Batra et al., "ObjectNav Revisited", 2020: 0.1 m to a place that sees the object.
        Calibre("objectnav", success_m=0.1, **locobot),
    )
    return {calibre.name: calibre for calibre in calibres}


CALIBRES = _make_calibres()
