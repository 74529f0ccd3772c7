"""HM-EQA's tools: begin, go, look, answer by guessing, and score.

Knows nothing of how a question is chosen or of who answers it.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from nodeset import BaseCanvasNode, Context, PortDef
from nodeset.metrics import answer_accuracy, chance_accuracy, score_hm_eqa, undefined

from .question import LETTERS
from .rollout import CAMERA, Rollout, is_black

_POSE = PortDef("pose", "POSE", "the agent's, on the floor and level, in Habitat's frame")
_DONE = PortDef("done", "BOOL", "whether the agent has stopped or spent its budget")
BLACK_RELEVANCE = 0.01


class HMEQATool(BaseCanvasNode):
    """A tool over the copy's running question."""

    category = "environment"

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout


class Reset(HMEQATool):
    """Tell the question and the scene; the episode has begun already."""

    node_type = "hmeqa__reset"
    display_name = "Reset"
    output_ports = [
        PortDef("question", "TEXT"),
        PortDef("choices", "LIST[TEXT]", "four, of which some may be placeholders"),
        PortDef("answer", "TEXT", "the published letter, which no agent under test reads"),
        PortDef("floor_height", "FLOAT", "y of the floor, metres"),
        PortDef("bounds", "ARRAY", "(2, 3): the navigation mesh's lower and upper corner, metres"),
        PortDef("budget", "INT", "steps"),
        _POSE,
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        question = self.rollout.question
        ctx.log("habitat_sim", self.rollout.simulator.version)
        return {
            "question": question.question,
            "choices": list(question.choices),
            "answer": question.answer,
            "floor_height": question.start.position[1],
            "bounds": np.array(self.rollout.simulator.ground.bounds(), dtype=np.float64),
            "budget": self.rollout.budget,
            "pose": self.rollout.pose,
        }


class StepPose(HMEQATool):
    """Spend a step on going to a pose, wherever it is; the camera is tilted again."""

    node_type = "hmeqa__step_pose"
    display_name = "Go to a pose"
    input_ports = [_POSE]
    output_ports = [_POSE, PortDef("navigable", "BOOL", "whether one can stand there"), _DONE]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        navigable = self.rollout.go(inputs["pose"])
        return {"pose": self.rollout.pose, "navigable": navigable, "done": self.rollout.is_done}


class StepDiscrete(HMEQATool):
    """Spend a step on 0 STOP, 1 forward 0.25 m, 2 left 30 degrees, 3 right."""

    node_type = "hmeqa__step_discrete"
    display_name = "Step"
    input_ports = [PortDef("action", "INT", "0 STOP, 1 forward, 2 left, 3 right")]
    output_ports = [_POSE, PortDef("collided", "BOOL", "whether the body bumped"), _DONE]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        collided = self.rollout.act(inputs["action"])
        return {"pose": self.rollout.pose, "collided": collided, "done": self.rollout.is_done}


class ObserveEgocentric(HMEQATool):
    """Look from where the agent is, 30 degrees down."""

    node_type = "hmeqa__observe_egocentric"
    display_name = "Observe"
    output_ports = [
        PortDef("rgb", "IMAGE", "480 by 640"),
        PortDef("depth", "DEPTH", "metres; 0: nothing there"),
        _POSE,
        PortDef("camera_pose", "POSE", "it looks along its own -z"),
        PortDef("intrinsics", "ARRAY", "(3, 3), pixels"),
        PortDef("is_black", "BOOL", "at least half of it is black: the agent is outside"),
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        view = self.rollout.look()
        return {
            "rgb": view.rgb,
            "depth": view.depth,
            "pose": self.rollout.pose,
            "camera_pose": self.rollout.simulator.body.camera_pose(),
            "intrinsics": CAMERA.intrinsics(),
            "is_black": is_black(view.rgb),
        }


class Guess(HMEQATool):
    """Stand in for a model that answers: guess among the real choices, whatever is in view.

    It is right as often as chance. A black frame gets what the published code gives it.
    """

    node_type = "hmeqa__guess"
    display_name = "Guess (stands in for a model)"
    category = "teacher"
    input_ports = [PortDef("is_black", "BOOL")]
    output_ports = [
        PortDef("prediction", "ARRAY", "(4,), how likely each choice is"),
        PortDef("relevance", "FLOAT", "how much the view tells, 0 to 1"),
    ]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        count = len(LETTERS)
        if inputs["is_black"]:
            return {"prediction": np.full(count, 1.0 / count), "relevance": BLACK_RELEVANCE}
        shares = np.zeros(count)
        real = self.rollout.question.real_choices
        shares[real] = ctx.rng.dirichlet(np.ones(len(real)))
        return {"prediction": shares, "relevance": float(ctx.rng.uniform(0.05, 1.0))}


class Evaluate(HMEQATool):
    """Score an answer: a letter, or all views' predictions, of which there are two scores.

    `accuracy` is the headline: the letter's, else `success_weighted`. `chance` is that of guessing
    among the choices that are no placeholders.
    """

    node_type = "hmeqa__evaluate"
    display_name = "Evaluate"
    input_ports = [
        PortDef("predictions", "LIST[ARRAY]", "per view (4,)", optional=True),
        PortDef("relevances", "LIST[FLOAT]", "per view", optional=True),
        PortDef("answer", "TEXT", "the agent's letter", optional=True),
    ]
    output_ports = [PortDef("metrics", "METRICS", "accuracy, chance, steps, TL, both scores")]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        question = self.rollout.question
        chance: Any = chance_accuracy(len(question.real_choices))
        if question.has_placeholder_answer:
            chance = undefined("the published answer is a placeholder")
        way = {"steps": self.rollout.steps, "TL": self.rollout.length_m()}
        return {"metrics": {**self._score(inputs), "chance": chance, **way}}

    def _score(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        question = self.rollout.question
        scores: dict[str, Any] = {}
        if "predictions" in inputs and "relevances" in inputs:
            scores = score_hm_eqa(inputs["predictions"], inputs["relevances"], question.truth)
            scores = {"accuracy": scores["success_weighted"], **scores}
        if "answer" in inputs:
            letter = _checked_letter(inputs["answer"])
            scores["accuracy"] = answer_accuracy(letter, question.answer)
        if not scores:
            raise ValueError(
                f"evaluate has {sorted(inputs)}; it needs predictions with relevances, or answer"
            )
        return scores


def _checked_letter(answer: str) -> str:
    letter = answer.strip()
    if letter not in tuple(LETTERS):
        raise ValueError(f"answer {answer!r} is no letter of A to D")
    return letter


TOOLS = (Reset, StepPose, StepDiscrete, ObserveEgocentric, Guess, Evaluate)
