"""What the calibrating agents decide, one call at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nodesets.policy_planner.r2r import (
    TOOLS,
    R2ROracle,
    R2RRandom,
    R2RReference,
    R2RStop,
    plan_route,
)
from tests.unit.nodesets.r2r_world import call, write_world

from nodeset import BaseCanvasNode, SettingError

AROUND_B = [{"viewpoint": name} for name in ("a", "c", "d")]
ALONE, IN_COMPANY = [{"viewpoint": "b"}], [{"viewpoint": "b"}, {"viewpoint": "d"}]


def random_agent(turns: int | None) -> R2RRandom:
    agent = R2RRandom()
    agent.default_config = {"turns": turns}
    return agent


def test_the_oracle_goes_the_shortest_way_and_stops_at_the_goal(tmp_path: Path) -> None:
    oracle = R2ROracle()
    oracle.default_config = {"data_dir": str(write_world(tmp_path))}
    answer = call(
        oracle,
        scan=["house"] * 4,
        viewpoint=["b"] * 4,
        goal=["u", "a", "b", "i"],
        candidates=[AROUND_B] * 4,
    )
    assert answer["action"] == [1, 0, -1, -1]


def test_the_reference_agent_follows_the_path_to_its_end() -> None:
    answer = call(
        R2RReference(),
        path=[["a", "b", "d"], ["d", "b"]],
        step=[1, 1],
        viewpoint=["b", "b"],
        candidates=[AROUND_B] * 2,
    )
    assert answer["action"] == [2, -1]


def test_a_reference_agent_off_its_path_says_so() -> None:
    row: dict[str, Any] = {"path": [["a", "b"]], "candidates": [AROUND_B]}
    with pytest.raises(ValueError, match="at 'd' in turn 1"):
        call(R2RReference(), **row, step=[1], viewpoint=["d"])
    with pytest.raises(ValueError, match="candidates are"):
        call(R2RReference(), **{**row, "path": [["b", "z"]]}, step=[0], viewpoint=["b"])


def test_a_reference_agent_may_take_another_route() -> None:
    routes = {route: plan_route("abd", route) for route in ("path", "start", "but_last")}
    assert routes == {"path": ["a", "b", "d"], "start": ["a"], "but_last": ["a", "b"]}
    assert plan_route("abd", "there_and_back") == ["a", "b", "d", "b", "a"]
    assert plan_route("a", "but_last") == plan_route("a", "there_and_back") == ["a"]
    with pytest.raises(ValueError, match="route is 'home'; it must be one of path, start"):
        plan_route("abd", "home")


def test_the_stop_agent_stops() -> None:
    assert call(R2RStop(), navigable=[ALONE, IN_COMPANY])["action"] == [[0, 0, 0]] * 2


def wander(agent: R2RRandom, views: list[Any]) -> list[list[int]]:
    memory: Any = {}
    actions = []
    for navigable in views:
        answer = call(agent, navigable=[navigable], memory=[memory])
        memory = answer["memory"][0]
        actions.append(answer["action"][0])
    return actions


def test_the_random_agent_turns_then_goes_forward_five_times_then_stops() -> None:
    actions = wander(random_agent(turns=2), [IN_COMPANY] * 8)
    assert actions == [[0, 1, 0]] * 2 + [[1, 0, 0]] * 5 + [[0, 0, 0]]


def test_the_random_agent_turns_right_where_nobody_is_in_view() -> None:
    actions = wander(random_agent(turns=0), [ALONE, IN_COMPANY, ALONE] + [IN_COMPANY] * 5)
    assert actions == [[0, 1, 0], [1, 0, 0], [0, 1, 0]] + [[1, 0, 0]] * 4 + [[0, 0, 0]]


def test_the_first_turns_are_drawn_from_0_to_11_by_the_rows_own_generator() -> None:
    many = call(R2RRandom(), navigable=[IN_COMPANY] * 500)["memory"]
    drawn = {0 if memory["moves"] else memory["turns_left"] + 1 for memory in many}
    assert drawn == set(range(12))
    assert many[3] == call(R2RRandom(), seed=3, navigable=[IN_COMPANY])["memory"][0]


@pytest.mark.parametrize("turns", [12, -1, True, "3", 1.0])
def test_a_setting_that_is_no_number_of_turns_is_refused(turns: Any) -> None:
    with pytest.raises(SettingError, match="it must be a whole number from 0 to 11"):
        call(random_agent(turns), navigable=[ALONE])


@pytest.mark.parametrize("tool", TOOLS)
def test_every_agent_is_batched(tool: type[BaseCanvasNode]) -> None:
    assert tool.batched
    assert tool.batch_dim in [port.name for port in tool().input_ports]
