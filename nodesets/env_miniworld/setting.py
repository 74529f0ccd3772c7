"""Read what a configuration asks for: which world, how many episodes, how large an image.

Knows nothing of OpenGL; it is read where no simulator is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from nodeset import Settings

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
MAX_EPISODES = 100_000
MAX_SEED = 2**62
MAX_PIXELS = 4096
MAX_DEVICES = 1024
_SEED_BOUND = 2**31


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
    """Check a configuration whose keys are those of `DEFAULT_CONFIG`; raises SettingError."""
    settings = Settings(config, "env_miniworld")
    name, kwargs = settings.text("id"), settings.mapping("kwargs")
    if not name.startswith(ID_PREFIX):
        settings.refuse("id", f"an id that begins with {ID_PREFIX!r}")
    if "domain_rand" in kwargs:
        settings.refuse("kwargs", "without domain_rand, which would draw anew each episode")
    return Setting(
        id=name,
        kwargs=kwargs,
        episodes=settings.whole("episodes", 1, MAX_EPISODES),
        split=settings.text("split"),
        seed_base=settings.whole("seed_base", 0, MAX_SEED),
        obs_width=settings.whole("obs_width", 8, MAX_PIXELS),
        obs_height=settings.whole("obs_height", 8, MAX_PIXELS),
        camera_fov_deg=settings.number("camera_fov_deg", 1, 170),
        camera_pitch_deg=settings.number("camera_pitch_deg", -89, 89),
        egl_device=settings.whole("egl_device", 0, MAX_DEVICES - 1),
    )
