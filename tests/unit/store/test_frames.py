"""Records in a file are wholly there or not there at all."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.frames import (
    FRAME_BYTES,
    HEAD_BYTES,
    FrameWriter,
    read_frame,
    read_frames,
    salvage_frames,
)


def write(path, payloads):
    writer = FrameWriter.open(path)
    offsets = writer.append(payloads)
    writer.close()
    return offsets


def payloads_of(path):
    return [payload for _, payload in read_frames(path)]


def test_records_come_back_in_order_over_several_openings(tmp_path):
    path = tmp_path / "a"
    first = write(path, [b"one", b""])
    second = write(path, [b"three"])
    assert payloads_of(path) == [b"one", b"", b"three"]
    assert [read_frame(path, at) for at in first + second] == [b"one", b"", b"three"]


@settings(max_examples=12)
@given(st.lists(st.binary(max_size=20), max_size=4))
def test_a_file_torn_at_any_byte_reads_as_a_prefix_and_goes_on(tmp_path_factory, payloads):
    folder = tmp_path_factory.mktemp("torn")
    whole, torn = folder / "whole", folder / "torn"
    ends = [
        at + FRAME_BYTES + len(p) for at, p in zip(write(whole, payloads), payloads, strict=True)
    ]
    content = whole.read_bytes()
    for size in range(len(content) + 1):
        torn.write_bytes(content[:size])
        kept = payloads[: sum(end <= size for end in ends)]
        assert payloads_of(torn) == kept
        write(torn, [b"next"])
        assert payloads_of(torn) == [*kept, b"next"]


@settings(max_examples=12)
@given(st.lists(st.binary(min_size=1, max_size=20), min_size=2, max_size=4), st.data())
def test_a_flipped_bit_before_the_last_record_is_an_error(tmp_path_factory, payloads, data):
    path = tmp_path_factory.mktemp("flip") / "a"
    last = write(path, payloads)[-1]
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(HEAD_BYTES, last - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    with pytest.raises(CorruptFileError, match=f"{path}: byte \\d+"):
        payloads_of(path)


def test_a_damaged_length_never_passes_for_a_record_cut_short(tmp_path):
    path = tmp_path / "a"
    write(path, [b"one", b"two"])
    content = bytearray(path.read_bytes())
    content[HEAD_BYTES + 2] = 0xFF
    path.write_bytes(content)
    with pytest.raises(CorruptFileError, match=f"byte {HEAD_BYTES}: a record's length"):
        payloads_of(path)


def test_a_record_whose_content_is_damaged_hides_no_other(tmp_path):
    path, problems = tmp_path / "a", []
    offsets = write(path, [b"one", b"two", b"three", b"four"])
    content = bytearray(path.read_bytes())
    content[offsets[1] + FRAME_BYTES] ^= 1
    path.write_bytes(content)
    assert [payload for _, payload in salvage_frames(path, problems)] == [b"one", b"three", b"four"]
    assert [f"byte {offsets[1]}: a record's content" in problem for problem in problems] == [True]
    content[offsets[2]] ^= 1
    path.write_bytes(content)
    assert [payload for _, payload in salvage_frames(path, problems)] == [b"one"]
    assert f"byte {offsets[2]}: a record's length" in problems[-1]
    assert list(salvage_frames(tmp_path / "none", problems)) == []
    assert "can't be read" in problems[-1]


def test_zeros_that_a_crash_of_the_machine_left_are_dropped(tmp_path):
    path = tmp_path / "a"
    write(path, [b"one"])
    path.write_bytes(path.read_bytes() + bytes(500))
    assert payloads_of(path) == [b"one"]
    write(path, [b"two"])
    assert payloads_of(path) == [b"one", b"two"]


@pytest.mark.parametrize(("version", "age"), [(2, "a newer"), (0, "an older")])
def test_another_format_version_says_so(tmp_path, version, age):
    path = tmp_path / "a"
    write(path, [b"one"])
    content = bytearray(path.read_bytes())
    content[8] = version
    path.write_bytes(content)
    with pytest.raises(FormatVersionError, match=f"format version {version}.*written by {age} one"):
        payloads_of(path)


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"a diary, perhaps")
    with pytest.raises(CorruptFileError, match="byte 0"):
        FrameWriter.open(path)
    assert path.read_bytes() == b"a diary, perhaps"


def test_a_refused_write_leaves_nothing_and_can_be_repeated(tmp_path, monkeypatch):
    path = tmp_path / "a"
    writer = FrameWriter.open(path)
    writer.append([b"one"])

    def no_room(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", no_room)
        with pytest.raises(OSError, match="No space left"):
            writer.append([b"two"])
    assert payloads_of(path) == [b"one"]
    writer.append([b"two"])
    writer.close()
    assert payloads_of(path) == [b"one", b"two"]


def test_a_known_record_that_is_missing_is_not_made_up(tmp_path):
    path = tmp_path / "a"
    write(path, [b"one"])
    with pytest.raises(CorruptFileError, match="no whole record stands at byte 4000"):
        FrameWriter.open(path, 4000)


def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(tmp_path):
    path = tmp_path / "episodes.frames"
    os.mkfifo(path)

    with pytest.raises(CorruptFileError, match="is no plain file"):
        list(read_frames(path))
    with pytest.raises(CorruptFileError, match="is no plain file"):
        FrameWriter.open(path)
