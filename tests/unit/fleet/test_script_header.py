"""A script header is read as PEP 723 has it; what is wrong with one is told with file and line."""

from __future__ import annotations

import pytest

from wayfare.fleet.provision import Wish
from wayfare.fleet.script_header import HeaderError, ScriptHeader, read_header

GOOD = """#!/usr/bin/env python
# /// script
# requires-python = ">=3.8,<3.9"
# dependencies = [
#   "six>=1.16",
#   "numpy; python_version < '3.9'",
# ]
#
# [tool.uv]
# exclude-newer = "2026-01-01T00:00:00Z"
# ///
import six
"""


@pytest.fixture
def write(tmp_path):
    """Give a function that writes a nodeset's file."""

    def write(text):
        path = tmp_path / "sim.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_header_is_read(write):
    header = read_header(write(GOOD))
    assert (header.line, header.requires_python) == (2, ">=3.8,<3.9")
    assert header.dependencies == ("six>=1.16", "numpy; python_version < '3.9'")
    assert header.settings == {"exclude-newer": "2026-01-01T00:00:00Z"}
    assert header.pythons.contains("3.8.18")


@pytest.mark.parametrize("text", ["import six\n", "# /// other\n# x\n# ///\n", "#/// script\n"])
def test_a_file_without_a_header_has_none(write, text):
    assert read_header(write(text)) is None


def test_a_header_may_say_nothing(write):
    header = read_header(write("# /// script\n#\n# ///\n"))
    assert header == ScriptHeader(header.file, 1)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("# /// script\n# dependencies = [\n# ///\n", r"sim.py:1: the script block is not TOML"),
        ("# /// script\n# dependencies = []\nimport x\n", r"sim.py:1: .* does not end"),
        (f"{GOOD}\n{GOOD}", r"sim.py:15: there are two script blocks, in lines 2 and 15"),
        (
            '# /// script\n# requires-python = "new"\n# ///\n',
            "requires-python is 'new'; it must be",
        ),
        ("# /// script\n# requires-python = 3.8\n# ///\n", "requires-python is 3.8; it must be"),
        (
            '# /// script\n# dependencies = "six"\n# ///\n',
            "dependencies is 'six'; it must be a list",
        ),
        ('# /// script\n# dependencies = ["!"]\n# ///\n', "dependencies holds '!'; it must be a"),
        ("# /// script\n# dependencies = [1]\n# ///\n", "dependencies holds 1; it must be a"),
        ("# /// script\n# tool = 1\n# ///\n", "tool is 1; it must be a table"),
        ("# /// script\n# packages = []\n# ///\n", "has a key 'packages'; it may have"),
        (
            '# /// script\n# [tool.uv.sources]\n# six = {path = "."}\n# ///\n',
            "tool.uv has sources, .* write the address into the dependency",
        ),
    ],
)
def test_a_header_that_can_not_be_used_is_told_with_file_line_and_rule(write, text, rule):
    with pytest.raises(HeaderError, match=rule):
        read_header(write(text))


@pytest.mark.parametrize("python", ["conda:sim", "/opt/python"])
def test_a_header_beside_an_environment_of_its_own_is_refused(write, python):
    with pytest.raises(HeaderError, match=f"sim.py:2: .*deployment.python is '{python}'"):
        Wish.of(python, write(GOOD))
    assert Wish.of("3.8", write(GOOD)).header is not None
