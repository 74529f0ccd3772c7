"""Show that no command, option, exit status or setting is left out of the documentation.

Knows nothing of whether what stands there is true.
"""

from __future__ import annotations

import re

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from wayfare.cli.app import app
from wayfare.cli.exit_status import ExitStatus

GROUP = get_command(app)
assert isinstance(GROUP, TyperGroup)
COMMANDS = GROUP.commands


@pytest.fixture(scope="module")
def page(repo_root):
    return (repo_root / "docs" / "commands.md").read_text()


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_option_is_documented(name, page):
    section = re.search(rf"^## `wayfare {name}\b.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    options = {text for option in COMMANDS[name].params for text in option.opts if text[:2] == "--"}

    missing = [text for text in options if section is None or f"`{text}" not in section.group()]

    assert missing == [], f"add to docs/commands.md, section `wayfare {name}`"


def test_no_documented_command_is_made_up(page):
    assert set(re.findall(r"^## `wayfare (\w+)", page, re.MULTILINE)) == set(COMMANDS)


def test_every_exit_status_is_documented(page):
    assert [status for status in ExitStatus if f"\n| {status.value} |" not in page] == []


def test_every_setting_is_documented(page, repo_root):
    sources = [*(repo_root / "src").rglob("*.py"), *(repo_root / "nodesets").rglob("*.py")]

    named = {name for path in sources for name in re.findall(r"WAYFARE_[A-Z]+", path.read_text())}

    assert sorted(name for name in named if f"`{name}`" not in page) == []
