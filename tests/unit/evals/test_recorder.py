"""A tape per attempt: kept with its episode's record, or thrown away without a trace."""

import asyncio

import numpy as np
import pytest

from nodeset.context import EpisodeContext
from nodeset.digest import digest_firing
from nodeset.errors import AuthorError
from wayfare.evals import recorder_track
from wayfare.evals.recorder import Recorder
from wayfare.evals.recorder_choice import EpisodeChoice, RecordRequest
from wayfare.evals.video import VideoFormat
from wayfare.graph.calls import ToolCall
from wayfare.store.recording import CALLS_FOLDER, VIDEOS_FOLDER, calls_path, record_token
from wayfare.store.recording_actions import need_actions
from wayfare.store.recording_calls import CallReader
from wayfare.store.recording_videos import read_videos
from wayfare.store.records import EpisodeKey, EpisodeRecord, PlannedEpisode, RunHeader

FRAME = np.zeros((8, 6, 3), np.uint8)
OUTPUTS = {"rgb": FRAME, "pid": 17}


def ports(**kinds):
    return [{"name": n, "wire_type": kind, "volatile": n == "pid"} for n, kind in kinds.items()]


MANIFESTS = {
    "env": {
        "tools": [
            {"name": "step", "inputs": ports(action="ACTION", at="INT"), "outputs": ports()},
            {"name": "look", "inputs": ports(), "outputs": ports(rgb="IMAGE", pid="INT")},
        ]
    }
}
PLANNED = [PlannedEpisode(key=EpisodeKey("env", "ab", "t", "s", str(n)), index=n) for n in range(3)]
HEADER = RunHeader(
    created="2026-01-01T00:00:00+00:00",
    graph={},
    graph_hash="",
    graph_name="agent",
    seed=0,
    worker_count=1,
    split="t",
    episodes=tuple(PLANNED),
    episodes_hash="",
)


def record(number=0, outcome="completed", **metrics):
    return EpisodeRecord(
        key=PLANNED[number].key, index=number, outcome=outcome, worker=0, metrics=metrics
    )


def call(tool, turn=0, **inputs):
    return ToolCall(tool, "env", tool, {"gain": 1}, inputs, turn, (turn,), 5)


class Copy:
    """Answers calls; `fails` is raised by all."""

    def __init__(self, fails=None):
        self.fails = fails

    async def invoke(self, call):
        if self.fails:
            raise self.fails
        return OUTPUTS if call.tool == "look" else {}


class Video:
    """Counts the frames of one video; breaks at the frame `breaks_at`."""

    breaks_at = -1

    def __init__(self, path):
        path.touch()
        self.count = 0

    def write(self, frame):
        if self.count == self.breaks_at:
            raise RuntimeError("the encoder broke")
        self.count += 1

    def close(self):
        return VideoFormat(self.count, 6, 8)


class BrokenVideo(Video):
    breaks_at = 1


def recorder(folder, mode, only="", open_video=Video):
    request = RecordRequest(mode, EpisodeChoice.parse(only))
    return Recorder(request, folder, HEADER, manifests=MANIFESTS, open_video=open_video)


def start(recorder, number=0):
    return recorder.start(0, PLANNED[number], EpisodeContext(number, str(number)))


async def drive(tape, turns=3, copy=None):
    invoker = tape.wrap(copy or Copy())
    for turn in range(turns):
        await invoker.invoke(call("look", turn))
        await invoker.invoke(call("step", turn, action=turn, at=1))


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


async def test_nothing_is_recorded_and_nothing_is_wrapped_where_nothing_is_asked_for(tmp_path):
    async with recorder(tmp_path, "none") as none:
        tape, copy = start(none), Copy()
        assert tape.wrap(copy) is copy
        await tape.keep(record())
    assert files(tmp_path) == []


async def test_actions_are_those_of_action_ports_and_on_disk_before_the_record(tmp_path):
    async with recorder(tmp_path, "actions") as actions:
        tape = start(actions)
        await drive(tape)
        await tape.keep(record())
        found = need_actions(tmp_path, record())
    assert [(a.path, a.turns, a.port, a.value) for a in found] == [
        ("step", (turn,), "action", turn) for turn in range(3)
    ]


async def test_a_call_that_gives_no_image_is_answered_by_the_very_future(tmp_path):
    class Futures:
        def invoke(self, call):
            self.future = asyncio.get_running_loop().create_future()
            return self.future

    async with recorder(tmp_path, "frames") as frames:
        tape, copy = start(frames), Futures()
        assert tape.wrap(copy).invoke(call("step", action=1)) is copy.future
        tape.discard()


async def test_the_actions_of_a_long_attempt_leave_memory_before_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_track, "MAX_ACTION_BYTES", 100)
    async with recorder(tmp_path, "actions") as actions:
        tape = start(actions)
        await drive(tape, turns=40)
        await tape.keep(record())
    assert [a.value for a in need_actions(tmp_path, record())] == list(range(40))


