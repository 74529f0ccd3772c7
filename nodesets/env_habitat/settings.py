"""Turn a calibre into Habitat-Sim's own configuration, and read what tools are configured with.

Knows nothing of episodes or of a running simulator.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping

from nodeset import Settings

from .calibre import (
    ACTION_NAMES,
    FORWARD,
    LEFT,
    LOOK_DOWN,
    LOOK_UP,
    RIGHT,
    STOP,
    Calibre,
    Camera,
)

CPU = -1
MAX_DEVICES = 1024
LEAST_SPACING_M, MAX_SPACING_M = 0.01, 1000.0
MAX_HEADINGS = 360
COLOUR, DEPTH = "rgb", "depth"
"""The names of the two cameras."""


def make_configuration(habitat: Any, calibre: Calibre, scene: str, *, gpu: int) -> Any:
    """Return the configuration of a simulator with one body in `scene`; `habitat` is the module."""
    backend = habitat.SimulatorConfiguration()
    backend.scene_id = scene
    backend.gpu_device_id = gpu
    backend.allow_sliding = calibre.allows_sliding
    backend.enable_physics = False
    backend.random_seed = 0
    agent = habitat.AgentConfiguration()
    agent.height = calibre.agent_height_m
    agent.radius = calibre.agent_radius_m
    agent.sensor_specifications = [
        _camera(habitat, COLOUR, calibre.rgb),
        _camera(habitat, DEPTH, calibre.depth),
    ]
    agent.action_space = _action_space(habitat, calibre)
    return habitat.Configuration(backend, [agent])


def choose_gpu(settings: Settings, configured: Any) -> int:
    """Return the device that renders: the configured one; `auto`: the copy's GPU, else the CPU.

    A copy's GPU is the first of CUDA_VISIBLE_DEVICES, which a launcher sets per copy.
    """
    if configured != "auto":
        is_number = isinstance(configured, int) and not isinstance(configured, bool)
        if not is_number or not CPU <= configured < MAX_DEVICES:
            settings.refuse("gpu", "'auto', -1 (the CPU) or a device's number")
        return int(configured)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return 0 if Path("/dev/nvidia0").exists() else CPU
    first = visible.split(",")[0].strip()
    return int(first) if first.isdigit() else CPU


def read_grid(config: Mapping[str, Any]) -> tuple[float, int]:
    """Return a grid's spacing in metres and how many headings each place has."""
    settings = Settings(config, "env_habitat__navigable_poses")
    spacing_m = settings.number("spacing_m", LEAST_SPACING_M, MAX_SPACING_M)
    return spacing_m, settings.whole("headings", 1, MAX_HEADINGS)


def _camera(habitat: Any, name: str, camera: Camera) -> Any:
    specification = habitat.CameraSensorSpec()
    specification.uuid = name
    types = habitat.SensorType
    specification.sensor_type = types.COLOR if name == COLOUR else types.DEPTH
    specification.resolution = [camera.height, camera.width]
    specification.position = [0.0, camera.height_m, 0.0]
    specification.hfov = camera.hfov_deg
    return specification


def _action_space(habitat: Any, calibre: Calibre) -> dict[str, Any]:
    amounts = {FORWARD: calibre.forward_m}
    amounts.update(dict.fromkeys((LEFT, RIGHT), calibre.turn_deg))
    amounts.update(dict.fromkeys((LOOK_UP, LOOK_DOWN), calibre.tilt_deg))
    names = {action: ACTION_NAMES[action] for action in calibre.actions() if action != STOP}
    return {
        name: habitat.ActionSpec(name, habitat.ActuationSpec(amount=amounts[action]))
        for action, name in names.items()
    }
