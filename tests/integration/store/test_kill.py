"""Runs on disk under real processes: killed at any instant, out of room, two at once."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.store.errors import RunLockedError
from wayfare.store.run import RunReader
from wayfare.store.writer import RunWriter

WRITER = Path(__file__).with_name("writer.py")
UNLIMITED = str(1 << 40)


def start(root, folder="-", room=UNLIMITED):
    return subprocess.Popen(
        [sys.executable, str(WRITER), str(root), str(folder), room],
        stdout=subprocess.PIPE,
        text=True,
    )


def check_committed(folder, root, announced):
    """Assert that all announced episodes are there, whole, and return how many are."""
    reader = RunReader.open(folder, root)
    found = {record.index: firings for record, firings in reader.all_firings()}
    assert set(found) >= announced
    assert all(
        [firing.digest for firing in firings] == [number.to_bytes(16)] * 20
        for number, firings in found.items()
    )
    return len(found)


def test_what_was_committed_survives_kills_at_any_instant(tmp_path):
    rng = random.Random(20)
    folder, announced, counts = "-", set(), []
    for _ in range(8):
        with start(tmp_path, folder) as writer:
            folder = writer.stdout.readline().strip()
            for _ in range(rng.randrange(1, 300)):
                announced.add(int(writer.stdout.readline()))
            writer.kill()
            announced |= {int(line) for line in writer.stdout if line.endswith("\n")}
        counts.append(check_committed(folder, tmp_path, announced))
    assert counts == sorted(counts)
    assert len(announced) <= counts[-1] <= len(announced) + 8


def test_a_disk_without_room_loses_nothing_that_was_committed(tmp_path):
    with start(tmp_path, room="60000") as writer:
        output, _ = writer.communicate(timeout=HANG_SECONDS)
    folder, *numbers, message = output.splitlines()
    assert "can't be written" in message
    assert check_committed(folder, tmp_path, set(map(int, numbers))) == len(numbers)
    with start(tmp_path, folder) as writer:
        writer.stdout.readline()
        assert int(writer.stdout.readline()) == len(numbers)
        writer.kill()


def test_twenty_processes_that_begin_a_run_at_once_get_twenty_folders(tmp_path):
    writers = [start(tmp_path) for _ in range(20)]
    folders = {writer.stdout.readline().strip() for writer in writers}
    for writer in writers:
        writer.kill()
        writer.communicate(timeout=HANG_SECONDS)
    assert len(folders) == len(list(tmp_path.iterdir())) == 20


def test_another_process_is_refused_while_a_run_is_written(tmp_path):
    with start(tmp_path) as writer:
        folder = Path(writer.stdout.readline().strip())
        assert RunReader.open(folder, tmp_path).is_running
        with pytest.raises(RunLockedError, match=f"pid {writer.pid}"):
            RunWriter.reopen(folder)
        writer.kill()
    RunWriter.reopen(folder).close()
