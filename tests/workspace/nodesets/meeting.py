"""Calls that wait for each other: they meet only if both are under way at the same time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef

POLL_SECONDS = 0.005


class Meet(BaseCanvasNode):
    """Say whether the call `other` begins before this one, `own`, has waited for too long."""

    node_type = "meeting__meet"
    output_ports = [PortDef("met", "BOOL")]
    default_config = {"folder": "", "own": "", "other": "", "seconds": 200.0}

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        config = ctx.config
        places = {name: Path(config["folder"], f"{name}-{ctx.episode.index}") for name in "ab"}
        places[config["own"]].touch()
        deadline = time.monotonic() + config["seconds"]
        while not places[config["other"]].exists():
            if time.monotonic() >= deadline:
                return {"met": False}
            time.sleep(POLL_SECONDS)
        return {"met": True}


class MeetAsCopy(Meet):
    node_type = "meeting_replicated__meet"


class MeetingNodeSet(BaseNodeSet):
    name = "meeting"
    parallelism = "shared"
    deployment = Deployment(budgets={"first_call": 300, "call": 300})

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Meet()]


class MeetingReplicatedNodeSet(BaseNodeSet):
    name = "meeting_replicated"
    deployment = Deployment(budgets={"first_call": 300, "call": 300})

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MeetAsCopy()]
