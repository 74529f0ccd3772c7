"""A square room with two red walls and two green ones, drawn from where one stands."""

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef

SIDE_M, WIDTH, HEIGHT = 4.0, 32, 24
ASIDE = np.linspace(1.0, -1.0, WIDTH)[:, None]
RED, GREEN = np.array([200.0, 30.0, 30.0]), np.array([30.0, 160.0, 30.0])


class NavigablePoses(BaseCanvasNode):
    node_type = "env_lookout__navigable_poses"
    description = "List where one can stand: a place per square metre, four headings each."
    output_ports = [PortDef("poses", "ARRAY", "(N, 7)")]

    def forward(self, inputs, ctx):
        places, halves = np.arange(0.5, SIDE_M), np.arange(4) * np.pi / 4
        poses = [
            [x, 0.0, z, 0.0, np.sin(half), 0.0, np.cos(half)]
            for x in places
            for z in places
            for half in halves
        ]
        return {"poses": np.array(poses)}


class ObservePose(BaseCanvasNode):
    node_type = "env_lookout__observe_pose"
    description = "Look from a pose along its own -z, with a field of view of 90 degrees."
    input_ports = [PortDef("pose", "POSE")]
    output_ports = [PortDef("rgb", "IMAGE"), PortDef("depth", "DEPTH", "metres")]

    def forward(self, inputs, ctx):
        x, _, z, _, sin, _, cos = inputs["pose"]
        ahead = np.array([-2 * sin * cos, sin * sin - cos * cos])
        rays = ahead + ASIDE * (ahead[1], -ahead[0]) + 1e-9  # per metre along the axis
        walls_m = (np.where(rays > 0, SIDE_M, 0.0) - (x, z)) / rays
        depth = walls_m.min(axis=1)
        paint = np.where(walls_m.argmin(axis=1)[:, None] == 0, RED, GREEN) / (1 + depth[:, None])
        rgb = np.tile(paint.astype(np.uint8), (HEIGHT, 1, 1))
        return {"rgb": rgb, "depth": np.tile(depth.astype(np.float32), (HEIGHT, 1))}


class Lookout(BaseNodeSet):
    name = "env_lookout"

    def get_tools(self):
        return [NavigablePoses(), ObservePose()]

    def get_eval_metadata(self):
        return {"splits": ["test"], "default_split": "test", "metrics": []}

    def get_episodes(self, split):
        return [Episode(str(index), scene_id="room") for index in range(4)]
