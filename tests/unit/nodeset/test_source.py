"""A nodeset's file is read without running it, whatever stands in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeset.contract import Deployment
from nodeset.errors import ContractError
from nodeset.source import read_declarations


def read(tmp_path: Path, text: str) -> str:
    """Return why a file is refused."""
    path = tmp_path / "file.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ContractError) as refused:
        read_declarations(path)
    return str(refused.value)


def declare(name: str, value: str) -> str:
    return f"class A(BaseNodeSet):\n    name = 'a'\n    {name} = {value}\n"


@pytest.mark.parametrize(
    "text",
    ["a = '\x00'", "(" * 300, "-" * 100_000 + "1", "class A(BaseNodeSet:"],
    ids=["NUL", "brackets", "signs", "unfinished"],
)
def test_what_is_no_python_or_too_deep_is_refused_with_its_place(tmp_path: Path, text: str) -> None:
    assert "file.py:1: cannot be read as Python" in read(tmp_path, text)


@pytest.mark.parametrize("value", ["{[]: 1}", "open('x')", "f'{1}'", "__import__('os').name"])
def test_what_is_computed_is_refused_and_never_run(tmp_path: Path, value: str) -> None:
    assert "computes description; it is read from the source text" in read(
        tmp_path, declare("description", value)
    )


def test_a_refusal_begins_with_file_and_line(tmp_path: Path) -> None:
    text = declare("deployment", "Deployment(\n        memory_limit=300 * MIB,\n    )")
    assert read(tmp_path, text) == (
        f"{tmp_path}/file.py:4: nodeset class A computes deployment.memory_limit; it is read from "
        f"the source text and must be a literal, or arithmetic of number literals such as "
        f"300 * 2**20."
    )


def test_numbers_of_a_deployment_may_be_computed_of_literals(tmp_path: Path) -> None:
    budgets = "budgets={'call': 2 * 60}"
    value = f"Deployment(memory_limit=300 * 2**20, gpus=1 / 4, cpus=-(-7 // 2), {budgets})"
    path = tmp_path / "file.py"
    path.write_text(declare("deployment", value), encoding="utf-8")
    (declaration,) = read_declarations(path)
    expected = Deployment(memory_limit=300 * 2**20, gpus=0.25, cpus=4, budgets={"call": 120})
    assert declaration.deployment == expected


def test_what_arithmetic_gives_is_held_to_the_rule(tmp_path: Path) -> None:
    refusal = read(tmp_path, declare("deployment", "Deployment(threads=4 - 4)"))
    assert "whose threads is 0; it must be a whole number from 1" in refusal
    assert "declares name=3; it must be text" in read(tmp_path, declare("name", "1 + 2"))


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\0b", "a" * 101, "a.b", ""])
def test_a_name_that_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    refusal = read(tmp_path, declare("name", f"'{name}'"))
    assert "must be at most 100 letters" in refusal or "has no name" in refusal
