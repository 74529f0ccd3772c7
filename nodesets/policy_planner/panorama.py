"""Score the ways that a panorama offers, one way per call, and choose one by several scores.

Knows nothing of episodes in progress: what a score rests on comes in by its ports. Nothing here is
learned; the scores are rules of thumb.
"""

from __future__ import annotations

import math
import re
from typing import Any, Mapping, Sequence

import numpy as np

from nodeset import BaseCanvasNode, BatchContext, PortDef, Settings

from ..env_r2r.state import STOP, start_state
from ..env_r2r.view import elevation_rad, heading_rad

_STAIRS = r"(?: the| a)? (?:stairs|steps|staircase)"
_CUE = re.compile(
    r"\b(?:(?P<left>left)|(?P<right>right)|(?P<ahead>straight|forward|ahead)|(?P<back>around|back)"
    rf"|(?P<up>upstairs|up{_STAIRS})|(?P<down>downstairs|down{_STAIRS}))\b"
)
_AHEAD, _RIGHT, _UP = 0, 1, 2
_WAYS = {
    "left": (_RIGHT, -1.0),
    "right": (_RIGHT, 1.0),
    "ahead": (_AHEAD, 1.0),
    "back": (_AHEAD, -1.0),
    "up": (_UP, 1.0),
    "down": (_UP, -1.0),
}
"""Along which axis of the agent's own a direction word points, and which way along it."""
COLOURS = (
    ("black", (20, 20, 20)),
    ("grey", (70, 70, 70)),
    ("grey", (125, 125, 125)),
    ("grey", (175, 175, 175)),
    ("white", (225, 225, 225)),
    ("red", (190, 40, 40)),
    ("orange", (225, 135, 40)),
    ("brown", (115, 75, 40)),
    ("yellow", (225, 205, 60)),
    ("green", (60, 140, 60)),
    ("blue", (50, 80, 180)),
    ("purple", (125, 60, 150)),
    ("pink", (230, 150, 175)),
)
"""What is called so; greys stand close enough that none is nearer to brown or pink."""
SCORES = ("directions", "places", "colours")
MAX_WEIGHT = 1e9
_CANDIDATE = PortDef("candidate", "JSON", "one neighbour, as the panorama lists it")
_INSTRUCTION = PortDef("instruction", "TEXT")
_SCORE = PortDef("score", "FLOAT")


class R2RDirectionWords(BaseCanvasNode):
    """Score how well a way fits the direction word that the instruction has for this move.

    Its first direction word (left, right, straight, back, upstairs, downstairs and the like) is for
    the first move and so on; after the last the way is straight ahead. -1 to 1, a cosine.
    """

    node_type = "policy_planner__r2r_direction_words"
    display_name = "R2R direction words"
    category = "policy"
    batched = True
    batch_dim = "candidate"
    input_ports = [
        _CANDIDATE,
        PortDef("heading", "FLOAT", "the agent's, radians"),
        _INSTRUCTION,
        PortDef("step", "INT", "moves made so far"),
    ]
    output_ports = [_SCORE]

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        cues = [find_cue(*row) for row in zip(inputs["instruction"], inputs["step"])]
        rows = zip(inputs["candidate"], inputs["heading"], cues)
        return {"score": [score_direction(*row) for row in rows]}


class R2RNewPlace(BaseCanvasNode):
    """Score 1 for a way to where the agent has not been yet, 0 for one back."""

    node_type = "policy_planner__r2r_new_place"
    display_name = "R2R new place"
    category = "policy"
    batched = True
    batch_dim = "candidate"
    input_ports = [_CANDIDATE, PortDef("state", "JSON", "the environment's, with its trajectory")]
    output_ports = [_SCORE]

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        rows = zip(inputs["candidate"], inputs["state"])
        return {"score": [float(way["viewpoint"] not in at["trajectory"]) for way, at in rows]}


class ColourWords(BaseCanvasNode):
    """Score the share of a picture that has a colour which the instruction names; 0 to 1."""

    node_type = "policy_planner__colour_words"
    display_name = "Colour words"
    category = "policy"
    batched = True
    batch_dim = "view"
    input_ports = [PortDef("view", "IMAGE"), _INSTRUCTION]
    output_ports = [_SCORE]

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        return {
            "score": [score_colours(*row) for row in zip(inputs["view"], inputs["instruction"])]
        }


