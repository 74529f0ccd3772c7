"""The interpreter that an environment is made from is Wayfare's own if it fits, else one found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from wayfare.fleet.base_python import choose_base
from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.interpreter import InterpreterSearch


@pytest.fixture
def pythons(tmp_path):
    """Give the search of a machine with Python 3.8.10, 3.8.18 and 3.13.2, and a shim for 3.9."""
    for folder, version in (("a", "3.8.10"), ("b", "3.8.18"), ("c", "3.13.2"), ("shims", "3.9.1")):
        path = tmp_path / folder / f"python{version.rpartition('.')[0]}"
        path.parent.mkdir()
        answer = "echo no such version; exit 127" if folder == "shims" else f"echo {version}"
        path.write_text(f"#!/bin/sh\n{answer}\n")
        path.chmod(0o755)
    named = ":".join(str(tmp_path / folder) for folder in "abc")
    return InterpreterSearch(pythons=named, path=str(tmp_path / "shims"))


async def choose(wanted, search):
    return await choose_base(SpecifierSet(wanted), search, place="sim.py:1")


@pytest.mark.parametrize("wanted", ["", ">=3.11", f"=={sys.version_info[0]}.*"])
async def test_wayfares_own_is_taken_where_it_fits(pythons, wanted):
    assert (await choose(wanted, pythons)).path == Path(sys.executable)


@pytest.mark.parametrize(
    ("wanted", "version"),
    [("<3.9", "3.8.10"), (">=3.8.12,<3.9", "3.8.18"), (">=3.13,<3.14", "3.13.2")],
)
async def test_the_first_that_fits_is_taken(pythons, wanted, version):
    assert (await choose(wanted, pythons)).version == version


async def test_a_shim_for_a_version_that_is_not_there_is_passed_over(pythons):
    with pytest.raises(InterpreterError, match=r"sim.py:1: no Python .*'==3.9.\*'.*install 3.9"):
        await choose("==3.9.*", pythons)


@pytest.mark.parametrize("wanted", ["<3.8", ">=3.14", "==2.7.*"])
async def test_a_python_that_nodeset_does_not_run_in_is_refused(pythons, wanted):
    with pytest.raises(InterpreterError, match=r"`nodeset` runs in Python 3.8 to 3.13"):
        await choose(wanted, pythons)
