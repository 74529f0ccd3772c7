"""Import MiniWorld, make one environment with its GL context, and build worlds in it.

Everything here runs on one thread, the one that made the context. Knows nothing of scores.
"""

from __future__ import annotations

import importlib
from typing import Any

from nodeset import SettingError, UnavailableError

from .setting import ID_PREFIX, Setting
from .world import World

PACKAGES = "libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri libglu1-mesa"


class Simulator:
    """Closed until `open`; without a world until `build`."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._gymnasium = _import_miniworld(setting)
        self._env: Any = None

    def open(self) -> None:
        """Make the environment and its GL context; raises UnavailableError without a renderer."""
        setting = self.setting
        window = importlib.import_module("pyglet.window")
        sizes = {"obs_width": setting.obs_width, "obs_height": setting.obs_height}
        try:
            made = self._gymnasium.make(
                setting.id, disable_env_checker=True, domain_rand=False, **sizes, **setting.kwargs
            )
        except (window.WindowException, ImportError, OSError) as error:
            raise _unavailable(error) from error
        except TypeError as error:
            if not setting.kwargs:
                raise
            raise SettingError(
                f"env_miniworld: setting 'kwargs' is {setting.kwargs!r}; it must be what "
                f"{setting.id} can be made with ({error})."
            ) from error
        self._env = made.unwrapped

    def close(self) -> None:
        """Release both."""
        if self._env is not None:
            self._env.close()
            self._env.shadow_window.close()
        self._env = None

    def build(self, seed: int) -> World:
        """Build the world of a seed, in place of the one before."""
        if self._env is None:
            raise RuntimeError("the simulator is not open; initialize() opens it")
        self._env.reset(seed=seed)
        agent = self._env.agent
        agent.cam_fov_y = self.setting.camera_fov_deg
        agent.cam_pitch = self.setting.camera_pitch_deg
        return World(self._env)


def _import_miniworld(setting: Setting) -> Any:
    """Import MiniWorld without a GL context, which `open` makes, and return Gymnasium."""
    try:
        pyglet = importlib.import_module("pyglet")
        pyglet.options.update(
            headless=True, headless_device=setting.egl_device, shadow_window=False
        )
        importlib.import_module("miniworld")
    except ImportError as error:
        raise _unavailable(error) from error
    gymnasium = importlib.import_module("gymnasium")
    known = sorted(name for name in gymnasium.registry if name.startswith(ID_PREFIX))
    if setting.id not in known:
        raise SettingError(
            f"env_miniworld: setting 'id' is {setting.id!r}; it must be one of {', '.join(known)}."
        )
    return gymnasium


def _unavailable(error: Exception) -> UnavailableError:
    if isinstance(error, ModuleNotFoundError):
        return UnavailableError(
            f"env_miniworld lacks the package {error.name!r} in the interpreter that runs it; "
            f"`wayfare nodesets --build env_miniworld` makes one that has what its header asks for"
        )
    return UnavailableError(
        f"env_miniworld needs OpenGL through EGL, which is not here ({type(error).__name__}: "
        f"{error}); on Debian or Ubuntu: apt-get install {PACKAGES}"
    )
