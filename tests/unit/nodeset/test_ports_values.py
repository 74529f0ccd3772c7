"""What each wire type takes, what it makes of it, and which edges fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nodeset.errors import PortError
from nodeset.ports import PortDef, accept, is_compatible, parse_wire_type

HERE = "env_line__step output"


@pytest.mark.parametrize(
    ("wire_type", "value"),
    [
        ("IMAGE", np.zeros((4, 5, 3), np.uint8)),
        ("DEPTH", np.zeros((4, 5), np.float32)),
        ("POSE", np.zeros(7)),
        ("ARRAY", np.zeros((2, 0), "<M8[s]")),
        ("ACTION", {"move": np.ones(2), "stop": False}),
        ("INT", 3),
        ("BOOL", True),
        ("TEXT", "go"),
        ("METRICS", {"SR": True, "NE": 1.5, "SPL": {"undefined": "start is goal"}}),
        ("JSON", {"a": [1, None, "b", {"c": 2.5}]}),
        ("ANY", [b"x", np.zeros(1), None]),
        ("LIST[LIST[INT]]", [[1], []]),
    ],
)
def test_right_value_passes_unchanged(wire_type: str, value: Any) -> None:
    assert accept(PortDef("x", wire_type), value, HERE) is value or value == accept(
        PortDef("x", wire_type), value, HERE
    )


@pytest.mark.parametrize(
    ("wire_type", "value", "plain"),
    [
        ("FLOAT", 3, 3.0),
        ("INT", np.uint8(3), 3),
        ("BOOL", np.bool_(True), True),
        ("JSON", ({"a": np.float32(0.5)}, (1, 2)), [{"a": 0.5}, [1, 2]]),
        ("ACTION", np.int64(2), 2),
        ("METRICS", {"NE": np.float64(2.5), "SR": np.bool_(False)}, {"NE": 2.5, "SR": False}),
        ("METRICS", {"NE": np.longdouble(2.5), "n": np.uint64(2)}, {"NE": 2.5, "n": 2}),
    ],
)
def test_value_is_made_plain_on_leaving(wire_type: str, value: Any, plain: Any) -> None:
    accepted = accept(PortDef("x", wire_type), value, HERE)
    assert accepted == plain
    assert type(accepted) is type(plain)


@pytest.mark.parametrize(
    ("wire_type", "value", "due"),
    [
        ("IMAGE", np.zeros((4, 5, 3)), "uint8"),
        ("DEPTH", np.zeros((4, 5)), "float32"),
        ("POSE", [0.0] * 7, r"shape \(7,\)"),
        ("ARRAY", np.array([object()]), "neither object nor structured"),
        ("INT", True, "an integer"),
        ("INT", 2**64, "64 bits"),
        ("FLOAT", "1", "a number"),
        ("BOOL", 1, "True or False"),
        ("TEXT", b"x", "text"),
        ("METRICS", {"SR": "yes"}, r"'SR'"),
        ("JSON", {1: 2}, "keys that are text"),
        ("JSON", {"a": [b"x"]}, r"at \['a'\]\[0\]"),
        ("ANY", [{1, 2}], r"got set \{1, 2\}.* at \[0\]"),
        ("LIST[BOOL]", [True, 0], r"at \[1\]"),
        ("TEXT", "a\ud800", r"got str 'a\\ud800', due text without lone surrogates"),
        ("LIST[TEXT]", ["a", "\udfff"], r"without lone surrogates at \[1\]"),
        ("JSON", {"a": [np.str_("\ud800")]}, r"without lone surrogates at \['a'\]\[0\]"),
        ("ANY", {"\ud800": 1}, "without lone surrogates"),
        ("METRICS", {"\ud800": 1}, "without lone surrogates"),
        ("METRICS", {"a": {"undefined": "\ud800"}}, r"without lone surrogates at \['a'\]"),
        ("METRICS", {"n": 2**64}, r"got int 18446744073709551616, due an int.*64 bits at \['n'\]"),
        ("LIST[METRICS]", [{"n": -(2**63) - 1}], r"fits in 64 bits at \[0\] at \['n'\]"),
        ("ACTION", {"n": [2**64]}, r"got int 1.*, due an integer .* 64 bits at \['n'\]\[0\]"),
        ("ANY", [10**5000], r"got int of 16610 bits, due an integer that fits in 64 bits at \[0\]"),
        ("FLOAT", 10**400, "got int of 1329 bits, due a number that fits in 64 bits"),
        ("TEXT", [10**5000], "got list that can't be written out, due text"),
        ("INT", np.bool_(True), "due an integer$"),
        (
            "INT",
            np.array(3),
            r"got ndarray of shape \(\) .*, due an integer; \.item\(\) takes it out",
        ),
        ("INT", np.array(3.5), "due an integer$"),
        ("FLOAT", np.array([3]), r"due a number; \.item\(\) takes it out of the array"),
        ("BOOL", np.array(True), r"due True or False; \.item\(\) takes it out of the array"),
        ("METRICS", {"n": np.array(1)}, r"\.item\(\) takes it out of the array at \['n'\]"),
        ("JSON", [np.array(1)], r"\.tolist\(\) makes such of an array at \[0\]"),
        ("ARRAY", np.ma.array([1]), r"an array that is not masked; \.filled\(value\) makes one"),
        ("ANY", [np.zeros(2, "V4")], r"an array of booleans, numbers, texts or times.* at \[0\]"),
    ],
)
def test_wrong_value_names_tool_port_got_and_due(wire_type: str, value: Any, due: str) -> None:
    with pytest.raises(PortError, match=due) as caught:
        accept(PortDef("x", wire_type), value, HERE)
    assert str(caught.value).startswith(f"{HERE} 'x' ({wire_type}): got ")


def test_too_deep_a_value_is_refused() -> None:
    value: Any = 1
    for _ in range(100):
        value = [value]
    with pytest.raises(PortError, match="at most 64 levels"):
        accept(PortDef("x", "JSON"), value, HERE)


@pytest.mark.parametrize(
    ("source", "target", "fits"),
    [
        ("INT", "FLOAT", True),
        ("FLOAT", "INT", False),
        ("IMAGE", "ARRAY", True),
        ("ARRAY", "IMAGE", False),
        ("ANY", "IMAGE", True),
        ("LIST[INT]", "LIST[FLOAT]", True),
        ("LIST[TEXT]", "JSON", True),
        ("LIST[ANY]", "JSON", True),
        ("LIST[IMAGE]", "JSON", False),
        ("TEXT", "LIST[TEXT]", False),
        ("JSON", "TEXT", False),
    ],
)
def test_edges_fit_where_a_type_is_a_special_case(source: str, target: str, fits: bool) -> None:
    assert is_compatible(source, target) is fits


@pytest.mark.parametrize("text", ["IMG", "LIST[]", "LIST[IMAGE", "list[INT]"])
def test_unknown_wire_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="unknown"):
        parse_wire_type(text)
