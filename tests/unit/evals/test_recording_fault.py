"""A recorded file that is not as it was written is told, quickly or thoroughly."""

import struct

import numpy as np
import pytest

from wayfare.evals.recording_fault import find_call_fault, find_video_fault
from wayfare.evals.video import Mp4Writer
from wayfare.store.recording_calls import CallWriter, RecordedCall
from wayfare.store.recording_videos import VideoRecord, hash_file
from wayfare.store.records import EpisodeKey, Firing

KEY = EpisodeKey("env", "ab", "val", "scene", "3")


def box(kind, content=b"", length=None):
    return struct.pack(">I4s", 8 + len(content) if length is None else length, kind) + content


WHOLE = [box(b"ftyp", b"isom"), box(b"free"), box(b"mdat", b"frames"), box(b"moov", b"index")]


@pytest.fixture
def video(tmp_path):
    """Give a video that plays, and what a run would list of it."""
    path = tmp_path / "a.mp4"
    writer = Mp4Writer(path)
    for shade in range(8):
        writer.write(np.full((64, 64, 3), 30 * shade, np.uint8))
    writer.close()
    size, file_hash = path.stat().st_size, hash_file(path)
    fields = {"file": "a.mp4", "size_bytes": size, "file_hash": file_hash}
    return path, VideoRecord(key=KEY, path="look", port="rgb", **fields)


def fault_of(path, listed, *, is_thorough=False):
    return find_video_fault(path, listed, is_thorough=is_thorough)


def test_a_video_is_whole_as_it_was_written(video):
    assert fault_of(*video) == fault_of(*video, is_thorough=True) == ""


def test_a_video_that_was_cut_is_told_by_its_size(video):
    path, _ = video
    path.write_bytes(path.read_bytes()[:-100])
    assert "bytes; it had" in fault_of(*video)
    path.unlink()
    assert "is missing" in fault_of(*video)


def test_a_changed_byte_among_the_frames_is_told_by_a_thorough_look(video):
    path, _ = video
    content = bytearray(path.read_bytes())
    content[content.index(b"mdat") + 40] ^= 1
    path.write_bytes(content)
    assert fault_of(*video) == ""
    assert "is damaged: it is not what was written" in fault_of(*video, is_thorough=True)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"".join(WHOLE[:3]),
        b"".join(WHOLE)[:-1],
        b"".join(WHOLE) + b"more",
        b"".join(WHOLE[1:]),
        b"".join([*WHOLE[:3], box(b"moov", length=3)]),
        bytes(64),
    ],
)
def test_a_video_of_which_no_size_is_listed_must_consist_of_whole_boxes(tmp_path, content):
    listed = VideoRecord(key=KEY, path="look", port="rgb", file="a.mp4")
    path = tmp_path / "a.mp4"
    long = struct.pack(">I4sQ", 1, b"mdat", 20) + b"long"
    for whole in (WHOLE, [WHOLE[0], long, WHOLE[3]], [WHOLE[0], WHOLE[3], box(b"mdat", length=0)]):
        path.write_bytes(b"".join(whole))
        assert fault_of(path, listed, is_thorough=True) == ""
    path.write_bytes(content)
    assert "no whole mp4 file" in fault_of(path, listed)


@pytest.fixture
def calls(tmp_path):
    """Give a file of two calls and the firings that they are of."""
    writer = CallWriter(tmp_path / "part", {"index": 3})
    fields = {"nodeset": "env", "tool": "step", "config": {}, "step": 0, "seed": 1}
    image = np.arange(3000, dtype=np.uint16)
    firings = [Firing("step", (turn,), bytes([turn]) * 16) for turn in range(2)]
    for number, firing in enumerate(firings):
        given = {"path": "step", "turns": firing.turns, "digest": firing.digest}
        writer.write(RecordedCall(number=number, inputs={"image": image}, **given, **fields))
    writer.seal(tmp_path / "calls")
    return tmp_path / "calls", firings


def test_calls_are_whole_as_they_were_written(calls):
    assert find_call_fault(*calls, is_thorough=False) == ""
    assert find_call_fault(*calls, is_thorough=True) == ""


def test_a_changed_byte_among_calls_is_told_by_a_thorough_look(calls):
    path, firings = calls
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert find_call_fault(path, firings, is_thorough=False) == ""
    assert "is damaged" in find_call_fault(path, firings, is_thorough=True)
    path.unlink()
    assert "is missing" in find_call_fault(path, firings, is_thorough=False)


def test_calls_of_another_episode_are_told_by_a_thorough_look(calls):
    path, firings = calls
    others = [Firing("step", firing.turns, bytes(15) + b"x") for firing in firings]
    assert "is not the one that the run's firings have" in find_call_fault(
        path, others, is_thorough=True
    )
