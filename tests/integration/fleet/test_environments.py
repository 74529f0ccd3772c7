"""Environments of script headers: built once, whole or not at all, and usable ever after."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS, wait_until
from uv import find_uv_bin

BUILDER = Path(__file__).with_name("builder.py")
HEADER = "# /// script\n# requires-python = '>=3.8'\n# dependencies = [{}]\n{}# ///\n"
NO_INDEX = "# [tool.uv]\n# no-index = true\n"


class Workshop:
    """A cache, a nodeset's file, and a uv that notes what it is asked and can be held up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.file = folder / "sim.py"
        self.uv = folder / "uv"
        self.asked = folder / "asked"
        self.pids = folder / "pids"
        self.started: list[subprocess.Popen[str]] = []
        self.hold = folder / "hold"
        self.write()
        self.write_uv()

    def write(self, dependencies: str = "", settings: str = "") -> None:
        self.file.write_text(HEADER.format(dependencies, settings))

    def write_uv(self) -> None:
        """Write a uv that does not install while there is the file `hold`."""
        wait = f'while [ "$2" = install ] && [ -e {self.hold} ]; do sleep 0.05; done'
        note = f'echo $$ >> {self.pids}\necho "$1 $2" >> {self.asked}'
        text = f'#!/bin/sh\n{note}\n{wait}\nexec {find_uv_bin()} "$@"\n'
        self.uv.write_text(text)
        self.uv.chmod(0o755)

    def start(self, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(BUILDER), str(self.cache), str(self.uv), str(self.file)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **variables},
        )
        self.started.append(process)
        return process

    def build(self, **variables: str) -> tuple[str, str]:
        """Return the interpreter's path, or "", and what was said."""
        out, err = self.start(**variables).communicate(timeout=HANG_SECONDS)
        return out.strip(), err

    def expect_built(self, **variables: str) -> Path:
        path, said = self.build(**variables)
        skip_without_network(said)
        assert path, said
        return Path(path)

    def count(self, step: str) -> int:
        return self.asked.read_text().splitlines().count(step) if self.asked.exists() else 0

    def start_and_hold(self) -> subprocess.Popen[str]:
        """Start to build, and return when uv is about to install, which it does not yet."""
        self.hold.touch()
        process = self.start()
        wait_until(lambda: self.count("pip install") or process.poll() is not None)
        if process.poll() is not None:
            skip_without_network(process.communicate()[1])
        assert process.poll() is None
        return process

    def close(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.end_uv()

    def end_uv(self) -> None:
        """End what was asked of uv, though who asked has ended."""
        for pid in self.pids.read_text().split() if self.pids.exists() else ():
            with contextlib.suppress(ProcessLookupError):  # each is the leader of a group
                os.killpg(int(pid), signal.SIGKILL)


@pytest.fixture
def workshop(tmp_path):
    """Give a workshop."""
    found = Workshop(tmp_path)
    yield found
    found.close()


def skip_without_network(said: str) -> None:
    if "without a network" in said:
        pytest.skip("the packages of an environment can't be had without a network")


def imports(python: Path, *names: str) -> bool:
    command = [str(python), "-I", "-c", f"import {', '.join(names)}"]
    return subprocess.run(command, capture_output=True, timeout=HANG_SECONDS).returncode == 0


def test_an_environment_has_what_the_header_and_nodeset_need_and_a_lock_with_hashes(workshop):
    workshop.write('"six"')
    python = workshop.expect_built()
    assert imports(python, "six", "numpy", "msgpack", "xxhash")
    lock = (python.parent.parent / "wayfare-lock.txt").read_text()
    assert "six==" in lock
    assert "--hash=sha256:" in lock
    assert "://" not in lock
    assert "nodeset==" not in lock


def test_progress_is_told_while_it_is_built(workshop):
    workshop.expect_built()
    said = workshop.build()[1]
    assert said == ""
    workshop.write('"six"')
    said = workshop.build()[1]
    for words in ("building for Python 3.", "Resolved ", "Installed ", "built in "):
        assert words in said


def test_what_was_built_is_used_without_asking_uv_or_the_network(workshop, tmp_path):
    first = workshop.expect_built()
    before = workshop.asked.read_text()
    variables = {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path / "empty")}
    assert workshop.expect_built(**variables) == first
    assert workshop.asked.read_text() == before


def test_a_changed_header_is_another_environment_and_the_old_one_stays(workshop):
    first = workshop.expect_built()
    workshop.write('"six"')
    second = workshop.expect_built()
    assert first != second
    assert imports(first, "numpy")
    assert not imports(first, "six")


def test_without_a_network_the_package_is_named_with_the_command_for_later(workshop, tmp_path):
    workshop.write('"six"')
    path, said = workshop.build(UV_OFFLINE="1", UV_CACHE_DIR=str(tmp_path / "empty"))
    assert path == ""
    assert "package 'six' can't be had without a network" in said
    assert "wayfare nodesets --build sim" in said


def test_a_package_that_is_nowhere_is_named(workshop):
    workshop.write('"absent-package"', NO_INDEX)
    path, said = workshop.build()
    assert path == ""
    assert f"{workshop.file}:1: nodeset 'sim' needs an environment" in said
    assert "package 'absent-package' can't be had for Python" in said


def test_one_whose_making_was_killed_is_made_again_and_leaves_nothing(workshop):
    process = workshop.start_and_hold()
    process.send_signal(signal.SIGKILL)
    process.wait(HANG_SECONDS)
    environments = workshop.cache / "environments"
    assert [path.name[0] for path in environments.iterdir()] == ["."]
    workshop.end_uv()
    workshop.hold.unlink()
    python = workshop.expect_built()
    assert imports(python, "numpy")
    assert [path.name for path in environments.iterdir()] == [python.parent.parent.name]


def test_two_processes_that_need_it_at_once_make_it_once(workshop):
    first, second = workshop.start_and_hold(), workshop.start()
    assert second.stderr is not None
    said = second.stderr.readline()
    workshop.hold.unlink()
    found = [process.communicate(timeout=HANG_SECONDS)[0] for process in (first, second)]
    assert "another process builds it; waiting" in said
    assert found[0] == found[1] != ""
    assert (workshop.count("pip compile"), workshop.count("pip install")) == (1, 1)


def test_one_whose_interpreter_is_gone_is_made_again(workshop):
    python = workshop.expect_built()
    python.unlink()
    python.symlink_to("/nowhere/python")
    assert workshop.expect_built() == python
    assert imports(python, "numpy")


def test_a_cache_that_can_not_be_written_is_named(workshop):
    workshop.cache.write_text("a file")
    path, said = workshop.build()
    assert path == ""
    assert f"can't be kept in {workshop.cache}" in said
    assert "WAYFARE_CACHE" in said
