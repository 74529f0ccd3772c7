"""An interrupt while the command itself is starting ends it with a line, not a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

INTERRUPT_WHILE_LOADING = """
import os, signal, sys
from wayfare.cli import main

class Loading:
    def find_spec(self, name, *_):
        if name == "wayfare.cli.app":
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass  # the handler runs between two instructions

sys.meta_path.insert(0, Loading())
sys.argv = ["wayfare", "--help"]
main()
"""
NEW_MODULES = """
import sys
before = set(sys.modules)
import wayfare.cli
print(*sorted(set(sys.modules) - before))
"""


def run(program: str, *, is_deaf: bool = False) -> subprocess.CompletedProcess[str]:
    handler = signal.SIG_IGN if is_deaf else signal.SIG_DFL
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
    )


def test_interrupt_while_the_command_loads_is_one_line() -> None:
    done = run(INTERRUPT_WHILE_LOADING)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "wayfare: interrupted.\n")


def test_process_that_was_started_deaf_stays_so() -> None:
    done = run(INTERRUPT_WHILE_LOADING, is_deaf=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage" in done.stdout


def test_nothing_else_is_loaded_before_an_interrupt_is_heard() -> None:
    assert run(NEW_MODULES).stdout.split() == ["wayfare", "wayfare.cli"]
