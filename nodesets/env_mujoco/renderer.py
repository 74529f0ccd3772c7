"""Render a MuJoCo environment off-screen: colours, and depths in metres.

Everything here runs on one thread, the one that made the GL context. Knows nothing of episodes.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from nodeset import UnavailableError

PACKAGES = "libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri libopengl0"


def import_mujoco() -> None:
    """Import MuJoCo, which looks for EGL; raises UnavailableError where it is missing."""
    try:
        importlib.import_module("mujoco")
    except ModuleNotFoundError as error:
        raise UnavailableError(
            f"env_mujoco lacks the package {error.name!r} in the interpreter that runs it; "
            f"`wayfare nodesets --build env_mujoco` makes one that has what its header asks for"
        ) from error
    except (ImportError, AttributeError, OSError) as error:  # PyOpenGL finds no library: None
        raise _unavailable(error) from error


def look(env: Any) -> tuple[Any, Any]:
    """Return what the camera sees: colours (H, W, 3) and depths (H, W) along its axis.

    The first call makes the GL context; raises UnavailableError without a renderer.
    """
    inner = env.unwrapped
    try:
        rgb, buffer = inner.mujoco_renderer.render("rgbd_tuple")
    except ImportError as error:
        raise _unavailable(error) from error
    extent, planes = inner.model.stat.extent, inner.model.vis.map
    near_m, far_m = planes.znear * extent, planes.zfar * extent
    depth = near_m / (1.0 - np.asarray(buffer, np.float64) * (1.0 - near_m / far_m))
    return np.array(rgb, dtype=np.uint8), depth.astype(np.float32)


def _unavailable(error: Exception) -> UnavailableError:
    return UnavailableError(
        f"env_mujoco needs OpenGL through EGL, which is not here ({type(error).__name__}: {error});"
        f" on Debian or Ubuntu: apt-get install {PACKAGES}"
    )
