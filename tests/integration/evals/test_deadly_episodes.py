"""Episodes that kill copies, however many there are, end alike with any number of workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import wayfare
from wayfare.evals.run import Run

WORKSPACE = Path(__file__).parents[2] / "workspace"
EPISODES = 8
WORKERS = (1, 2, 8)
ALL = tuple(range(EPISODES))
IN_A_ROW = ALL[:5]
"""With three attempts each they make fifteen deaths in a row where one worker runs them."""
pytestmark = pytest.mark.timeout(240)
Evaluate = Callable[..., list[Run]]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """Give a function that evaluates the faulty graph; a nodeset leaves at one step of episodes."""

    def run(nodeset: str, deadly: Sequence[int], **options: Any) -> list[Run]:
        fault = {"fault": "leave", "at_episode": list(deadly), "at_step": 2, "times": 999}
        settings = {f"{nodeset}.{key}": value for key, value in fault.items()}
        settings |= {f"{nodeset}.folder": str(tmp_path), "env_faulty.episodes": EPISODES}
        settings["env_faulty.steps"] = 4
        return [
            wayfare.evaluate(
                "faulty",
                workers=workers,
                overrides=settings,
                workspaces=[WORKSPACE],
                out=tmp_path / "runs",
                **options,
            )
            for workers in WORKERS
        ]

    return run


def outcomes_of(run: Run) -> list[tuple[str, int]]:
    return [(row.outcome, row.attempts) for row in run.episodes]


@pytest.mark.parametrize("deadly", [ALL, (1, 6)])
def test_of_a_shared_copy_each_deadly_episode_fails_alone_and_the_run_goes_on(
    evaluate: Evaluate, deadly: Sequence[int]
) -> None:
    runs = evaluate("policy_faulty", deadly)
    expected = [("error" if index in deadly else "completed", 1) for index in ALL]
    assert [outcomes_of(run) for run in runs] == [expected] * len(WORKERS)
    assert len({run.digest for run in runs}) == 1
    (policy,) = runs[0].summary.nodesets["policy_faulty"].copies
    assert policy.restarts in (3 * len(deadly), 3 * len(deadly) - 1), "the last is for nobody"


def test_of_replicated_copies_each_deadly_episode_fails_after_its_own_attempts(
    evaluate: Evaluate,
) -> None:
    runs = evaluate("env_faulty", IN_A_ROW)
    expected = [("error", 3) if index in IN_A_ROW else ("completed", 1) for index in ALL]
    assert [outcomes_of(run) for run in runs] == [expected] * len(WORKERS)
    assert len({run.digest for run in runs}) == 1


def test_without_retries_the_rows_of_a_deadly_one_are_answered_all_the_same(
    evaluate: Evaluate,
) -> None:
    runs = evaluate("policy_faulty", (3,), retries=0)
    expected = [("error" if index == 3 else "completed", 1) for index in ALL]
    assert [outcomes_of(run) for run in runs] == [expected] * len(WORKERS)
    assert len({run.digest for run in runs}) == 1
