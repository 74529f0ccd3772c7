"""Faults of processes cost what they hit and nothing else: real crashes, hangs, stops and leaks."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import wayfare
from wayfare.evals.run import Run
from wayfare.store.records import ErrorRecord

WORKSPACE = Path(__file__).parents[2] / "workspace"
AT = {"at_episode": 3, "at_step": 7}
Evaluate = Callable[..., Run]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """Give a function that evaluates the faulty graph with settings of its two nodesets."""

    def run(
        workers: int,
        env: Mapping[str, Any] | None = None,
        policy: Mapping[str, Any] | None = None,
    ) -> Run:
        shared = {"env_faulty.folder": str(tmp_path), "policy_faulty.folder": str(tmp_path)}
        own = {f"env_faulty.{key}": value for key, value in (env or {}).items()}
        policys = {f"policy_faulty.{key}": value for key, value in (policy or {}).items()}
        return evaluate_faulty(tmp_path, workers, {**shared, **own, **policys})

    return run


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Run]:
    """Give a function from a number of episodes to a run of them without a fault."""

    @functools.cache
    def run(episodes: int) -> Run:
        return evaluate_faulty(tmp_path_factory.mktemp("run"), 2, {"env_faulty.episodes": episodes})

    return run


def evaluate_faulty(folder: Path, workers: int, settings: Mapping[str, Any]) -> Run:
    return wayfare.evaluate(
        "faulty", workers=workers, overrides=settings, workspaces=[WORKSPACE], out=folder / "runs"
    )


def list_attempts(run: Run) -> list[int]:
    return [row.attempts for row in run.episodes]


def count_copies(run: Run, nodeset: str, what: str) -> int:
    return sum(getattr(copy, what) for copy in run.summary.nodesets[nodeset].copies)


def find_error(run: Run, number: int) -> ErrorRecord:
    error = run.episodes[number].error
    assert error is not None
    return error


@pytest.mark.parametrize("fault", ["segfault", "leave", "be_killed"])
def test_a_copy_that_dies_costs_its_episode_one_attempt_and_nothing_else(
    evaluate: Evaluate, undisturbed: Callable[[int], Run], fault: str
) -> None:
    run = evaluate(2, {"fault": fault, **AT})
    assert list_attempts(run) == [1, 1, 1, 2, 1, 1]
    assert [r.metrics for r in run.episodes] == [r.metrics for r in undisturbed(6).episodes]
    assert run.digest == undisturbed(6).digest
    assert count_copies(run, "env_faulty", "restarts") == 1
    assert run.summary.episodes.retried == 1


def test_the_error_of_an_attempt_says_how_the_copy_ended_and_where(evaluate: Evaluate) -> None:
    run = evaluate(1, {"fault": "leave", "times": 9, **AT})
    error = find_error(run, 3)
    assert (error.kind, error.type) == ("infrastructure", "CopyFailedError")
    assert (error.node, error.turns, error.exit_status) == ("step", (7,), 7)
    assert error.call == "call of tool 'step' at node 'step'"
    assert "the licence server is gone" in error.log_tail
    assert "the licence server is gone" in (run.folder / "logs" / "env_faulty.log").read_text()


def test_a_segmentation_fault_is_told_with_the_python_code_that_led_to_it(
    evaluate: Evaluate,
) -> None:
    error = find_error(evaluate(1, {"fault": "segfault", "times": 9, **AT}), 3)
    assert error.exit_status == -11
    assert "Fatal Python error: Segmentation fault" in error.log_tail
    assert "in segfault" in error.log_tail


def test_a_mapped_file_that_is_cut_while_it_is_read_is_named(evaluate: Evaluate) -> None:
    error = find_error(evaluate(1, {"fault": "read_cut_file", "times": 9, **AT}), 3)
    assert error.exit_status == -signal.SIGBUS
    assert "a memory-mapped file was cut short while it was read" in error.message


@pytest.mark.parametrize("fault", ["hang_with_lock", "hang", "stop"])
def test_a_copy_that_hangs_is_replaced_while_the_others_go_on(
    evaluate: Evaluate, undisturbed: Callable[[int], Run], fault: str
) -> None:
    run = evaluate(2, {"fault": fault, **AT})
    assert list_attempts(run) == [1, 1, 1, 2, 1, 1]
    assert run.digest == undisturbed(6).digest
    worker, *others = (run.episodes[index].worker for index in (3, 4, 5))
    assert worker not in others, "the other worker waited"


@pytest.mark.parametrize("fault", ["segfault", "hang_with_lock"])
def test_a_shared_copy_that_fails_once_costs_nobody_an_attempt(
    evaluate: Evaluate, undisturbed: Callable[[int], Run], fault: str
) -> None:
    run = evaluate(4, policy={"fault": fault, **AT})
    assert list_attempts(run) == [1] * 6
    assert run.digest == undisturbed(6).digest
    assert count_copies(run, "policy_faulty", "restarts") == 1


def test_a_row_that_always_kills_a_shared_copy_fails_alone_among_eight(
    evaluate: Evaluate, undisturbed: Callable[[int], Run]
) -> None:
    run = evaluate(8, {"episodes": 8}, {"fault": "segfault", "times": 99, **AT})
    assert [row.outcome for row in run.episodes].count("error") == 1
    assert list_attempts(run) == [1] * 8
    for number, (row, before) in enumerate(zip(run.episodes, undisturbed(8).episodes, strict=True)):
        assert number == 3 or (row.metrics, row.digest) == (before.metrics, before.digest)
    error = find_error(run, 3)
    assert (error.kind, error.node, error.turns) == ("infrastructure", "act", (7,))
    assert "under way at 3 deaths" in error.message


def test_a_copy_that_leaks_is_recycled_between_episodes_and_results_stay(
    evaluate: Evaluate, undisturbed: Callable[[int], Run]
) -> None:
    run = evaluate(1, {"episodes": 40, "leak_bytes": 20_000_000})
    assert run.digest == undisturbed(40).digest
    assert list_attempts(run) == [1] * 40
    assert count_copies(run, "env_faulty", "recycled") == 2
    assert count_copies(run, "env_faulty", "restarts") == 0


def test_a_copy_that_grows_far_beyond_its_limit_in_an_episode_ends_its_attempt(
    evaluate: Evaluate,
) -> None:
    run = evaluate(1, {"fault": "grow", "times": 9, **AT})
    error = find_error(run, 3)
    assert error.type == "MemoryExceededError"
    assert "memory_limit of 400000000" in error.message
    assert list_attempts(run) == [1, 1, 1, 3, 1, 1]
