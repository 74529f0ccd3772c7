"""Read what a configuration asks for: which world, how many episodes, how large an image.

Knows nothing of OpenGL; it is read where no simulator is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from nodeset import ContractError

ID_PREFIX = "MiniWorld-"
METRICS = ["return", "length", "success", "TL"]
DEFAULT_CONFIG: dict[str, Any] = {
    "id": "MiniWorld-Hallway-v0",
    "kwargs": {},
    "episodes": 100,
    "split": "test",
    "seed_base": 0,
    "obs_width": 80,
    "obs_height": 60,
    "camera_fov_deg": 60.0,
    "camera_pitch_deg": 0.0,
    "egl_device": 0,
}
_SEED_BOUND = 2**31
_CAMERA_BOUNDS = {"camera_fov_deg": (1, 170), "camera_pitch_deg": (-89, 89)}


@dataclass(frozen=True)
class Setting:
    """A checked configuration; `kwargs` go to the environment's constructor.

    `camera_fov_deg` is the vertical field of view; a pitch above 0 looks up.
    """

    id: str
    kwargs: Mapping[str, Any]
    episodes: int
    split: str
    seed_base: int
    obs_width: int
    obs_height: int
    camera_fov_deg: float
    camera_pitch_deg: float
    egl_device: int

    def seed(self, index: int) -> int:
        """Return the seed of an episode's world."""
        return (self.seed_base + index) % _SEED_BOUND


def read_setting(config: Mapping[str, Any]) -> Setting:
    """Check a configuration whose keys are those of `DEFAULT_CONFIG`; raises ContractError."""
    values = {key: config[key] for key in DEFAULT_CONFIG}
    least = {"episodes": 1, "obs_width": 8, "obs_height": 8, "seed_base": 0, "egl_device": 0}
    for key, lowest in least.items():
        value = values[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise _refusal(key, value, f"a whole number from {lowest}")
    for key, (lowest, highest) in _CAMERA_BOUNDS.items():
        value = values[key]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not lowest <= value <= highest:
            raise _refusal(key, value, f"a number of degrees from {lowest} to {highest}")
    _check_names(values)
    return Setting(**values)


def _check_names(values: Mapping[str, Any]) -> None:
    if not isinstance(values["id"], str) or not values["id"].startswith(ID_PREFIX):
        raise _refusal("id", values["id"], f"an id that begins with {ID_PREFIX!r}")
    if not isinstance(values["split"], str) or not values["split"]:
        raise _refusal("split", values["split"], "text")
    if not isinstance(values["kwargs"], Mapping) or "domain_rand" in values["kwargs"]:
        rule = "a dict of keyword arguments without domain_rand, which would draw anew each episode"
        raise _refusal("kwargs", values["kwargs"], rule)


def _refusal(key: str, value: Any, rule: str) -> ContractError:
    return ContractError(f"env_miniworld: config {key} is {value!r}; it must be {rule}.")
