"""Read what a configuration asks for: which robot, which episodes, how large an image.

Knows nothing of physics or OpenGL.
"""

from __future__ import annotations

from typing import Any, Mapping

from ..env_gymnasium.setting import DEFAULT_CONFIG as GYMNASIUM_CONFIG
from ..env_gymnasium.setting import Setting
from ..env_gymnasium.setting import read_setting as read_gymnasium_setting

# What the renderer takes goes to the environment's constructor.
_IMAGE = ("width", "height", "camera_name")
_KEPT = ("kwargs", "episodes", "split", "seeding", "seed_base", "success", "max_episode_steps")
DEFAULT_CONFIG: dict[str, Any] = {
    "id": "InvertedPendulum-v5",
    **{key: GYMNASIUM_CONFIG[key] for key in _KEPT},
    "width": 96,
    "height": 96,
    "camera_name": None,
}


def read_setting(config: Mapping[str, Any]) -> Setting:
    """Check a configuration whose keys are those of `DEFAULT_CONFIG`; raises ContractError."""
    image = {key: config[key] for key in _IMAGE if config[key] is not None}
    rest = {key: value for key, value in config.items() if key not in _IMAGE}
    kwargs = {**image, **dict(config["kwargs"])}
    return read_gymnasium_setting({**GYMNASIUM_CONFIG, **rest, "kwargs": kwargs})
