"""The poses that a leaderboard asks for are kept with their episode, and no other poses."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.evals.test_recorder import HEADER, MANIFESTS, PLANNED, Copy, record

from nodeset.context import EpisodeContext
from nodeset.errors import AuthorError
from wayfare.evals.recorder import Recorder
from wayfare.evals.recorder_choice import RecordRequest
from wayfare.graph.calls import ToolCall
from wayfare.store.recording_poses import POSES_FILE, read_poses
from wayfare.store.records import SubmissionRecord

STATE = {"viewpoint": "a", "view_index": np.int64(3), "trajectory": ["a"] * 50}


class Walker(Copy):
    """Answers every call with a state and a pose."""

    async def invoke(self, call):
        await super().invoke(call)
        return {"state": STATE, "pose": np.arange(7.0), "none": None}


def recorder(folder, mode="actions", format_="r2r", poses=("step.state",)):
    submission = SubmissionRecord(nodeset="env", format=format_, poses=poses)
    header = replace(HEADER, submission=submission)
    return Recorder(RecordRequest(mode), folder, header, manifests=MANIFESTS)


def start(recording, number=0):
    return recording.start(0, PLANNED[number], EpisodeContext(number, str(number)))


async def walk(tape, *tools, copy=None):
    invoker = tape.wrap(copy or Walker())
    for turn, tool in enumerate(tools):
        await invoker.invoke(ToolCall(tool, "env", tool, {}, {}, turn, (turn,), 5))


def kept(folder, *records):
    return [(found.key.id, poses) for found, poses in read_poses(folder, records)]


async def test_what_the_format_needs_of_each_pose_is_kept_with_its_episode(tmp_path):
    async with recorder(tmp_path) as recording:
        for number in (1, 0):
            tape = start(recording, number)
            await walk(tape, "look", *["step"] * (number + 1))
            await tape.keep(record(number))
    pose = {"viewpoint": "a", "view_index": 3}
    assert kept(tmp_path, record(0), record(1)) == [("1", [pose, pose]), ("0", [pose])]


async def test_an_array_is_kept_as_numbers_and_an_absent_port_gives_nothing(tmp_path):
    async with recorder(tmp_path, format_="vln_ce", poses=("step.pose", "step.none")) as recording:
        tape = start(recording)
        await walk(tape, "step")
        await tape.keep(record())
    assert kept(tmp_path, record()) == [("0", [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])]


async def test_an_attempt_that_does_not_count_leaves_no_poses(tmp_path):
    async with recorder(tmp_path) as recording:
        lost = start(recording)
        await walk(lost, "step", "step")
        lost.discard()
        tape = start(recording)
        await walk(tape, "step")
        with pytest.raises(AuthorError):
            await walk(tape, "step", copy=Walker(fails=AuthorError("ValueError", "bad", "")))
        await tape.keep(record())
    ((_, poses),) = kept(tmp_path, record())
    assert len(poses) == 1


async def test_a_run_that_records_nothing_keeps_no_poses(tmp_path):
    async with recorder(tmp_path, mode="none") as recording:
        tape = start(recording)
        await walk(tape, "step")
        await tape.keep(record())
    assert not (tmp_path / POSES_FILE).exists()
    assert kept(tmp_path, record()) == []


async def test_of_an_episode_without_poses_it_is_kept_that_it_had_none(tmp_path):
    async with recorder(tmp_path) as recording:
        tape = start(recording)
        await walk(tape, "look")
        await tape.keep(record())
    assert kept(tmp_path, record()) == [("0", [])]
