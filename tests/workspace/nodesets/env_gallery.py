"""A replicated renderer of pictures that follow from the pose and the episode alone, or do not."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef
from nodeset.digest import hash64


class GalleryTool(BaseCanvasNode):
    def __init__(self, gallery: GalleryNodeSet) -> None:
        self.gallery = gallery


class Poses(GalleryTool):
    node_type = "env_gallery__poses"
    default_config = {"count": 40}
    output_ports = [PortDef("poses", "ARRAY")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        count = ctx.config["count"] + self.gallery.index
        poses = np.zeros((count, 7))
        poses[:, 0], poses[:, 6] = np.arange(count), 1.0
        return {"poses": poses}


class Look(GalleryTool):
    """Draws noise that the pose and the room decide; `drift` adds how often it was looked."""

    node_type = "env_gallery__look"
    input_ports = [PortDef("pose", "POSE")]
    output_ports = [
        PortDef("rgb", "IMAGE"),
        PortDef("depth", "DEPTH"),
        PortDef("far", "FLOAT"),
        PortDef("caption", "TEXT"),
    ]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        gallery, pose = self.gallery, inputs["pose"]
        gallery.looks += 1
        gallery.suffer(pose)
        room = gallery.index if gallery.config["rooms_differ"] else 0
        rng = np.random.default_rng([hash64(pose, room), gallery.looks * gallery.config["drift"]])
        size = gallery.config["size"]
        return {
            "rgb": rng.integers(0, 256, (size, size, 3), np.uint8),
            "depth": rng.uniform(0.0, 5.0, (size, size)).astype(np.float32),
            "far": float(rng.uniform()),
            "caption": "a picture",
        }


class Stand(GalleryTool):
    """Takes a pose too, but shows nothing."""

    node_type = "env_gallery__stand"
    input_ports = [PortDef("pose", "POSE")]
    output_ports = [PortDef("pose", "POSE")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"pose": inputs["pose"]}


class GalleryNodeSet(BaseNodeSet):
    name = "env_gallery"
    default_config = {
        "episodes": 4,
        "size": 16,
        "rooms_differ": True,
        "drift": 0,
        "hold": "",  # while this file exists, no copy shows a further view after so many:
        "hold_after": 30,
        "fail_at": -1.0,
        "die_at": -1.0,
        "died": "",
    }

    def __init__(self) -> None:
        self.index, self.looks = -1, 0

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Poses(self), Look(self), Stand(self)]

    def begin_episode(self, episode: Any) -> None:
        self.index = episode.index

    def suffer(self, pose: Any) -> None:
        """Hold on, raise or die where the configuration says so."""
        hold, after = self.config["hold"], self.config["hold_after"]
        while hold and self.looks > after and Path(hold).exists():
            time.sleep(0.005)
        if pose[0] == self.config["fail_at"]:
            raise ValueError("the lamp went out")
        died = Path(self.config["died"])
        if pose[0] == self.config["die_at"] and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": ["test"],
            "default_split": "test",
            "metrics": ["n"],
            "pose_frame": "habitat",
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [
            Episode("e%d" % i, scene_id="hall %d" % (i // 2))
            for i in range(self.config["episodes"])
        ]
