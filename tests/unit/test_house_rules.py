"""Show that each house rule refuses what it says: a silent check is not yet a clean tree."""

from __future__ import annotations

import ast

import pytest

from scripts.house_rules import RULES, Source, check_home_folders

CORE = "src/wayfare/engine/example.py"
AUTHOR = "packages/nodeset/src/nodeset/example.py"
LONG_BODY = "def long():\n" + "    x = 1\n" * 40
MANY_METHODS = "class Wide:\n" + "".join(f"    def m{i}(self): ...\n" for i in range(11))


def faults(path: str, text: str) -> list[str]:
    source = Source(path, text, ast.parse(text))
    return [fault.rule for rule in RULES for fault in rule(source)]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (CORE, "x = 1\n" * 301, "has 301 lines"),
        (CORE, LONG_BODY, "long has 41 lines"),
        (CORE, "def f(a, b, c, d): ...\n", "positional parameters"),
        (CORE, MANY_METHODS, "11 public methods"),
        (CORE, "eval('1')\n", "calls eval()"),
        (CORE, "def f():\n    import pickle\n", "imports pickle"),
        (CORE, "import ray\n", "imports ray"),
        (CORE, "name = 'minigrid_planner'\n", "names a domain"),
        (AUTHOR, "import torch\n", "imports torch"),
    ],
)
def test_a_broken_rule_is_named(path, text, expected):
    (fault,) = faults(path, text)

    assert expected in fault


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (CORE, "def f(a, b, c, *, d): ...\n"),
        (CORE, "class Narrow:\n    def _private(self, a, b, c, d): ...\n"),
        ("src/wayfare/fleet/ray.py", "import ray\n"),
        ("nodesets/env_gymnasium/__init__.py", "import gymnasium\n"),
        (AUTHOR, "import numpy as np\nfrom nodeset.ports import PortDef\nfrom . import errors\n"),
    ],
)
def test_what_is_allowed_passes(path, text):
    assert faults(path, text) == []


def test_a_folder_of_one_machine_is_named():
    user = "ada"

    (fault,) = check_home_folders("README.md", f"cd /home/{user}/data\n")

    assert "names a folder of one machine" in fault.rule
