"""A full disk is waited for, other refusals are not, and the wait can be given up."""

import errno
import threading
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.store.errors import NoRoomError, StorageWriteError
from wayfare.store.frames import FrameWriter, read_frames
from wayfare.store.room import Room

PATH = Path("episodes.frames")


class Disk:
    """A disk that refuses so many writes before it takes one."""

    def __init__(self, refusals, code=errno.ENOSPC):
        self.refusals = refusals
        self.code = code

    def write(self):
        if self.refusals:
            self.refusals -= 1
            raise OSError(self.code, "refused")
        return "written"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_waited_for_and_both_ends_of_the_wait_are_told(code):
    told = []
    room = Room(told.append, look_seconds=0.001)
    assert room.keep_trying(Disk(3, code).write, PATH) == "written"
    assert [line.split(":")[0] for line in told] == [
        "the disk is full",
        "there is room on the disk again; the run goes on.",
    ]
    assert "episodes.frames" in told[0]


def test_another_refusal_is_raised_at_once():
    told = []
    with pytest.raises(OSError, match="refused"):
        Room(told.append).keep_trying(Disk(1, errno.EIO).write, PATH)
    assert told == []


def test_refusals_of_the_store_are_waited_for_too():
    def write():
        if disk.refusals:
            disk.refusals -= 1
            raise StorageWriteError("summary.json can't be written.", errno.ENOSPC)
        return "written"

    disk = Disk(2)
    assert Room(lambda _: None, look_seconds=0.001).keep_trying(write, PATH) == "written"


def test_giving_up_ends_every_wait_and_says_which_file():
    full = threading.Event()
    room = Room(lambda _: full.set())
    refused = []

    def wait():
        with pytest.raises(NoRoomError, match=r"episodes\.frames can't be written") as caught:
            room.keep_trying(Disk(10**9).write, PATH)
        refused.append(caught.value.errno)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert full.wait(HANG_SECONDS)
    room.give_up()
    for thread in threads:
        thread.join(HANG_SECONDS)
    assert refused == [errno.ENOSPC] * 3


def test_several_that_wait_tell_it_once():
    told = []
    all_wait = threading.Barrier(3)
    room = Room(told.append, look_seconds=0.001)

    def wait():
        refusals = [OSError(errno.ENOSPC, "refused")]

        def write():
            if refusals:
                raise refusals.pop()
            all_wait.wait(HANG_SECONDS)  # there is room for nobody before all were refused

        room.keep_trying(write, PATH)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_SECONDS)
    assert [line.split(":")[0] for line in told] == [
        "the disk is full",
        "there is room on the disk again; the run goes on.",
    ]


def test_a_file_that_waited_has_whole_records_only(tmp_path, monkeypatch):
    refusals = [OSError(errno.ENOSPC, "No space left on device")] * 2

    def sync(descriptor):
        if refusals:
            raise refusals.pop()

    monkeypatch.setattr("os.fdatasync", sync)
    room = Room(lambda _: None, look_seconds=0.001)
    file = FrameWriter.open(tmp_path / "x.frames", room=room)
    file.append([b"one", b"two"])
    file.close()
    assert [payload for _, payload in read_frames(tmp_path / "x.frames")] == [b"one", b"two"]
