"""A corridor that a person can play: a slider and a button, and what a run itself asks for."""

from nodeset import Action, BaseCanvasNode, BaseController, BaseNodeSet, Field, PortDef

from . import corridor


class Walk(BaseCanvasNode):
    node_type = "env_played__walk"
    output_ports = [PortDef("done", "BOOL"), PortDef("metrics", "METRICS")]

    def __init__(self, played):
        self.played = played

    def forward(self, inputs, ctx):
        done = self.played.walk()
        return {"done": done, "metrics": {"success": done}}


class PlayedController(BaseController):
    fields = [
        Field("split", "select", "Split"),
        Field("episode_index", "number", "Episode", min=0, max=19, step=1),
        Field("stride", "slider", "Cells per step", min=-3, max=3, step=1),
    ]
    actions = [Action("play", "Begin the episode"), Action("walk", "Take a step")]

    def on_field_change(self, name, value):
        setattr(self.nodeset, name, value)
        return {name: value}

    def on_action(self, name, params):
        if name == "play":
            self.nodeset.at = corridor.START
        else:
            self.nodeset.walk()
        return {"at": self.nodeset.at}

    def get_options(self, field):
        return self.nodeset.get_eval_metadata()["splits"]


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
