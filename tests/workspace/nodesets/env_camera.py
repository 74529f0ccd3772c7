"""A replicated environment that is seen: a bright column moves over a picture of any size."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef


class Look(BaseCanvasNode):
    """Returns a picture; in one episode its size changes on the way, which no video can show."""

    node_type = "env_camera__look"
    output_ports = [PortDef("rgb", "IMAGE"), PortDef("at", "INT"), PortDef("turn", "ARRAY")]

    def __init__(self, nodeset: CameraNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        nodeset, config = self.nodeset, self.nodeset.config
        height, width = config["height"], config["width"]
        if nodeset.index == config["resize_at"] and ctx.step >= 2:
            height += 8
        rgb = np.zeros((height, width, 3), np.uint8)
        rgb[:, nodeset.at % width] = 255
        return {"rgb": rgb, "at": nodeset.at, "turn": np.full(32, ctx.step, np.float64)}


class Step(BaseCanvasNode):
    node_type = "env_camera__step"
    input_ports = [
        PortDef("rgb", "IMAGE"),
        PortDef("turn", "ARRAY"),
        PortDef("action", "ACTION"),
    ]
    output_ports = [PortDef("done", "BOOL"), PortDef("pid", "INT", volatile=True)]

    def __init__(self, nodeset: CameraNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        nodeset, config = self.nodeset, self.nodeset.config
        nodeset.at += int(inputs["action"]["ahead"])
        if nodeset.index == config["fail_at"] and ctx.step == 1:
            raise ValueError("the lens is broken")
        if nodeset.index == config["die_at"] and ctx.step == 1:
            nodeset.die_once()
        return {"done": ctx.step + 1 >= config["steps"], "pid": os.getpid()}


class Aim(BaseCanvasNode):
    """Returns the action: an array in a dict, as policies give them."""

    node_type = "env_camera__aim"
    input_ports = [PortDef("at", "INT")]
    output_ports = [PortDef("action", "ACTION")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        ahead = np.int64(1 + ctx.rng.integers(0, 3))
        return {"action": {"ahead": np.asarray(ahead), "from": inputs["at"]}}


class Evaluate(BaseCanvasNode):
    node_type = "env_camera__evaluate"
    output_ports = [PortDef("metrics", "METRICS")]

    def __init__(self, nodeset: CameraNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"metrics": {"success": self.nodeset.index % 3 == 0, "at": self.nodeset.at}}


class CameraNodeSet(BaseNodeSet):
    name = "env_camera"
    default_config = {
        "width": 64,
        "height": 64,
        "count": 6,
        "steps": 4,
        "resize_at": -1,
        "fail_at": -1,
        "die_at": -1,
        "died": "",
    }

    def __init__(self) -> None:
        self.at, self.index = 0, -1

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Look(self), Step(self), Aim(), Evaluate(self)]

    def begin_episode(self, episode: Any) -> None:
        self.at, self.index = episode.index, episode.index

    def die_once(self) -> None:
        """End this process, but not that of a further attempt."""
        try:
            os.close(os.open(self.config["died"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": ["test"],
            "default_split": "test",
            "metrics": ["success", "at"],
            "step_budget": 40,
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [Episode("shot %d" % i, scene_id="hall") for i in range(self.config["count"])]
