"""The files that leaderboards take, from poses."""

from __future__ import annotations

import json
import math
from typing import Any, List

import numpy as np
import pytest

from nodeset.submission import (
    FORMATS,
    SubmissionError,
    Trajectory,
    write_r2r,
    write_rxr_habitat,
    write_vln_ce,
)

STILL = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
LEFT = [1.0, 0.5, -2.0, 0.0, math.sin(math.pi / 4), 0.0, math.cos(math.pi / 4)]


def test_room_to_room_has_viewpoint_heading_and_elevation_per_step() -> None:
    poses = [
        {"viewpoint": "a", "heading": 1.5, "elevation": 0.0},
        {"viewpoint": "a", "heading": 2.0, "elevation": -0.5},
        {"viewpoint": "b", "heading": 2.0, "elevation": -0.5},
        {"viewpoint": "b", "heading": 2.0, "elevation": -0.5},
    ]
    assert json.loads(write_r2r([Trajectory("7_0", poses)])) == [
        {"instr_id": "7_0", "trajectory": [["a", 1.5, 0.0], ["a", 2.0, -0.5], ["b", 2.0, -0.5]]}
    ]


def test_a_view_of_36_stands_for_heading_and_elevation() -> None:
    poses = [{"viewpoint": "a", "view_index": index} for index in (0, 15, 35)]
    (entry,) = json.loads(write_r2r([Trajectory("7_0", poses)]))
    angles = [[math.degrees(angle) for angle in step[1:]] for step in entry["trajectory"]]
    assert angles == [
        pytest.approx([0, -30]),
        pytest.approx([90, 0]),
        pytest.approx([330, 30]),
    ]


def test_vln_ce_has_position_heading_and_stop_per_step() -> None:
    steps = [
        {"position": [0.0, 1.0, 2.0], "heading": 0.5, "stop": False},
        {"position": [0.0, 1.0, 2.0], "heading": 0.5, "stop": True},
    ]
    assert json.loads(write_vln_ce([Trajectory("12", steps)])) == {"12": steps}


def test_a_pose_gives_position_and_heading_and_the_last_one_stops() -> None:
    written = json.loads(write_vln_ce([Trajectory("12", [STILL, np.array(LEFT)])]))
    assert written["12"][0] == {"position": [0.0, 0.0, 0.0], "heading": 0.0, "stop": False}
    assert written["12"][1]["heading"] == pytest.approx(math.pi / 2)
    assert written["12"][1]["stop"] is True
    cut = json.loads(write_vln_ce([Trajectory("12", [STILL, LEFT], has_stopped=False)]))
    assert [step["stop"] for step in cut["12"]] == [False, False]


def test_rxr_habitat_has_a_line_per_instruction_and_positions_that_changed() -> None:
    poses = [STILL, STILL, LEFT, LEFT, STILL]
    lines = write_rxr_habitat(
        [Trajectory("9", poses, labels={"instruction_id": "31"}), Trajectory("4", poses[:2])]
    ).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"instruction_id": 4, "path": [[0.0, 0.0, 0.0]]},
        {"instruction_id": 31, "path": [[0.0, 0.0, 0.0], [1.0, 0.5, -2.0], [0.0, 0.0, 0.0]]},
    ]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_what_is_no_pose_of_the_format_is_refused(name: str) -> None:
    pose: List[Any] = [{"place": "a"}, [1.0, 2.0], "a", {"viewpoint": "a"}]
    for wrong in pose:
        with pytest.raises(SubmissionError, match="is none of this format"):
            FORMATS[name].write([Trajectory("1", [wrong])])
    with pytest.raises(SubmissionError, match="not even its start"):
        FORMATS[name].write([Trajectory("1", [])])


def test_an_instruction_is_told_by_a_whole_number_of_its_own() -> None:
    with pytest.raises(SubmissionError, match="'a7'; it must be a whole number"):
        write_rxr_habitat([Trajectory("a7", [STILL])])
    with pytest.raises(SubmissionError, match="same instruction_id"):
        write_rxr_habitat([Trajectory("7", [STILL]), Trajectory("07", [STILL])])
