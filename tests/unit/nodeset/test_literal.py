"""Literals are read from source text, with the arithmetic of numbers that people write, bounded."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from nodeset.literal import LiteralError, read_literal


def read(text: str) -> Any:
    return read_literal(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("300 * 2**20", 314572800),
        ("(1 + 2) * -3 - 4 // 3", -10),
        ("10 ** -3", 0.001),
        ("1 / 4 + .5", 0.75),
        ("[2 * 3, {'a': (4 + 1, None)}]", [6, {"a": (5, None)}]),
        ("2 ** 127", 2**127),
        ("'a' 'b'", "ab"),
        ("1 + 2j", 1 + 2j),
    ],
)
def test_a_literal_has_the_value_that_python_gives_it(text: str, value: object) -> None:
    found = read(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        *("a", "a * 2", "f(2)", "2 * f(2)", "[1] * 10**9", "'a' * 10**9", "'a' + 'b'"),
        *("True + 1", "5 % 3", "1 << 70", "~1", "2 @ 3", "1 if 1 else 2", "1 < 2", "1j * 2"),
        *("+".join(["1"] * 600), "{[]: 1 + 1}"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_neither_literal_nor_arithmetic_of_numbers_is_refused(text: str) -> None:
    with pytest.raises(LiteralError, match="must be a literal, or arithmetic of number literals"):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        *("2 ** 128", "9 ** 9 ** 9", "9 ** -(10 ** 9)", "-(2 ** 100) * 2 ** 100"),
        *("10.0 ** 400", "1e308 * 10", "1e400 + 1", f"{10**100} + 1", "2.0 ** 10 ** 30"),
        *("1 / 0", "1 // 0", "0 ** -1", "(-8) ** 0.5"),
    ],
)
def test_arithmetic_without_a_bound_or_a_result_is_refused_before_it_costs_anything(
    text: str,
) -> None:
    with pytest.raises(LiteralError, match=r"must be (finite|a number)"):
        read(text)
