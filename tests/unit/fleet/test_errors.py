"""How a copy ended is told by its host's own word where it gave one."""

from __future__ import annotations

import signal

import pytest

from nodeset.host import ExitStatus
from wayfare.fleet.errors import CopyDeath

TAIL = "loading weights\nnodeset host: importing x.py raised ImportError: no torch\nTraceback …"


def test_a_refused_class_is_told_in_the_hosts_words_alone() -> None:
    death = CopyDeath("x", 7, ExitStatus.CONTRACT_REFUSED, TAIL)
    assert death.refusal == "importing x.py raised ImportError: no torch\nTraceback …"


def test_a_failed_import_is_told_first_and_then_what_was_printed_before() -> None:
    said, _, printed = CopyDeath("x", 7, ExitStatus.IMPORT_FAILED, TAIL).refusal.rpartition("It ")
    assert said == "importing x.py raised ImportError: no torch\nTraceback …\n"
    assert printed == "had printed:\n    loading weights"


@pytest.mark.parametrize("status", [-9, 1, ExitStatus.SERVER_FAILED])
def test_any_other_end_is_told_with_all_that_was_printed(status: int) -> None:
    death = CopyDeath("x", 7, status, TAIL)
    assert death.refusal == ""
    assert "loading weights" in death.describe()


def test_an_end_by_sigbus_is_told_with_what_is_behind_it() -> None:
    told = CopyDeath("x", 7, -signal.SIGBUS, "").describe()
    assert "SIGBUS, as when a memory-mapped file was cut short while it was read." in told
