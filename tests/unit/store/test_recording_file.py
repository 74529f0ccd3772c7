"""Several threads append to one file, each its own record."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from wayfare.store.errors import StorageWriteError
from wayfare.store.frames import FrameWriter, read_frame, read_frames
from wayfare.store.recording_file import SharedAppender


def test_every_thread_gets_the_place_of_its_own_record(tmp_path):
    path = tmp_path / "file"
    file = SharedAppender(path)
    payloads = [str(number).encode() for number in range(200)]

    with ThreadPoolExecutor(8) as threads:
        offsets = list(threads.map(file.append, payloads))
    file.close()

    assert [read_frame(path, offset) for offset in offsets] == payloads
    assert len(list(read_frames(path))) == 200


def test_what_the_disk_refuses_is_said_and_may_be_repeated(tmp_path, monkeypatch):
    file = SharedAppender(tmp_path / "file")
    append = FrameWriter.append

    def refuse(self, payloads):
        raise OSError(28, "no space")

    monkeypatch.setattr(FrameWriter, "append", refuse)
    with pytest.raises(StorageWriteError, match="no space") as caught:
        file.append(b"one")
    assert caught.value.errno == 28

    monkeypatch.setattr(FrameWriter, "append", append)
    offset = file.append(b"one")
    file.close()
    assert read_frame(tmp_path / "file", offset) == b"one"
