"""Memory that processes hold for themselves counts; mapped files and shared memory don't."""

import mmap
import os
import subprocess
import sys

from tests.deadline import HANG_SECONDS

from wayfare.fleet.memory import list_children, list_tree, measure_tree

SIZE = 64 * 2**20


def test_held_memory_counts():
    before = measure_tree([os.getpid()])
    held = bytearray(b"x") * SIZE
    assert measure_tree([os.getpid()]) - before > 0.9 * len(held)


def test_mapped_files_do_not_count(tmp_path):
    path = tmp_path / "frames"
    path.write_bytes(bytes(SIZE))
    before = measure_tree([os.getpid()])
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:] = b"x" * SIZE
        assert measure_tree([os.getpid()]) - before < 1.5 * SIZE
        del file
    with mmap.mmap(-1, SIZE) as shared:
        before = measure_tree([os.getpid()])
        shared.write(b"y")
        for start in range(0, SIZE, mmap.PAGESIZE):
            shared[start] = 1
        assert measure_tree([os.getpid()]) - before < 0.1 * SIZE


def test_what_a_process_started_is_found_and_counts():
    code = f"held = bytearray(b'x') * {SIZE}; print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert child.pid in list_children(os.getpid())
        assert child.pid in list(list_tree([os.getpid()]))
        assert measure_tree([child.pid]) > 0.9 * SIZE
        child.communicate(b"\n", timeout=HANG_SECONDS)


def test_a_process_that_is_gone_holds_nothing():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(HANG_SECONDS)
    assert measure_tree([child.pid]) == 0
