"""Faults of processes cost what they hit and nothing else: real crashes, hangs, stops and leaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

AT = {"at_episode": 3, "at_step": 7}
Evaluate = Callable[..., dict[str, Any]]


@pytest.fixture
def evaluate(wayfare: Any, tmp_path: Path) -> Evaluate:
    """Give a function that evaluates the faulty graph and returns what `wayfare show` says."""

    def run(
        workers: int,
        env: Mapping[str, Any] | None = None,
        policy: Mapping[str, Any] | None = None,
        *,
        status: int = 0,
    ) -> dict[str, Any]:
        folder = tmp_path / f"faults{len(list(tmp_path.glob('faults*')))}"
        folder.mkdir()
        settings = {
            **{f"env_faulty.{key}": value for key, value in (env or {}).items()},
            **{f"policy_faulty.{key}": value for key, value in (policy or {}).items()},
            "env_faulty.folder": folder,
            "policy_faulty.folder": folder,
        }
        options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        options += ["--workers", str(workers)]
        document = wayfare.evaluate("faulty", *options, status=status)
        return wayfare.show(document["run_id"])

    return run


def list_attempts(shown: dict[str, Any]) -> list[int]:
    return [row["attempts"] for row in shown["episodes_table"]]


def list_metrics(shown: dict[str, Any]) -> list[dict[str, Any]]:
    return [row["metrics"] for row in shown["episodes_table"]]


def count_copies(shown: dict[str, Any], nodeset: str, what: str) -> int:
    return sum(copy[what] for copy in shown["nodesets"][nodeset]["copies"])


@pytest.mark.parametrize("fault", ["segfault", "leave", "be_killed"])
def test_a_copy_that_dies_costs_its_episode_one_attempt_and_nothing_else(
    evaluate: Evaluate, fault: str
) -> None:
    undisturbed, shown = evaluate(2), evaluate(2, {"fault": fault, **AT})
    assert list_attempts(shown) == [1, 1, 1, 2, 1, 1]
    assert list_metrics(shown) == list_metrics(undisturbed)
    assert shown["digest"] == undisturbed["digest"]
    assert count_copies(shown, "env_faulty", "restarts") == 1
    assert shown["episodes"]["retried"] == 1


def test_the_error_of_an_attempt_says_how_the_copy_ended_and_where(evaluate: Evaluate) -> None:
    shown = evaluate(1, {"fault": "leave", "times": 9, **AT}, status=1)
    error = shown["episodes_table"][3]["error"]
    assert (error["kind"], error["type"]) == ("infrastructure", "CopyFailedError")
    assert (error["node"], error["turns"], error["exit_status"]) == ("step", [7], 7)
    assert error["call"] == "call of tool 'step' at node 'step'"
    assert "the licence server is gone" in error["log_tail"]
    assert "the licence server is gone" in Path(shown["out"], "logs", "env_faulty.log").read_text()


def test_a_segmentation_fault_is_told_with_the_python_code_that_led_to_it(
    evaluate: Evaluate,
) -> None:
    shown = evaluate(1, {"fault": "segfault", "times": 9, **AT}, status=1)
    error = shown["episodes_table"][3]["error"]
    assert error["exit_status"] == -11
    assert "Fatal Python error: Segmentation fault" in error["log_tail"]
    assert "in segfault" in error["log_tail"]


@pytest.mark.parametrize("fault", ["hang_with_lock", "hang", "stop"])
def test_a_copy_that_hangs_is_replaced_while_the_others_go_on(
    evaluate: Evaluate, fault: str
) -> None:
    undisturbed, shown = evaluate(2), evaluate(2, {"fault": fault, **AT})
    assert list_attempts(shown) == [1, 1, 1, 2, 1, 1]
    assert shown["digest"] == undisturbed["digest"]
    workers = [row["worker"] for row in shown["episodes_table"]]
    assert workers.count(workers[3]) < 4, "the other worker waited"


@pytest.mark.parametrize("fault", ["segfault", "hang_with_lock"])
def test_a_shared_copy_that_fails_once_costs_nobody_an_attempt(
    evaluate: Evaluate, fault: str
) -> None:
    undisturbed, shown = evaluate(4), evaluate(4, policy={"fault": fault, **AT})
    assert list_attempts(shown) == [1] * 6
    assert shown["digest"] == undisturbed["digest"]
    assert count_copies(shown, "policy_faulty", "restarts") == 1


def test_a_row_that_always_kills_a_shared_copy_fails_alone_among_eight(
    evaluate: Evaluate,
) -> None:
    eight = {"episodes": 8}
    undisturbed = evaluate(8, eight)
    shown = evaluate(8, eight, {"fault": "segfault", "times": 99, **AT}, status=1)
    assert [row["outcome"] for row in shown["episodes_table"]].count("error") == 1
    assert list_attempts(shown) == [1] * 8
    for number, (row, before) in enumerate(
        zip(shown["episodes_table"], undisturbed["episodes_table"], strict=True)
    ):
        assert number == 3 or (row["metrics"], row["digest"]) == (
            before["metrics"],
            before["digest"],
        )
    error = shown["episodes_table"][3]["error"]
    assert (error["kind"], error["node"], error["turns"]) == ("infrastructure", "act", [7])
    assert "under way at 3 deaths" in error["message"]


def test_a_copy_that_leaks_is_recycled_between_episodes_and_results_stay(
    evaluate: Evaluate,
) -> None:
    many = {"episodes": 40}
    undisturbed, shown = evaluate(1, many), evaluate(1, {"leak_bytes": 20_000_000, **many})
    assert shown["digest"] == undisturbed["digest"]
    assert list_attempts(shown) == [1] * 40
    assert count_copies(shown, "env_faulty", "recycled") == 2
    assert count_copies(shown, "env_faulty", "restarts") == 0


def test_a_copy_that_grows_far_beyond_its_limit_in_an_episode_ends_its_attempt(
    evaluate: Evaluate,
) -> None:
    shown = evaluate(1, {"fault": "grow", "times": 9, **AT}, status=1)
    error = shown["episodes_table"][3]["error"]
    assert error["type"] == "MemoryExceededError"
    assert "memory_limit of 400000000" in error["message"]
    assert list_attempts(shown) == [1, 1, 1, 3, 1, 1]
