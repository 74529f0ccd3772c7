"""Run every command that help and `wayfare new` show, as it stands there."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize("command", ["call", "new nodeset", "new graph"])
def test_every_example_of_the_help_works(shell, commands_of, command):
    examples = commands_of(shell(f"wayfare {command} --help").partition("Examples:")[2])

    assert len(examples) >= 3
    for example in examples:
        assert shell(example)


@pytest.mark.parametrize(
    "choice",
    [
        "--env",
        "--env --mode shared --dir 'my place'",
        "--policy",
        "--policy --mode replicated --dir 'my place'",
    ],
)
def test_every_command_that_new_shows_works(shell, commands_of, choice):
    shown = commands_of(shell(f"wayfare new nodeset hall {choice}"))
    assert shown

    for command in shown:
        shown.extend(commands_of(shell(command)))


@pytest.mark.parametrize("mode", ["replicated", "shared"])
def test_what_is_written_gives_the_same_with_any_number_of_workers(shell, mode):
    shell(f"wayfare new nodeset env_hall --mode {mode}")
    shell("wayfare new nodeset policy_hall --policy")
    shell("wayfare new graph hall --env env_hall --policy policy_hall")

    runs = [
        json.loads(
            shell(
                f"wayfare eval hall --workers {workers} --episodes 8 --workspace . --json "
                "--set nodes.act.epsilon=0.5"
            )
        )
        for workers in (1, 4)
    ]

    assert [run["episodes"]["completed"] for run in runs] == [8, 8]
    assert runs[0]["digest"] == runs[1]["digest"]
