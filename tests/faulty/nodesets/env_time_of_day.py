"""The time of day: how bright it is depends on the hour. Mended: on the episode."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef
from nodeset.context import EpisodeContext


class Look(BaseCanvasNode):
    node_type = "env_time_of_day__look"
    output_ports = [PortDef("brightness", "FLOAT")]

    def __init__(self, nodeset: TimeOfDayNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"brightness": self.nodeset.hour / 24}


class MendedLook(Look):
    node_type = "env_time_of_day_mended__look"


class TimeOfDayNodeSet(BaseNodeSet):
    name = "env_time_of_day"
    hour = 0

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Look(self)]

    def begin_episode(self, episode: EpisodeContext) -> None:
        self.hour = datetime.now().hour  # noqa: DTZ005  the fault


class MendedTimeOfDayNodeSet(TimeOfDayNodeSet):
    name = "env_time_of_day_mended"
    parallelism = "replicated"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedLook(self)]

    def begin_episode(self, episode: EpisodeContext) -> None:
        self.hour = episode.seed % 24
