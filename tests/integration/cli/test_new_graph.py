"""Write graphs for the shipped nodesets and run them."""

from __future__ import annotations

import pytest


def evaluate(shell, commands_of, line):
    (command,) = commands_of(shell(line))
    return shell(f"{command} --json")


@pytest.mark.parametrize(
    "choice",
    [
        "--policy policy_planner",
        "--policy policy_planner__random_action",
        "--set env_gymnasium.id=CartPole-v1",
        "--set env_gymnasium.id=Pendulum-v1 --set env_gymnasium.max_episode_steps=5",
    ],
)
def test_any_gymnasium_environment_gets_a_graph_that_runs(shell, commands_of, choice):
    printed = evaluate(shell, commands_of, f"wayfare new graph mine --env env_gymnasium {choice}")

    assert '"completed": 3' in printed


@pytest.mark.parametrize("policy", ["", "__r2r_random", "__r2r_reference"])
def test_room_to_room_gets_a_graph_that_runs(shell, commands_of, data_file, policy):
    shell.environment["WAYFARE_DATA"] = str(data_file("r2r").parent)
    line = f"wayfare new graph mine --env env_r2r --policy policy_planner{policy}"

    assert '"error": 0' in evaluate(shell, commands_of, line)


def test_a_graph_of_the_tests_own_nodesets_runs(shell, commands_of, repo_root):
    shell.environment["WAYFARE_WORKSPACE"] = str(repo_root / "tests" / "workspace")

    for environment in ("env_drift", "env_line"):
        line = f"wayfare new graph {environment}_mine --env {environment} --policy policy_sum"
        assert '"completed": 3' in evaluate(shell, commands_of, line)


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ("--env env_r2r", "has an output 'action_space'"),
        ("--env policy_planner --policy policy_planner", "brings no episodes"),
        ("--env env_gymnasium --policy policy_planner__fly", "has no tool 'fly'"),
        ("--env env_none", "no nodeset 'env_none' in any workspace"),
        ("--env env_gymnasium --set env_gymnasium.no=1", "has no configuration 'no'"),
        (
            "--env env_gymnasium --policy policy_planner__r2r_stop",
            "policy_planner__r2r_stop needs 'navigable' (JSON): no tool gives it.",
        ),
    ],
)
def test_where_nothing_can_be_wired_it_says_why_and_writes_nothing(shell, choice, reason):
    done = shell.run(f"wayfare new graph mine {choice}")

    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert not (shell.folder / "graphs").exists()
