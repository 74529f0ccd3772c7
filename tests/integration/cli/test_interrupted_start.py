"""A signal while the command itself is starting ends it with a line, not a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from tests.deadline import HANG_SECONDS

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGUSR2]
WHILE_LOADING = """
import os, signal, sys
from wayfare.cli import main

class Loading:
    def find_spec(self, name, *_):
        if name == "wayfare.cli.app":
            os.kill(os.getpid(), {number})
            for _ in range(1000):
                pass  # the handler runs between two instructions

sys.meta_path.insert(0, Loading())
sys.argv = ["wayfare", "--help"]
main()
"""
BEFORE_THE_RUN = """
import os, sys
from wayfare.cli import main, settings

def read(*given):
    os.kill(os.getpid(), {number})
    for _ in range(1000):
        pass

settings.Settings.read = read
sys.argv = ["wayfare", "eval", "line"]
main()
"""
IN_THE_EVENT_LOOP = """
import asyncio, os, sys
from wayfare.cli import look, main

async def describe(*given):
    try:
        os.kill(os.getpid(), {number})
        await asyncio.sleep(60)
    finally:
        print("in order", flush=True)

look._describe = describe
sys.argv = ["wayfare", "describe", "policy_planner"]
main()
"""
NEW_MODULES = """
import sys
before = set(sys.modules)
import wayfare.cli
print(*sorted(set(sys.modules) - before))
"""


def run(
    program: str, number: signal.Signals = signal.SIGINT, *, is_deaf: bool = False
) -> subprocess.CompletedProcess[str]:
    handler = signal.SIG_IGN if is_deaf else signal.SIG_DFL
    return subprocess.run(
        [sys.executable, "-c", program.format(number=int(number))],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        preexec_fn=lambda: signal.signal(number, handler),
    )


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("program", [WHILE_LOADING, BEFORE_THE_RUN])
def test_a_signal_before_the_run_begins_is_one_line(program: str, number: signal.Signals) -> None:
    done = run(program, number)
    told = (done.returncode, done.stdout, done.stderr)
    assert told == (128 + number, "", "wayfare: interrupted.\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_lets_a_command_that_is_no_run_end_in_order(number: signal.Signals) -> None:
    done = run(IN_THE_EVENT_LOOP, number)
    told = (done.returncode, done.stdout, done.stderr)
    assert told == (128 + number, "in order\n", "wayfare: interrupted.\n")


@pytest.mark.parametrize("number", SIGNALS)
def test_process_that_was_started_deaf_stays_so(number: signal.Signals) -> None:
    done = run(WHILE_LOADING, number, is_deaf=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage" in done.stdout


def test_nothing_else_is_loaded_before_an_interrupt_is_heard() -> None:
    assert run(NEW_MODULES).stdout.split() == ["wayfare", "wayfare.cli"]
