"""A corridor that a person can play: a slider and a button, and what a run itself asks for."""

from nodeset import Action, BaseCanvasNode, BaseNodeSet, EpisodeController, Field, PortDef

from . import corridor


class Walk(BaseCanvasNode):
    node_type = "env_played__walk"
    output_ports = [PortDef("done", "BOOL"), PortDef("metrics", "METRICS")]

    def __init__(self, played):
        self.played = played

    def forward(self, inputs, ctx):
        done = self.played.walk()
        return {"done": done, "metrics": {"success": done}}


class PlayedController(EpisodeController):
    fields = [
        *EpisodeController.fields,
        Field("stride", "slider", "Cells per step", min=-3, max=3, step=1),
    ]
    actions = [*EpisodeController.actions, Action("walk", "Take a step")]

    def start(self, split, index):
        self.nodeset.episode_index, self.nodeset.at = index, corridor.START
        return {"at": self.nodeset.at}

    def on_field_change(self, name, value):
        if name != "stride":
            return super().on_field_change(name, value)
        self.nodeset.stride = value
        return {"stride": value}

    def on_action(self, name, params):
        if name != "walk":
            return super().on_action(name, params)
        return {"done": self.nodeset.walk(), "at": self.nodeset.at}


class Played(BaseNodeSet):
    name = "env_played"
    controller = PlayedController
    stride = 1

    def get_tools(self):
        return [Walk(self)]

    def walk(self):
        self.at = corridor.move(self.at, self.stride)
        return corridor.is_done(self.episode_index, self.at)

    def get_eval_metadata(self):
        return corridor.METADATA

    def get_episodes(self, split):
        return corridor.episodes()
