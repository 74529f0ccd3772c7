"""Who waits for the disk at the same time waits once."""

import asyncio
import threading
from concurrent.futures import Future

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.evals.commit import Committer


class Disk:
    """A writer whose first commit waits until it is let go."""

    def __init__(self, error=None):
        self.error = error
        self.waiting, self.batches = [], []
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()

    def submit(self, record, firings):
        self.waiting.append((record, Future()))
        return self.waiting[-1][1]

    def commit(self):
        batch, self.waiting = self.waiting, []
        self.has_begun.set()
        assert self.may_go_on.wait(HANG_SECONDS)
        self.batches.append([record for record, _ in batch])
        for _, written in batch:
            written.set_exception(self.error) if self.error else written.set_result(None)


async def test_those_who_come_during_a_commit_share_the_next():
    disk = Disk()
    committer = Committer(disk)
    first = asyncio.create_task(committer.commit("a", []))
    await asyncio.to_thread(disk.has_begun.wait, HANG_SECONDS)
    others = [asyncio.create_task(committer.commit(name, [])) for name in "bcd"]
    await asyncio.sleep(0)
    disk.may_go_on.set()
    await asyncio.wait_for(asyncio.gather(first, *others), HANG_SECONDS)
    assert disk.batches == [["a"], ["b", "c", "d"]]


async def test_refusal_of_the_disk_reaches_who_waits():
    disk = Disk(error=OSError(28, "No space left on device"))
    disk.may_go_on.set()
    with pytest.raises(OSError, match="No space left"):
        await Committer(disk).commit("a", [])
