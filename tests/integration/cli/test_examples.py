"""Run every command that help and `wayfare new` show, as it stands there."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("command", ["call", "new nodeset", "new graph"])
def test_every_example_of_the_help_works(shell, commands_of, command):
    examples = commands_of(shell(f"wayfare {command} --help").partition("Examples:")[2])

    assert len(examples) >= 3
    for example in examples:
        assert shell(example)


@pytest.mark.parametrize("place", ["", " --dir 'my place'"])
@pytest.mark.parametrize(
    "kind",
    ["--env", "--env --mode shared", "--policy", "--policy --mode replicated"],
)
def test_every_command_that_new_shows_works(shell, commands_of, kind, place):
    shown = commands_of(shell(f"wayfare new nodeset hall {kind}{place}"))
    assert shown

    for command in shown:
        shown.extend(commands_of(shell(command)))


def test_what_is_written_runs_with_any_number_of_workers(shell):
    shell("wayfare new nodeset env_hall")
    shell("wayfare new nodeset policy_hall --policy --mode replicated")
    shell("wayfare new graph hall --env env_hall --policy policy_hall")

    digests = {
        shell(f"wayfare eval hall --workers {workers} --workspace . --json")
        .partition('"digest": ')[2]
        .partition("\n")[0]
        for workers in (1, 3)
    }

    assert len(digests) == 1
