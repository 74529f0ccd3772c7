"""Give tests the data folder and interpreters of other versions, or skip with what is missing.

Knows nothing of what the tests are about.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.deadline import HANG_SECONDS

ROOT = Path(__file__).resolve().parent.parent
FOREIGN_PACKAGES = ("numpy", "msgpack", "xxhash", "hypothesis", "pytest", "pytest-timeout")
INSTALL_SECONDS = 600
SHELL_SETTINGS = (
    *("COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "LINES", "NO_COLOR", "PY_COLORS"),
    *("TERMINAL_WIDTH", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "WAYFARE_RUNS", "WAYFARE_WORKSPACE"),
)
"""What a shell or a CI service may have set that shows in what commands print or find."""


def pytest_configure() -> None:
    """Let no test hang on whose shell it runs in, or on how fast the machine is."""
    for name in SHELL_SETTINGS:
        os.environ.pop(name, None)
    os.environ["TERM"] = "xterm"
    os.umask(0o022)
    slow = [HealthCheck.too_slow]
    settings.register_profile("tests", deadline=None, suppress_health_check=slow)
    settings.load_profile("tests")


def pytest_runtest_setup() -> None:
    """Let what a test starts hear interrupts: shells have background jobs ignore them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """Give the checkout's folder."""
    return ROOT


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Give the folder of published research data: `WAYFARE_DATA`, else `../shared/data`."""
    named = os.environ.get("WAYFARE_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}: set WAYFARE_DATA to one")
    return folder


@pytest.fixture(scope="session")
def data_file(data_folder: Path) -> Callable[[str], Path]:
    """Give a function from a path inside the data folder to that file; without it, it skips."""

    def find(relative: str) -> Path:
        path = data_folder / relative
        if not path.exists():
            pytest.skip(f"no {path}: WAYFARE_DATA names a folder without {relative}")
        return path

    return find


@pytest.fixture(scope="session")
def foreign_python(pytestconfig: pytest.Config) -> Callable[[str], Path]:
    """Give a function from a version to an interpreter that has what a nodeset's tests need.

    Its environments are kept in pytest's cache folder, so a second run finds them made. It skips,
    with the reason and the command that helps, where there is no such interpreter.
    """
    cache = pytestconfig.cache.mkdir("interpreters")

    def find(version: str) -> Path:
        base = find_interpreter(version)
        if base is None:
            pytest.skip(
                f"no Python {version}: name its bin folder in WAYFARE_PYTHONS, "
                f"or run `uv python install {version}`"
            )
        return make_environment(base, cache)

    return find


def find_interpreter(version: str) -> Path | None:
    """Look for a version in WAYFARE_PYTHONS, then PATH, then uv's own."""
    named = [folder for folder in os.environ.get("WAYFARE_PYTHONS", "").split(os.pathsep) if folder]
    for folder in (*named, None):
        found = shutil.which(f"python{version}", path=folder)
        if found and runs(Path(found), version):
            return Path(found)
    uv = find_uv()
    if uv is None:
        return None
    command = [uv, "python", "find", "--managed-python", "--no-python-downloads", version]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)
    return Path(answer.stdout.strip()) if answer.returncode == 0 else None


def runs(python: Path, version: str) -> bool:
    """Tell whether a candidate starts and is what its name says; a shim may not."""
    command = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)
    return answer.returncode == 0 and answer.stdout.strip() == version


def find_uv() -> str | None:
    """Prefer the environment's own uv."""
    return shutil.which("uv", path=ROOT / ".venv" / "bin") or shutil.which("uv")


def make_environment(base: Path, cache: Path) -> Path:
    """Make an environment of one interpreter, once, and give its Python."""
    key = sha256(repr((str(base.resolve()), FOREIGN_PACKAGES)).encode()).hexdigest()[:16]
    folder = cache / key
    python = folder / "bin" / "python"
    if (folder / "complete").exists() and python.exists():
        return python
    uv = find_uv()
    if uv is None:
        pytest.skip("no uv to make an environment with: run scripts/setup")
    with (cache / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if not (folder / "complete").exists():
            install(uv, "venv", "--clear", "--python", str(base), str(folder))
            install(uv, "pip", "install", "--python", str(python), *FOREIGN_PACKAGES)
            (folder / "complete").touch()
    return python


def install(*command: str) -> None:
    """Run one uv command; skip with what it said where the packages cannot be had."""
    answer = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    if answer.returncode != 0:
        pytest.skip(f"`{' '.join(command)}` failed: {answer.stderr.strip()[-500:]}")
