"""No test hangs on the clock: its deadlines are long, it never sleeps, and it claims no seconds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

TESTS = Path(__file__).resolve().parents[1]
LEAST_SECONDS = 60
CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "thread_time", "time"})
WAITS = {"wait_for": 1, "timeout": 0, "wait": 0, "join": 0, "result": 0, "exception": 0}
"""Functions that wait, by the place of their deadline."""
MAY_SLEEP = ("deadline.py", "chaos/", "fuzz/")
NODESETS = (
    *("workspace/", "faulty/", "torch/nodesets/"),
    *("integration/host/nodesets/", "integration/fleet/nodesets/"),
)
"""What is tested, and takes its time."""


def list_sources() -> Iterator[tuple[str, ast.Module]]:
    """Yield the tests and what they share, by their paths."""
    for path in sorted(TESTS.rglob("*.py")):
        name = path.relative_to(TESTS).as_posix()
        if not name.startswith(NODESETS):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def calls_in(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls with the last part of their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            yield name, node


def is_short(value: ast.AST) -> bool:
    number = value.value if isinstance(value, ast.Constant) else None
    return isinstance(number, int | float) and 0 < number < LEAST_SECONDS


def list_short_deadlines(tree: ast.AST) -> Iterator[int]:
    for name, call in calls_in(tree):
        place = WAITS.get(name, len(call.args))
        given = [word.value for word in call.keywords if word.arg == "timeout"]
        if any(map(is_short, [*given, *call.args[place : place + 1]])):
            yield call.lineno
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and "DEADLINE" in ast.unparse(node.targets[0]):
            yield from [node.lineno] * is_short(node.value)


def list_claims_of_seconds(tree: ast.AST) -> Iterator[int]:
    """Yield where an assertion holds a difference of the clock to a number."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and any(name in CLOCKS for name, _ in calls_in(node.test)):
            parts = list(ast.walk(node.test))
            is_difference = any(isinstance(part, ast.Sub) for part in parts)
            names = [part.id for part in parts if isinstance(part, ast.Name)]
            has_limit = any(map(is_short, parts)) or any("SECONDS" in name for name in names)
            if is_difference and has_limit:
                yield node.lineno


def list_sleeps(tree: ast.AST) -> Iterator[int]:
    for name, call in calls_in(tree):
        if name == "sleep" and not (call.args and ast.unparse(call.args[0]) == "0"):
            yield call.lineno


def find(rule: Callable[[ast.AST], Iterator[int]]) -> list[str]:
    return [f"{name}:{line}" for name, tree in list_sources() for line in rule(tree)]


def test_no_deadline_is_shorter_than_a_busy_machine_takes() -> None:
    assert find(list_short_deadlines) == []
    assert HANG_SECONDS >= LEAST_SECONDS


def test_no_test_claims_how_many_seconds_something_takes() -> None:
    assert find(list_claims_of_seconds) == []


def test_no_test_sleeps_to_wait() -> None:
    assert [place for place in find(list_sleeps) if not place.startswith(MAY_SLEEP)] == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (list_short_deadlines, "await asyncio.wait_for(task, 5)"),
        (list_short_deadlines, "async with asyncio.timeout(20): ..."),
        (list_short_deadlines, "process.communicate(timeout=30)"),
        (list_short_deadlines, "assert ready.wait(10.0)"),
        (list_short_deadlines, "DEADLINE_SECONDS = 20"),
        (list_claims_of_seconds, "assert time.monotonic() - began < 5"),
        (list_claims_of_seconds, "assert time.process_time() - begun < SOON_SECONDS"),
        (list_sleeps, "time.sleep(0.1)"),
        (list_sleeps, "await asyncio.sleep(pause)"),
    ],
)
def test_each_rule_finds_what_it_forbids(rule, text) -> None:
    tree = ast.parse(f"async def test():\n    {text}\n")
    assert list(rule(tree)) == [2]


@pytest.mark.parametrize(
    "text",
    [
        "await asyncio.wait_for(task, HANG_SECONDS)",
        "assert not bell.wait(0)",
        "assert before <= call.started <= time.monotonic()",
        "await asyncio.sleep(0)",
        "','.join(words)",
    ],
)
def test_what_hangs_on_no_clock_passes(text) -> None:
    tree = ast.parse(f"async def test():\n    {text}\n")
    rules = (list_short_deadlines, list_claims_of_seconds, list_sleeps)
    assert [line for rule in rules for line in rule(tree)] == []
