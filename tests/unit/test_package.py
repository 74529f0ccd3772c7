"""What `import wayfare` costs and offers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

import wayfare

STUB = Path(wayfare.__file__).with_suffix(".pyi")


def test_importing_loads_nothing_heavy():
    code = "import sys, wayfare; print({'pydantic', 'numpy', 'asyncio'} & set(sys.modules))"
    answer = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    assert answer.stdout.strip() == "set()"


def test_type_checkers_see_the_names_that_there_are():
    imports = [
        node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ImportFrom)
    ]
    stubbed = {alias.asname for node in imports for alias in node.names}
    assert stubbed == set(wayfare._HOME)
    assert all(hasattr(wayfare, name) for name in stubbed)
    assert stubbed <= set(dir(wayfare))


def test_a_name_that_is_not_there_is_no_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'graph_of'"):
        _ = wayfare.graph_of