async def test_a_repeated_attempt_replaces_the_one_that_failed(tmp_path):
    async with recorder(tmp_path, "frames") as frames:
        failed = start(frames)
        await drive(failed, turns=2)
        failed.discard()
        tape = start(frames)
        await drive(tape, turns=1)
        await tape.keep(record())
    assert len(need_actions(tmp_path, record())) == 1
    (video,) = read_videos(tmp_path, [record()])
    assert video.frames == 1
    assert files(tmp_path / VIDEOS_FOLDER) == ["look.rgb.mp4"]


async def test_attempts_that_a_run_left_open_leave_nothing(tmp_path):
    async with recorder(tmp_path, "full") as full:
        await drive(start(full))
    assert files(tmp_path / CALLS_FOLDER) == []


async def test_a_broken_encoder_leaves_the_episode_whole_and_is_listed(tmp_path):
    async with recorder(tmp_path, "frames", open_video=BrokenVideo) as frames:
        tape = start(frames)
        await drive(tape)
        await tape.keep(record())
    (video,) = read_videos(tmp_path, [record()])
    assert (video.path, video.port, video.file) == ("look", "rgb", "")
    assert video.reason == "RuntimeError: the encoder broke"
    assert len(need_actions(tmp_path, record())) == 3
    assert files(tmp_path / VIDEOS_FOLDER) == []


async def test_a_video_that_can_not_even_be_opened_is_listed(tmp_path):
    def refuse(path):
        raise OSError(28, "no space")

    async with recorder(tmp_path, "frames", open_video=refuse) as frames:
        tape = start(frames)
        await drive(tape)
        await tape.keep(record())
    (video,) = read_videos(tmp_path, [record()])
    assert "no space" in video.reason


async def test_videos_that_turn_out_not_to_be_wanted_are_removed(tmp_path):
    async with recorder(tmp_path, "frames", "failures") as frames:
        for number, success in enumerate((True, False)):
            tape = start(frames, number)
            await drive(tape)
            await tape.keep(record(number, success=success))
    kept = [record(0, success=True), record(1, success=False)]
    assert [video.file for video in read_videos(tmp_path, kept)] == ["000001-1/look.rgb.mp4"]
    assert files(tmp_path / VIDEOS_FOLDER) == ["look.rgb.mp4"]


async def test_an_episode_that_is_not_among_the_kth_is_not_encoded_at_all(tmp_path):
    opened = []

    def open_video(path):
        opened.append(path)
        return Video(path)

    async with recorder(tmp_path, "frames", "every:2", open_video=open_video) as frames:
        for number in range(3):
            tape = start(frames, number)
            await drive(tape)
            await tape.keep(record(number))
    assert len(opened) == 2


async def test_calls_are_kept_with_inputs_and_the_digest_that_their_copy_makes(tmp_path):
    async with recorder(tmp_path, "full") as full:
        tape = start(full)
        await drive(tape)
        await tape.keep(record())
        reader = CallReader.open(calls_path(tmp_path, 0, record_token(record())))
    loaded = [reader.load(entry) for entry in reader.entries]
    assert [(item.path, item.turns) for item in loaded[:2]] == [("look", (0,)), ("step", (0,))]
    assert loaded[0].digest == digest_firing("look", (0,), {"rgb": FRAME})
    assert (loaded[1].inputs, loaded[1].config) == ({"action": 0, "at": 1}, {"gain": 1})
    assert reader.episode["id"] == "0"


@pytest.mark.parametrize("value", [3, 2**70, object()], ids=["sound", "too large", "no data"])
async def test_a_call_that_fails_is_recorded_and_fails_as_it_would(tmp_path, value):
    fault = AuthorError("no", type_name="ValueError")
    async with recorder(tmp_path, "full") as full:
        tape = start(full)
        with pytest.raises(AuthorError) as caught:
            await tape.wrap(Copy(fault)).invoke(call("step", action=value))
        assert caught.value is fault
        await tape.keep(record(0, "error"))
    (action,) = need_actions(tmp_path, record(0, "error"))
    assert action.value == (value if value == 3 else repr(value))
    reader = CallReader.open(calls_path(tmp_path, 0, record_token(record(0, "error"))))
    assert [reader.load(entry).digest for entry in reader.entries] == ([None] if value == 3 else [])


async def test_a_cancelled_call_is_withdrawn_from_its_copy(tmp_path):
    class Silent:
        def invoke(self, call):
            self.future = asyncio.get_running_loop().create_future()
            return self.future

    async with recorder(tmp_path, "full") as full:
        tape, copy = start(full), Silent()
        begun = tape.wrap(copy).invoke(call("look"))
        begun.cancel()
        with pytest.raises(asyncio.CancelledError):
            await begun
        await asyncio.sleep(0)
        assert copy.future.cancelled()


async def test_what_a_killed_run_left_is_removed(tmp_path):
    for name in (VIDEOS_FOLDER, CALLS_FOLDER):
        (tmp_path / name).mkdir()
        (tmp_path / name / "000000.0.part").touch()
    for mode in ("frames", "full"):
        async with recorder(tmp_path, mode):
            pass
    assert not list(tmp_path.rglob("*.part"))
