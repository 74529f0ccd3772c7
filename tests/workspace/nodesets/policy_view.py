"""Models that score one view: a network of two layers, which may fail, and one that waits."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef

POLL_SECONDS = 0.005


class Judge(BaseCanvasNode):
    """Scores views by two layers of whole numbers, whose sums are the same in any batch.

    Fails at the view that `poison` gives as episode, turn and number; `is_deadly` ends the copy.
    """

    node_type = "policy_view__judge"
    input_ports = [PortDef("view", "IMAGE")]
    output_ports = [PortDef("score", "FLOAT")]
    default_config = {"seed": 0, "poison": [], "is_deadly": False}
    batched = True
    batch_dim = "view"
    number: type[np.generic] = np.int64

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        config = ctx.config
        if config["poison"] in [[row.episode.index, *row.turns] for row in ctx.rows]:
            if config["is_deadly"]:
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError("this view is poisoned")
        views = inputs["view"].reshape(len(inputs["view"]), -1).astype(self.number)
        rng = np.random.default_rng(config["seed"])
        first, second = (rng.integers(-9, 10, shape) for shape in ((views.shape[1], 32), 32))
        hidden = np.maximum(views @ (first / 7).astype(self.number), 0)
        return {"score": (hidden @ second.astype(self.number)).astype(np.float64)}


class JudgeOneByOne(Judge):
    node_type = "policy_view__judge_one_by_one"
    max_batch = 1


class JudgePadded(Judge):
    """Scores views by broken numbers, whose last bits would change with the batch's size."""

    node_type = "policy_view__judge_padded"
    pad_batch = 16
    number = np.float32


class Meet(BaseCanvasNode):
    """Leaves a mark per turn of an episode; says whether all that it awaits came soon enough.

    A mark is called `own`-`place`, where a place is an episode and its turn, as in `2-0`; in the
    names of `awaited` each place of the batch takes the place of `{place}`.
    """

    node_type = "policy_view__meet"
    input_ports = [PortDef("view", "IMAGE")]
    output_ports = [PortDef("score", "FLOAT")]
    default_config = {"folder": "", "own": "", "awaited": [], "seconds": 200.0}
    batched = True
    batch_dim = "view"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        config, folder = ctx.config, Path(ctx.config["folder"])
        places = {f"{row.episode.index}-{row.step}" for row in ctx.rows}
        for place in places:
            (folder / f"{config['own']}-{place}").touch()
        names = {name.format(place=place) for name in config["awaited"] for place in places}
        deadline = time.monotonic() + config["seconds"]
        while not (met := all((folder / name).exists() for name in names)):
            if time.monotonic() >= deadline:
                break
            time.sleep(POLL_SECONDS)
        return {"score": [float(met)] * len(ctx.rows)}


class Worst(BaseCanvasNode):
    node_type = "policy_view__worst"
    input_ports = [PortDef("scores", "LIST[FLOAT]")]
    output_ports = [PortDef("score", "FLOAT")]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"score": min(inputs["scores"])}


class PolicyViewNodeSet(BaseNodeSet):
    name = "policy_view"
    parallelism = "shared"
    deployment = Deployment(budgets={"first_call": 300, "call": 300})

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Judge(), JudgeOneByOne(), JudgePadded(), Meet(), Worst()]
