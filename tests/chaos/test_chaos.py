"""A short dose of blows; `scripts/chaos` gives the long one."""

from __future__ import annotations

import pytest
from tests.chaos.campaign import Campaign
from tests.chaos.soak import soak


@pytest.mark.timeout(1200)
def test_killed_runs_lose_nothing_and_count_nothing_twice(tmp_path):
    tally = Campaign(tmp_path, seed=5, sizes=[40]).go(kills=8)
    print(tally.describe())
    assert tally.failures == []
    assert (tally.lost, tally.twice, tally.equal) == (0, 0, tally.runs)
    assert tally.kills >= 8


@pytest.mark.timeout(1200)
def test_a_run_with_faults_comes_to_the_same_as_one_without(tmp_path):
    report = soak(tmp_path, 300, fault_rate=0.05)
    print(report.describe())
    assert report.failures == []
    assert report.faulty.summary.episodes.attempts > 300
