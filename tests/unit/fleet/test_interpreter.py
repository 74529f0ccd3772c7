"""Finding interpreters and preparing the environment of a copy."""

import os
import sys
from pathlib import Path

import pytest

from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.interpreter import (
    InterpreterSearch,
    build_environment,
    find_interpreter,
    link_nodeset,
)


def write_python(path: Path, version: str, missing: str = "[]") -> Path:
    """Write a program that answers like a Python of that version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "#!/bin/sh\n"
        f'case "$2" in *missing*) echo \'{{"version": "{version}", "missing": {missing}}}\';;\n'
        f"*) echo {version};; esac\n"
    )
    path.chmod(0o755)
    return path


async def test_no_wish_means_the_interpreter_that_runs_wayfare():
    found = await find_interpreter(None, InterpreterSearch())
    assert found.path == Path(sys.executable)
    assert found.version == "{}.{}.{}".format(*sys.version_info[:3])


async def test_a_version_is_looked_up_in_the_given_folders_before_path(tmp_path):
    wanted = write_python(tmp_path / "first" / "bin" / "python3.8", "3.8.18")
    write_python(tmp_path / "second" / "python3.8", "3.8.10")
    search = InterpreterSearch(pythons=str(tmp_path / "first"), path=str(tmp_path / "second"))
    assert (await find_interpreter("3.8", search)).path == wanted


async def test_a_patch_version_must_match(tmp_path):
    write_python(tmp_path / "a" / "python3.8", "3.8.10")
    wanted = write_python(tmp_path / "b" / "python3.8", "3.8.18")
    pythons = os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")])
    found = await find_interpreter("3.8.18", InterpreterSearch(pythons=pythons))
    assert found.path == wanted


async def test_a_version_that_is_nowhere_says_where_it_was_looked_for():
    with pytest.raises(InterpreterError, match=r"no Python 3\.8 found.*WAYFARE_PYTHONS"):
        await find_interpreter("3.8", InterpreterSearch())


@pytest.mark.parametrize("version", ["2.7", "3.7.17"])
async def test_a_version_that_is_too_old_is_said_to_be(version):
    with pytest.raises(InterpreterError, match=rf"is '{version}'; `nodeset` needs Python 3\.8 or"):
        await find_interpreter(version, InterpreterSearch())


async def test_a_missing_package_is_named_with_the_command_that_brings_it(tmp_path):
    python = write_python(tmp_path / "python", "3.8.18", missing='["xxhash"]')
    with pytest.raises(InterpreterError, match=r"lacks 'xxhash'.*-m pip install xxhash"):
        await find_interpreter(str(python), InterpreterSearch())


async def test_a_conda_environment_is_found_by_name(tmp_path):
    wanted = write_python(tmp_path / "miniconda3" / "envs" / "sim" / "bin" / "python", "3.8.18")
    search = InterpreterSearch.from_environment({"HOME": str(tmp_path)})
    assert (await find_interpreter("conda:sim", search)).path == wanted


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("sim", {"MAMBA_ROOT_PREFIX": "{0}/forge"}),
        ("sim", {"CONDA_EXE": "{0}/forge/bin/conda"}),
        ("sim", {"CONDA_PREFIX": "{0}/forge/envs/other"}),
        ("sim", {"CONDA_ENVS_PATH": "{0}/nowhere:{0}/forge/envs"}),
        ("base", {"CONDA_PREFIX": "{0}/forge"}),
    ],
)
async def test_conda_is_found_by_its_own_variables(tmp_path, name, variables):
    for prefix in ("forge", "forge/envs/sim"):
        write_python(tmp_path / prefix / "bin" / "python", "3.9.1")
        (tmp_path / prefix / "conda-meta").mkdir()
    environment = {key: text.format(tmp_path) for key, text in variables.items()}
    search = InterpreterSearch.from_environment(environment)
    prefix = "forge" if name == "base" else "forge/envs/sim"
    wanted = tmp_path / prefix / "bin" / "python"
    assert (await find_interpreter(f"conda:{name}", search)).path == wanted


async def test_a_conda_environment_that_is_not_there_is_told_with_those_that_are(tmp_path):
    write_python(tmp_path / "envs" / "sim" / "bin" / "python", "3.9.1")
    search = InterpreterSearch.from_environment({"CONDA_ENVS_PATH": str(tmp_path / "envs")})
    with pytest.raises(InterpreterError, match=r"'smi' found; there are: sim .*conda create"):
        await find_interpreter("conda:smi", search)


async def test_a_named_environment_is_first_looked_for_where_the_user_says(tmp_path):
    write_python(tmp_path / "miniconda3" / "envs" / "sim" / "bin" / "python", "3.8.18")
    wanted = write_python(tmp_path / "mine" / "sim" / "bin" / "python", "3.8.18")
    variables = {"WAYFARE_PYTHONS": str(tmp_path / "mine"), "HOME": str(tmp_path)}
    search = InterpreterSearch.from_environment(variables)
    assert (await find_interpreter("conda:sim", search)).path == wanted


async def test_a_path_that_is_no_program_is_refused(tmp_path):
    with pytest.raises(InterpreterError, match="no executable file"):
        await find_interpreter(str(tmp_path / "nothing"), InterpreterSearch())


def test_threads_are_set_for_every_library_and_the_deployment_has_the_last_word(tmp_path):
    environment = build_environment(
        {"HOME": "/h", "PYTHONPATH": "/mine"},
        nodeset_folder=tmp_path,
        deployment_env={"MKL_NUM_THREADS": "7"},
        threads=1,
    )
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "1"
    assert environment["MKL_NUM_THREADS"] == "7"
    assert environment["PYTHONPATH"] == f"{tmp_path}{os.pathsep}/mine"
    assert environment["HOME"] == "/h"
    assert "PYTHONHASHSEED" not in environment


def test_the_folder_on_a_foreign_path_holds_nodeset_and_what_hosts_it(tmp_path):
    package = tmp_path / "site-packages" / "nodeset"
    package.mkdir(parents=True)
    folder = link_nodeset(tmp_path / "link", package)
    assert sorted(entry.name for entry in folder.iterdir()) == ["nodeset", "nodeset_host.py"]
    assert (folder / "nodeset").resolve() == package
