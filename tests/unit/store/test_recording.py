"""What a run keeps beside its results comes back as it was, and with the record it belongs to."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wayfare.store.errors import CorruptFileError, NotRecordedError
from wayfare.store.frames import FrameWriter, read_frames
from wayfare.store.recording import (
    ACTIONS_FILE,
    CALLS_FOLDER,
    calls_path,
    record_token,
    remove_strays,
    video_folder,
    video_names,
)
from wayfare.store.recording_actions import (
    ActionFile,
    Parts,
    RecordedAction,
    need_actions,
    pack_action,
    survey_parts,
)
from wayfare.store.recording_block import pack_block, pack_value, unpack_block, unpack_value
from wayfare.store.recording_calls import CallReader, CallWriter, RecordedCall, check_ends
from wayfare.store.recording_videos import VideoList, VideoRecord, read_videos
from wayfare.store.records import EpisodeKey, EpisodeRecord
from wayfare.store.truth import EPISODES_FILE, pack_committed, pack_record

KEY = EpisodeKey("env", "ab", "val", "scene", "3")
RECORD = EpisodeRecord(key=KEY, index=3, outcome="completed", worker=0, metrics={"success": True})
OTHER = replace(RECORD, worker=1)
VALUES = [
    None,
    True,
    -3,
    2.5,
    "left \ud800",
    b"\x00",
    [1, [2]],
    {"ahead": {"by": 1}},
    np.arange(6, dtype=">f4").reshape(2, 3),
    np.empty((0, 3), np.uint8),
    np.array(2.5),
    [np.array([True, False]), {"x": np.array(["a", "bc"])}],
]


def actions(*turns, value=1):
    return [RecordedAction("step", (turn,), "action", value) for turn in turns]


def packed(items):
    return b"".join(pack_action(item) for item in items)


@pytest.fixture
def file(tmp_path):
    file = ActionFile(tmp_path)
    yield file
    file.close()


def call(number=0, path="step", **changes):
    fields = {
        "nodeset": "env",
        "tool": "step",
        "config": {"gain": 2},
        "inputs": {"state": {"at": 1}},
        "step": 4,
        "turns": (4, 0),
        "seed": 2**64 - 1,
        "digest": bytes(16),
    }
    return RecordedCall(number=number, path=path, **{**fields, **changes})


def write_calls(path: Path, *calls) -> CallReader:
    part = path.with_suffix(".part")
    writer = CallWriter(part, {"index": 3, "id": "3"})
    for item in calls:
        writer.write(item)
    writer.seal(path)
    assert not part.exists()
    return CallReader.open(path)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_any_passive_value_comes_back_as_it_was(value):
    returned = unpack_value(pack_value(value))

    np.testing.assert_equal(returned, value)
    if isinstance(value, np.ndarray):
        assert (returned.dtype, returned.shape) == (value.dtype, value.shape)
        assert not returned.flags.writeable


def test_actions_of_all_parts_come_back_by_turns_and_path(file, tmp_path):
    part = file.append_part(packed(actions(2, 1)))
    file.append_episode(3, record_token(RECORD), actions=packed(actions(0)), parts=[part])

    found = need_actions(tmp_path, RECORD)

    assert found == actions(0, 1, 2)
    assert [action.step for action in found] == [0, 1, 2]


def test_actions_belong_to_the_record_that_was_committed_with_them(file, tmp_path):
    for record, turn in ((RECORD, 1), (OTHER, 2)):
        file.append_episode(3, record_token(record), actions=packed(actions(turn)))

    assert need_actions(tmp_path, RECORD) == actions(1)
    assert need_actions(tmp_path, OTHER) == actions(2)


def test_parts_that_moved_or_are_nobodys_are_known(file, tmp_path):
    parts = [file.append_part(packed(actions(turn))) for turn in (1, 2)]
    token = record_token(RECORD)
    file.append_episode(3, token, actions=packed(actions(3)), parts=parts)
    path = tmp_path / ACTIONS_FILE
    assert survey_parts(path) == Parts(frozenset(), (), parts[1])
    whole, span = path.read_bytes(), slice(*parts)
    path.write_bytes(whole + whole[span])
    assert survey_parts(path) == Parts(frozenset(), ((len(whole), path.stat().st_size),), parts[1])
    path.write_bytes(whole[: parts[1]] + whole[span] + whole[parts[1] :])
    assert survey_parts(path).astray == {token}
    path.write_bytes(whole[: parts[0]] + whole[parts[1] :])
    assert survey_parts(path).astray == {token}


def test_what_was_not_recorded_is_said_with_the_option_that_records_it(tmp_path):
    with pytest.raises(NotRecordedError, match=r"no actions of episode env@ab/val.*--record none"):
        need_actions(tmp_path, RECORD)


def test_calls_come_back_in_the_order_of_their_numbers_with_equal_arrays_once(tmp_path):
    rgb = np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)
    one = write_calls(tmp_path / "one", call(0, inputs={"rgb": rgb}))
    many = write_calls(
        tmp_path / "many", *(call(number, inputs={"rgb": rgb.copy()}) for number in (1, 0, 2))
    )

    loaded = [many.load(entry) for entry in many.entries]

    assert [item.number for item in loaded] == [0, 1, 2]
    assert all(np.array_equal(item.inputs["rgb"], rgb) for item in loaded)
    assert replace(loaded[0], inputs={}) == call(0, inputs={})
    assert one.episode == {"index": 3, "id": "3"}
    size = {name: (tmp_path / name).stat().st_size for name in ("one", "many")}
    assert size["many"] - size["one"] < 500


def test_arrays_that_differ_in_dtype_only_stay_apart(tmp_path):
    arrays = [np.arange(64, dtype=dtype) for dtype in ("<i4", ">i4", "<u4")]

    reader = write_calls(tmp_path / "calls", call(inputs={"views": arrays}))

    views = reader.load(reader.entries[0]).inputs["views"]
    assert [view.dtype for view in views] == [array.dtype for array in arrays]


def test_a_file_of_calls_is_held_to_its_beginning_and_its_end(tmp_path):
    path = tmp_path / "calls"
    write_calls(path, call(0), call(1))
    content = path.read_bytes()
    check_ends(path)
    offsets = [offset for offset, _ in read_frames(path)]
    for damaged in (content[:-1], content[: offsets[-1]], content[: offsets[2]], content + content):
        path.write_bytes(damaged)
        with pytest.raises(CorruptFileError, match="does not end as it was written"):
            check_ends(path)
    for damaged in (b"", b"\0" + content[1:], content[:20], content[:17] + b"\xff" + content[18:]):
        path.write_bytes(damaged)
        with pytest.raises(CorruptFileError, match=r"calls: byte (0|16)"):
            check_ends(path)


def test_a_file_of_calls_that_was_cut_short_is_not_taken_for_a_shorter_one(tmp_path):
    path = tmp_path / "calls"
    write_calls(path, call(0), call(1))
    content = path.read_bytes()
    for end in [offset for offset, _ in read_frames(path)]:
        for cut in (end, end + 7):
            path.write_bytes(content[:cut])
            with pytest.raises(CorruptFileError):
                CallReader.open(path)


def test_an_older_file_of_calls_which_has_no_end_is_read_to_its_last_byte(tmp_path):
    path = tmp_path / "calls"
    write_calls(path, call(0), call(1))
    (_, first), *calls, _ = read_frames(path)
    older = FrameWriter.open(tmp_path / "older")
    episode = unpack_block(first, "").fields
    older.append([pack_block(1, pack_value(episode)), *(payload for _, payload in calls)])
    older.close()
    check_ends(tmp_path / "older")
    assert len(CallReader.open(tmp_path / "older").entries) == 2
    (tmp_path / "older").write_bytes((tmp_path / "older").read_bytes()[:-1])
    with pytest.raises(CorruptFileError, match="was whole when it was closed"):
        check_ends(tmp_path / "older")


def test_a_block_that_is_none_is_named_with_its_place():
    with pytest.raises(CorruptFileError, match="calls: byte 16: no block"):
        unpack_block(b"\xc1", "calls: byte 16")
    with pytest.raises(CorruptFileError, match="no block"):
        unpack_block(pack_block(1, bytes(600))[:-3], "calls")


def test_videos_are_those_of_the_records_that_count(tmp_path):
    listing = VideoList(tmp_path)
    good = VideoRecord(key=KEY, path="look", port="rgb", file="a.mp4", frames=4, width=2, height=2)
    failed = VideoRecord(key=KEY, path="look", port="rgb", reason="the encoder broke")
    listing.append(record_token(OTHER), [failed])
    listing.append(record_token(RECORD), [good])
    listing.close()

    assert read_videos(tmp_path, [RECORD]) == [good]
    assert read_videos(tmp_path, [OTHER]) == [failed]
    assert (good.is_failed, failed.is_failed) == (False, True)


def test_calls_whose_record_never_reached_the_disk_are_removed(tmp_path):
    (tmp_path / CALLS_FOLDER).mkdir()
    truth = FrameWriter.open(tmp_path / EPISODES_FILE)
    truth.append([pack_committed(3, 16, pack_record(RECORD))])
    truth.close()
    for record in (RECORD, OTHER):
        write_calls(calls_path(tmp_path, 3, record_token(record)), call())

    remove_strays(tmp_path, [RECORD.key] * 4)

    assert list((tmp_path / CALLS_FOLDER).iterdir()) == [
        calls_path(tmp_path, 3, record_token(RECORD))
    ]


def test_videos_have_names_that_any_file_system_takes():
    names = video_names("sub/look", "rgb")

    assert [next(names), next(names)] == ["sub-look.rgb.mp4", "sub-look.rgb-2.mp4"]
    assert video_folder(7, "../a b/é") == "000007-a-b"
    assert video_folder(7, "///") == "000007-_"
    assert len(video_folder(7, "x" * 300)) < 100
