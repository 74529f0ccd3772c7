"""Read what a configuration asks for: which robot, which episodes, how large an image.

Knows nothing of physics or OpenGL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping

from nodeset import Settings

from ..env_gymnasium.setting import DEFAULT_CONFIG as GYMNASIUM_CONFIG
from ..env_gymnasium.setting import Setting
from ..env_gymnasium.setting import read_setting as read_gymnasium_setting

_KEPT = ("kwargs", "episodes", "split", "seeding", "seed_base", "success", "max_episode_steps")
DEFAULT_CONFIG: dict[str, Any] = {
    "id": "InvertedPendulum-v5",
    **{key: GYMNASIUM_CONFIG[key] for key in _KEPT},
    "width": 96,
    "height": 96,
    "camera_name": None,
}
MAX_PIXELS = 4096


def read_setting(config: Mapping[str, Any]) -> Setting:
    """Check a configuration whose keys are those of `DEFAULT_CONFIG`; raises SettingError.

    What the renderer takes goes to the environment's constructor.
    """
    settings = Settings(config, "env_mujoco")
    image: dict[str, Any] = {key: settings.whole(key, 1, MAX_PIXELS) for key in ("width", "height")}
    if settings.is_given("camera_name"):
        image["camera_name"] = settings.text("camera_name")
    kwargs = {**image, **settings.mapping("kwargs")}
    read = read_gymnasium_setting({**GYMNASIUM_CONFIG, **config}, "env_mujoco")
    return replace(read, kwargs=kwargs)
