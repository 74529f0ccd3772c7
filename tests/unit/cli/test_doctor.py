"""What the doctor finds out, on made-up machines and this one."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from tests.deadline import HANG_SECONDS

from wayfare.cli import doctor_device, doctor_machine
from wayfare.cli.doctor_finding import Finding
from wayfare.cli.doctor_python import check_pythons
from wayfare.cli.doctor_view import render_findings
from wayfare.cli.doctor_workspace import check_data
from wayfare.fleet.interpreter import InterpreterSearch


def write_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def write_cgroup(tmp_path, **files):
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), "/")
    folder = tmp_path / own.strip("/")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return tmp_path


def test_a_control_groups_share_of_processors_is_told_with_the_workers_that_fit(tmp_path):
    found = doctor_machine.check_processors(write_cgroup(tmp_path, cpu_max="50000 100000\n"))
    assert (found.state, found.remedy) == ("warning", "--workers 1")
    assert "allows 0.5" in found.detail
    assert (
        doctor_machine.check_processors(write_cgroup(tmp_path, cpu_max="max 100000")).state == "ok"
    )


def test_a_control_groups_memory_limit_is_told(tmp_path):
    found = doctor_machine.check_memory(write_cgroup(tmp_path, memory_max=str(2**30)))
    assert found.state == "warning"
    assert "allows 1.0 GiB" in found.detail


def test_few_open_files_are_told_with_the_command_that_raises_the_limit(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4096))
    found = doctor_machine.check_open_files()
    assert (found.state, found.remedy) == ("warning", "ulimit -n 576")
    assert "about 24 workers" in found.detail


def test_no_memory_files_are_a_warning_not_a_failure(monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "memfd_create", refuse)
    assert doctor_machine.check_shared_memory().state == "warning"


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write anywhere")
def test_a_folder_of_runs_that_can_not_be_written_is_missing(tmp_path):
    tmp_path.chmod(0o500)
    assert doctor_machine.check_runs(tmp_path / "runs").state == "missing"


def test_a_folder_of_runs_need_not_be_there_yet(tmp_path, monkeypatch):
    room = SimpleNamespace(free=2**40)
    monkeypatch.setattr(doctor_machine.shutil, "disk_usage", lambda _: room)
    found = doctor_machine.check_runs(tmp_path / "a" / "b")
    assert found.state == "ok"
    assert not (tmp_path / "a").exists()


def test_data_that_is_named_but_not_there_is_missing(tmp_path):
    assert check_data({}).state == "warning"
    assert check_data({"WAYFARE_DATA": str(tmp_path / "x")}).state == "missing"
    assert check_data({"WAYFARE_DATA": "x" * 300}).state == "missing"
    (tmp_path / "r2r").mkdir()
    assert "r2r" in check_data({"WAYFARE_DATA": str(tmp_path)}).detail


async def test_gpus_are_listed_and_a_driver_that_fails_is_quoted(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor_device, "DEVICE_SECONDS", HANG_SECONDS)
    program = write_program(tmp_path / "nvidia-smi", "echo '0, H200, 143771, 100000, 570.1'")
    (found,) = await doctor_device.check_gpus({"PATH": str(tmp_path)})
    assert found.detail == "H200, 100000 of 143771 MiB free, driver 570.1"
    write_program(program, "echo no driver is loaded; exit 9")
    (found,) = await doctor_device.check_gpus({"PATH": str(tmp_path)})
    assert found.state == "warning"
    assert "status 9: no driver is loaded" in found.detail


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("print('\"no libEGL\"')", "no libEGL"),
        ("import os; os.abort()", "status -6"),
        ("import time; time.sleep(3600)", "did not answer within 1 s"),
    ],
)
async def test_drivers_that_are_missing_crash_or_hang_are_told(
    tmp_path, monkeypatch, script, words
):
    (tmp_path / "egl.py").write_text(script)
    monkeypatch.setattr(doctor_device, "EGL_SCRIPT", tmp_path / "egl.py")
    monkeypatch.setattr(doctor_device, "DEVICE_SECONDS", 1.0 if "sleep" in script else HANG_SECONDS)
    (found,) = await doctor_device.check_egl({})
    assert found.state == "warning"
    assert words in found.detail


async def test_interpreters_are_listed_with_what_they_lack(tmp_path):
    answer = '{"version": "3.8.18", "missing": ["xxhash"]}'
    write_program(tmp_path / "named" / "bin" / "python3.8", f"echo '{answer}'")
    write_program(tmp_path / "shims" / "python3.9", "echo no such version; exit 127")
    write_program(tmp_path / "path" / "python3.10", 'echo \'{"version": "3.10.1", "missing": []}\'')
    search = InterpreterSearch(
        pythons=f"{tmp_path / 'named'}:{tmp_path / 'nothing'}",
        path=f"{tmp_path / 'shims'}:{tmp_path / 'path'}",
    )
    found = {finding.name: finding for finding in await check_pythons(search)}
    assert "without xxhash" in found["3.8.18"].detail
    assert found["3.8.18"].remedy.endswith("python3.8 -m pip install xxhash")
    assert found["3.10.1"].state == "ok"
    assert found[str(tmp_path / "nothing")].state == "missing"
    assert "uv" in found
    assert not any("3.9" in name for name in found)


def test_the_report_shows_each_remedy_and_a_sum():
    findings = [
        Finding("python", "3.8", "ok", "/usr/bin/python3.8"),
        Finding("machine", "sockets", "missing", "none", "export TMPDIR=/tmp"),
    ]
    console = Console(width=200, record=True)
    console.print(render_findings(findings))
    text = console.export_text()
    assert "-> export TMPDIR=/tmp" in text
    assert "1 missing, 0 to know about." in text