class R2RWeighScores(BaseCanvasNode):
    """Take the way with the highest weighted sum of scores, the earlier of two equal ones.

    Stops after `moves` moves, as many as the random agent makes.
    """

    node_type = "policy_planner__r2r_weigh_scores"
    display_name = "R2R choice by scores"
    category = "policy"
    batched = True
    batch_dim = "step"
    input_ports = [
        PortDef("step", "INT", "moves made so far"),
        PortDef("directions", "LIST[FLOAT]", "a score per candidate"),
        PortDef("places", "LIST[FLOAT]", "a score per candidate"),
        PortDef("colours", "LIST[FLOAT]", "a score per candidate", optional=True),
    ]
    output_ports = [PortDef("action", "INT", "a candidate's index, or -1: stop")]
    default_config = {
        "moves": 5,
        "directions_weight": 1.0,
        "places_weight": 2.0,
        "colours_weight": 1.0,
    }

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        names = [name for name in SCORES if name in inputs]
        settings = Settings(ctx.config, self.node_type)
        weights = [settings.number(f"{name}_weight", -MAX_WEIGHT, MAX_WEIGHT) for name in names]
        moves = settings.whole("moves")
        actions = []
        for step, *scores in zip(inputs["step"], *(inputs[name] for name in names)):
            ways = list_ways(dict(zip(names, scores)))
            actions.append(STOP if step >= moves else take_best(ways, weights))
        return {"action": actions}


TOOLS: list[type[BaseCanvasNode]] = [R2RDirectionWords, R2RNewPlace, ColourWords, R2RWeighScores]


def find_cue(instruction: str, step: int) -> str:
    """Return the kind of the instruction's direction word number `step`, or `ahead`."""
    cues = [str(found.lastgroup) for found in _CUE.finditer(instruction.lower())]
    return cues[step] if step < len(cues) else "ahead"


def score_direction(candidate: Mapping[str, Any], heading: float, cue: str) -> float:
    """Return the cosine of the angle between the way to a candidate and where `cue` points."""
    bearing = heading_rad(candidate["view"]) + candidate["rel_heading"] - heading
    elevation = elevation_rad(candidate["view"]) + candidate["rel_elevation"]
    level = math.cos(elevation)
    along = (level * math.cos(bearing), level * math.sin(bearing), math.sin(elevation))
    axis, sign = _WAYS[cue]
    return sign * along[axis]


def score_colours(view: Any, instruction: str) -> float:
    """Return the share of pixels to which, of all colours, one that is named is nearest."""
    words = set(re.findall(r"[a-z]+", instruction.lower().replace("gray", "grey")))
    named = [number for number, (word, _) in enumerate(COLOURS) if word in words]
    pixels = view.reshape(-1, 3).astype(np.int32)
    palette = np.array([colour for _, colour in COLOURS], np.int32)
    nearest = np.argmin([np.square(pixels - colour).sum(axis=1) for colour in palette], axis=0)
    return int(np.count_nonzero(np.isin(nearest, named))) / len(pixels)


def list_ways(scores: Mapping[str, Sequence[float]]) -> list[tuple[float, ...]]:
    """Return each way's scores, one by each scorer; raises ValueError if some lack one."""
    counts = {name: len(row) for name, row in scores.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"there are {counts!r} scores; every scorer must score every candidate")
    return list(zip(*scores.values()))


def take_best(ways: Sequence[Sequence[float]], weights: Sequence[float]) -> int:
    """Return the index of the best way, or stop where there is none."""
    totals = [math.fsum(weight * score for weight, score in zip(weights, way)) for way in ways]
    return totals.index(max(totals)) if totals else STOP


def sample_calls(rng: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Return a call of each tool, in a panorama of one way."""
    instruction = str(rng.choice(["Turn left at the red chair.", "Go up the stairs."]))
    candidate = {
        "viewpoint": str(rng.choice(["here", "there"])),
        "view": int(rng.integers(36)),
        "rel_heading": float(rng.uniform(-0.3, 0.3)),
        "rel_elevation": float(rng.uniform(-0.3, 0.3)),
        "rel_distance": 2.0,
    }
    step = int(rng.integers(4))
    scores = rng.uniform(-1.0, 1.0, (3, 4)).tolist()
    return {
        "r2r_direction_words": {
            "candidate": candidate,
            "heading": float(rng.uniform(0.0, 6.0)),
            "instruction": instruction,
            "step": step,
        },
        "r2r_new_place": {"candidate": candidate, "state": start_state("here", 12).as_json()},
        "colour_words": {
            "view": rng.integers(0, 256, (6, 8, 3), np.uint8),
            "instruction": instruction,
        },
        "r2r_weigh_scores": {"step": step, **dict(zip(SCORES, scores))},
    }
