"""Every setting of every shipped nodeset refuses what it can't be: by name, value and rule."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodeset import (
    BaseCanvasNode,
    BaseNodeSet,
    BatchContext,
    Context,
    SettingError,
    UnavailableError,
)
from nodeset.loading import load_nodeset
from nodeset.source import read_declarations

FOLDER = Path(__file__).parents[3] / "nodesets"
NAMES = sorted(path.name for path in FOLDER.iterdir() if (path / "__init__.py").is_file())
HUGE = 10**30
NO_NUMBERS = (None, True, "x", "", math.nan, math.inf, -math.inf, HUGE, [], {})
WRONG: dict[type, tuple[Any, ...]] = {
    bool: (None, 0, 1, "x", "", math.nan, [], {}),
    int: (*NO_NUMBERS, 1.5, -2),
    float: (*NO_NUMBERS, 10**400, -HUGE),
    str: (None, True, 5, 1.5, math.nan, [], {}, " "),
    dict: (None, True, 5, math.nan, "x", "", [], {1: 2}),
    list: (None, True, 5, math.nan, "x", "", {}, [5], [""], [None]),
    type(None): (True, math.nan, math.inf, 1.5, -1, "", [], {}),
}
WRONG_FOR = {"gpu": (None, True, 1.5, "x", "", -2, math.nan, HUGE, [], {})}
"""A text or a number may be right there."""


def find_class(name: str) -> type[BaseNodeSet]:
    with contextlib.suppress(UnavailableError):  # a package lacks: the class is there all the same
        load_nodeset(str(FOLDER / name))
    (declaration,) = read_declarations(FOLDER / name)
    cls: type[BaseNodeSet] = getattr(sys.modules[f"nodesets.{name}"], declaration.class_name)
    return cls


def make(cls: type[BaseNodeSet], config: dict[str, Any]) -> None:
    """Make the nodeset as the host does."""
    nodeset = cls.__new__(cls)
    nodeset.config = config
    nodeset.__init__()  # type: ignore[misc]


def list_wrong(cls: type[BaseNodeSet] | BaseCanvasNode) -> Iterator[tuple[str, Any]]:
    for key, default in cls.default_config.items():
        for value in WRONG_FOR.get(key, WRONG[type(default)]):
            yield key, value


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_of_another_kind_or_range_is_refused(name: str) -> None:
    cls = find_class(name)
    for key, value in list_wrong(cls):
        with pytest.raises(SettingError) as caught:
            make(cls, {**cls.default_config, key: value})
        told = str(caught.value)
        assert told.startswith(f"{name}: setting {key!r} is {value!r:.77}")
        assert "; it must be " in told
        assert f"--set nodesets.{name}.{key}=VALUE" in told


@pytest.mark.parametrize("name", NAMES)
def test_the_defaults_are_settings_that_a_nodeset_takes(name: str) -> None:
    cls = find_class(name)
    with contextlib.suppress(UnavailableError):
        make(cls, dict(cls.default_config))


ROWS: dict[str, dict[str, Any]] = {
    "to_point": {"pose": np.zeros((1, 7)), "goal": np.zeros((1, 3))},
    "linear_feedback": {"observation": np.zeros((1, 2))},
}
"""Inputs of tools that read their settings row by row."""


def call(tool: BaseCanvasNode, name: str, config: dict[str, Any]) -> None:
    inputs = ROWS.get(name) or {port.name: [] for port in tool.input_ports}
    context: Any = BatchContext(config, []) if tool.batched else Context(config)
    tool.forward(inputs, context)


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_of_a_node_is_refused_likewise(name: str) -> None:
    try:
        tools = load_nodeset(str(FOLDER / name)).tools
    except UnavailableError as error:
        pytest.skip(str(error))
    for short, tool in tools.items():
        for key, value in list_wrong(tool):
            with pytest.raises(SettingError) as caught:
                call(tool, short, {**tool.default_config, key: value})
            told = str(caught.value)
            assert told.startswith(f"{tool.node_type}: setting {key!r} is {value!r:.77}")
            assert f"--set nodes.ID.{key}=VALUE" in told
