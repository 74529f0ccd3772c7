"""Find out what this machine gives a run: processors, memory, files, folders, sockets.

Knows nothing of nodesets, interpreters or devices.
"""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from nodeset.arena import SEALS
from wayfare.cli.doctor_finding import Finding, State
from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.runtime_folder import make_runtime_folder

AREA = "machine"
FILES_OF_A_RUN = 64
FILES_OF_A_WORKER = 8
"""Sockets to its copies, and what a graph of a few nodesets opens besides."""
WANTED_WORKERS = 64
LOW_DISK_BYTES = 5 * 2**30
NO_DISK_BYTES = 100 * 2**20
LOW_MEMORY_BYTES = 2 * 2**30
_CGROUPS = Path("/sys/fs/cgroup")


def check_machine(environment: Mapping[str, str], runs: Path) -> Iterator[Finding]:
    """Yield a line for each thing that this machine gives."""
    yield check_processors()
    yield check_memory()
    yield check_open_files()
    yield check_shared_memory()
    yield check_sockets(environment)
    yield check_runs(runs)


def check_processors(cgroups: Path = _CGROUPS) -> Finding:
    """Return how many processors a run may use."""
    count = len(os.sched_getaffinity(0))
    quota = _read_quota(cgroups)
    if quota is None or quota >= count:
        return Finding(AREA, "processors", "ok", f"{count}")
    detail = f"{count}, of which a control group allows {quota:g}"
    return Finding(AREA, "processors", "warning", detail, f"--workers {max(1, int(quota))}")


def check_memory(cgroups: Path = _CGROUPS) -> Finding:
    """Return how much memory is left, and the limit of the control group."""
    free = _read_meminfo("MemAvailable")
    limit = min(_read_limits(cgroups, "memory.max"), default=None)
    detail = f"{_gib(free)} free of {_gib(_read_meminfo('MemTotal'))}"
    if limit is not None:
        detail += f"; a control group allows {_gib(limit)}"
        free = min(free, limit)
    if free < LOW_MEMORY_BYTES:
        return Finding(AREA, "memory", "warning", detail, "fewer --workers, or a memory_limit")
    return Finding(AREA, "memory", "ok", detail)


def check_open_files() -> Finding:
    """Return for how many workers the limit of open files is enough."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return Finding(AREA, "open files", "ok", "unlimited")
    workers = max(0, (soft - FILES_OF_A_RUN) // FILES_OF_A_WORKER)
    detail = f"{soft}: enough for about {workers} workers"
    if workers >= WANTED_WORKERS:
        return Finding(AREA, "open files", "ok", detail)
    wanted = FILES_OF_A_RUN + WANTED_WORKERS * FILES_OF_A_WORKER
    can_raise = hard == resource.RLIM_INFINITY or hard > soft
    most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    remedy = f"ulimit -n {most}" if can_raise else "ask whoever runs the machine for more"
    return Finding(AREA, "open files", "warning", detail, remedy)


def check_shared_memory() -> Finding:
    """Return whether arrays can cross through memory that both ends map."""
    try:
        descriptor = os.memfd_create("wayfare", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError as error:
        return _no_memory(error)
    try:
        os.ftruncate(descriptor, 4096)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)
    except OSError as error:
        return _no_memory(error)
    finally:
        os.close(descriptor)
    return Finding(AREA, "shared memory", "ok", "sealed memory files work")


def _no_memory(error: OSError) -> Finding:
    detail = f"no sealed memory files ({error.strerror}): arrays are copied through sockets instead"
    return Finding(AREA, "shared memory", "warning", detail, "allow memfd_create in the sandbox")


def check_sockets(environment: Mapping[str, str]) -> Finding:
    """Return where the sockets of a run would stand."""
    try:
        folder = make_runtime_folder(environment)
    except FleetSetupError as error:
        return Finding(AREA, "sockets", "missing", str(error), "export TMPDIR=/tmp")
    shutil.rmtree(folder, ignore_errors=True)
    return Finding(AREA, "sockets", "ok", f"private folders in {folder.parent}")


def check_runs(runs: Path) -> Finding:
    """Return whether runs can be written, and how much room there is."""
    folder = next(
        path for path in (runs.absolute(), *runs.absolute().parents) if os.path.lexists(path)
    )
    remedy = "export WAYFARE_RUNS=FOLDER"
    try:
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except OSError as error:
        reason = f"{runs.absolute()} can't be written: {error.strerror}"
        return Finding(AREA, "runs", "missing", reason, remedy)
    state: State = "ok"
    if free < LOW_DISK_BYTES:
        state = "warning" if free >= NO_DISK_BYTES else "missing"
    return Finding(
        AREA,
        "runs",
        state,
        f"{runs.absolute()}: {_gib(free)} free",
        "" if state == "ok" else remedy,
    )


def _read_quota(cgroups: Path) -> float | None:
    """Return how many processors' time the control groups allow; None: all."""
    quotas = []
    for text in _read_files(cgroups, "cpu.max"):
        quota, _, period = text.partition(" ")
        if quota.isdigit() and period.isdigit():
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def _read_limits(cgroups: Path, name: str) -> list[int]:
    return [int(text) for text in _read_files(cgroups, name) if text.isdigit()]


def _read_files(cgroups: Path, name: str) -> Iterator[str]:
    """Yield what a file says in the control group of this process and in all above it."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    own = next((line[3:] for line in lines if line.startswith("0::")), "/")
    folder = cgroups / own.strip("/")
    for place in (folder, *folder.parents):
        if place == cgroups.parent:
            return
        try:
            yield (place / name).read_text().strip()
        except OSError:
            continue


def _read_meminfo(name: str) -> int:
    """Return a line of the kernel's account of memory, in bytes."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024
    return 0


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
