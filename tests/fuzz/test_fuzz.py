"""A short dose of each kind of fuzzing; `scripts/fuzz` gives the long one."""

from __future__ import annotations

from tests.fuzz.documents import fuzz_documents
from tests.fuzz.folders import fuzz_folders
from tests.fuzz.frames import fuzz_frames
from tests.fuzz.live import fuzz_live


def test_fuzzed_frames_are_refused_by_a_rule_or_taken():
    tally = fuzz_frames(seed=1, count=5_000)
    assert tally.failures == []
    assert len(tally.outcomes) > 10


def test_fuzzed_documents_are_refused_by_a_rule_or_compile():
    tally = fuzz_documents(seed=1, count=500)
    assert tally.failures == []
    assert len(tally.outcomes) > 10


def test_damaged_run_folders_are_refused_by_a_rule_or_hold_what_was_written():
    tally = fuzz_folders(seed=1, count=300)
    assert tally.failures == []
    assert len(tally.outcomes) > 8


def test_a_live_copy_outlives_what_is_done_to_it_and_serves_meanwhile():
    tally = fuzz_live(seed=1, count=2_000)
    assert tally.failures == []
    assert tally.outcomes["served meanwhile"] >= 2
