"""A round room with a red door in one of eight directions: generated, so that it needs no data."""

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef

VIEWS, SIZE = 8, 16
EPISODE = PortDef("episode_index", "INT")


def door_of(episode_index):
    return int(np.random.default_rng(episode_index).integers(VIEWS))


def view(episode_index, heading):
    rng = np.random.default_rng([episode_index, heading])
    image = rng.integers(60, 120, (SIZE, SIZE, 3), np.uint8)
    if heading == door_of(episode_index):
        image[4:, 6:10] = (200, 30, 30)
    return image


class Look(BaseCanvasNode):
    node_type = "env_panorama__look"
    input_ports = [EPISODE]
    output_ports = [PortDef("views", "LIST[IMAGE]", "one per direction")]

    def forward(self, inputs, ctx):
        return {"views": [view(inputs["episode_index"], heading) for heading in range(VIEWS)]}


class Choose(BaseCanvasNode):
    node_type = "env_panorama__choose"
    input_ports = [EPISODE, PortDef("scores", "LIST[FLOAT]", "one per direction")]
    output_ports = [PortDef("metrics", "METRICS")]

    def forward(self, inputs, ctx):
        chosen = int(np.argmax(inputs["scores"]))
        return {"metrics": {"success": chosen == door_of(inputs["episode_index"])}}


class Panorama(BaseNodeSet):
    name = "env_panorama"
    parallelism = "shared"

    def get_tools(self):
        return [Look(), Choose()]

    def get_eval_metadata(self):
        return {"splits": ["test"], "default_split": "test", "metrics": ["success"]}

    def get_episodes(self, split):
        return [Episode(str(index)) for index in range(20)]
