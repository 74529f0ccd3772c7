"""What the scorers of a panorama's ways find, and which way is taken by their scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from nodesets.policy_planner.panorama import (
    TOOLS,
    ColourWords,
    R2RDirectionWords,
    R2RNewPlace,
    R2RWeighScores,
    find_cue,
)
from tests.unit.nodesets.r2r_world import call

from nodeset import BaseCanvasNode

EAST = math.pi / 2
LEVEL = 12


def way(view: int, *, rel_elevation: float = 0.0) -> dict[str, Any]:
    return {"viewpoint": "v", "view": view, "rel_heading": 0.0, "rel_elevation": rel_elevation}


@pytest.mark.parametrize(
    ("instruction", "cues"),
    [
        ("Turn left, walk straight and go right.", ["left", "ahead", "right", "ahead"]),
        ("Go up the stairs, then upstairs again.", ["up", "up", "ahead"]),
        ("Walk down the hall, then down the steps.", ["down", "ahead"]),
        ("Turn around at the brightly lit aright.", ["back", "ahead"]),
    ],
)
def test_direction_words_are_taken_in_their_order_one_per_move(
    instruction: str, cues: list[str]
) -> None:
    assert [find_cue(instruction, step) for step in range(len(cues))] == cues


def test_the_score_is_the_cosine_between_the_way_and_the_word() -> None:
    ways = [way(LEVEL), way(LEVEL + 3), way(LEVEL + 6), way(LEVEL + 4), way(24 + 3)]
    words = ["Go left."] * 4 + ["Go upstairs."]
    answer = call(
        R2RDirectionWords(),
        candidate=ways,
        heading=[EAST] * 5,
        instruction=words,
        step=[0] * 5,
    )

    expected = [1.0, 0.0, -1.0, -math.sin(math.pi / 6), math.sin(math.pi / 6)]
    assert answer["score"] == pytest.approx(expected, abs=1e-12)


def test_a_place_is_new_once() -> None:
    states = [{"trajectory": ["u"]}, {"trajectory": ["v", "u"]}]
    assert call(R2RNewPlace(), candidate=[way(0)] * 2, state=states)["score"] == [1.0, 0.0]


def test_the_share_of_the_colours_that_are_named_counts() -> None:
    view = np.zeros((2, 4, 3), np.uint8)
    view[0], view[1, 0] = (200, 45, 35), (130, 130, 125)
    texts = ["the red door", "a Gray rug, a RED door", "a hundred doors"]
    answer = call(ColourWords(), view=np.stack([view] * 3), instruction=texts)

    assert answer["score"] == [0.5, 0.625, 0.0]


def test_what_has_no_hue_is_black_grey_or_white() -> None:
    levels = np.repeat(np.arange(256, dtype=np.uint8), 3).reshape(16, 16, 3)
    words = ["black", "grey", "white", "a black and white floor, grey walls"]
    scores = call(ColourWords(), view=np.stack([levels] * 4), instruction=words)["score"]

    assert min(scores) > 0.1
    assert (sum(scores[:3]), scores[3]) == (1.0, 1.0)


def weigh(step: int, **scores: list[float]) -> int:
    (action,) = call(R2RWeighScores(), step=[step], **{n: [row] for n, row in scores.items()})[
        "action"
    ]
    return int(action)


def test_the_best_sum_wins_and_the_earlier_of_equal_ones() -> None:
    assert weigh(0, directions=[0.9, 0.1, 0.2], places=[0.0, 1.0, 1.0]) == 2
    assert weigh(0, directions=[0.5, 0.5], places=[1.0, 1.0]) == 0
    colours = {"colours": [0.9, 0.0, 0.0]}
    assert weigh(0, directions=[0.0, 0.1, 0.2], places=[1.0] * 3, **colours) == 0


def test_it_stops_after_five_moves_and_where_no_way_leads_on() -> None:
    scores = {"directions": [0.5], "places": [1.0]}
    assert [weigh(step, **scores) for step in (4, 5, 6)] == [0, -1, -1]
    assert weigh(0, directions=[], places=[]) == -1


def test_a_scorer_that_left_a_way_out_is_named() -> None:
    with pytest.raises(ValueError, match="'directions': 2, 'places': 1"):
        weigh(0, directions=[0.5, 0.5], places=[1.0])


@pytest.mark.parametrize("tool", TOOLS)
def test_every_scorer_is_batched(tool: type[BaseCanvasNode]) -> None:
    assert tool.batched
    assert tool.batch_dim in [port.name for port in tool().input_ports]
