"""Show that what `wayfare new` writes keeps the contract, and that it never overwrites."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from typer.testing import CliRunner

from nodeset.loading import load_nodeset
from nodeset.manifest import build_manifest, list_episodes
from wayfare.cli import new
from wayfare.cli.choice import make_agent
from wayfare.evals.errors import SetupError
from wayfare.graph.validate import validate

KINDS = {
    ("--env", "replicated"): "env_hall",
    ("--env", "shared"): "env_pure",
    ("--policy", "replicated"): "policy_hall",
    ("--policy", "shared"): "policy_pure",
}
ENVIRONMENTS = [name for (kind, _), name in KINDS.items() if kind == "--env"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Give `wayfare new …` in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WAYFARE_WORKSPACE", raising=False)

    def command(*arguments):
        result = CliRunner().invoke(new.app, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.output

    return command


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """Give a function from a nodeset's name to what was written under it, loaded."""
    folder = tmp_path_factory.mktemp("written")
    for (kind, mode), name in KINDS.items():
        arguments = ["nodeset", name, kind, "--mode", mode, "--dir", str(folder)]
        assert CliRunner().invoke(new.app, arguments).exit_code == 0
    return lambda name: load_nodeset(str(folder / "nodesets" / f"{name}.py"), name)


@pytest.mark.parametrize(("flags", "name"), KINDS.items(), ids=str)
def test_a_written_nodeset_is_what_was_asked_for(load, flags, name):
    kind, mode = flags
    loaded = load(name)

    assert loaded.parallelism == mode
    assert all(tool.batched == (mode == "shared") for tool in loaded.tools.values())
    assert (loaded.metadata is not None) == (kind == "--env")
    assert (loaded.controller is not None) == (flags == ("--env", "replicated"))
    if loaded.metadata is not None:
        assert len(list_episodes(loaded, "test")) == 20


@pytest.mark.parametrize("name", KINDS.values())
def test_a_written_nodeset_suits_old_interpreters_and_narrow_screens(load, name):
    text = load(name).declaration.path.read_text()

    ast.parse(text, feature_version=(3, 8))
    assert max(map(len, text.splitlines())) <= 100
    assert len(text.splitlines()) <= 120


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("policy", ["policy_hall", "policy_pure"])
def test_what_is_written_can_be_wired(load, environment, policy):
    manifests = {name: build_manifest(load(name)) for name in (environment, policy)}

    agent = make_agent("graph", manifests[environment], manifests[policy])

    assert validate(agent.document, manifests) == []
    assert agent.wiring.unwired == []


def test_the_written_episode_begins_anew_each_time(load):
    nodeset = load("env_hall").nodeset
    nodeset.begin(1)
    nodeset.move(1)
    nodeset.begin(1)

    assert np.array_equal(nodeset.observe(), [0, 4])


def test_a_file_that_is_there_is_left_as_it_is(run, tmp_path):
    run("nodeset", "mine")
    (tmp_path / "nodesets" / "mine.py").write_text("# mine\n")

    with pytest.raises(SetupError, match="is there already"):
        run("nodeset", "mine", "--policy")
    assert (tmp_path / "nodesets" / "mine.py").read_text() == "# mine\n"


def test_a_name_that_another_workspace_holds_is_refused(run):
    run("nodeset", "mine", "--dir", "other")

    with pytest.raises(SetupError, match=r"nodeset 'mine' is there already: .*other"):
        run("nodeset", "mine", "--workspace", "other")
    with pytest.raises(SetupError, match="nodeset 'policy_planner' is there already"):
        run("nodeset", "policy_planner")


@pytest.mark.parametrize("name", ["my__env", "9env", "my-env", "../env", "env_", "", "x" * 101])
def test_a_name_that_no_nodeset_can_have_is_refused(run, tmp_path, name):
    with pytest.raises(SetupError, match="can't be called"):
        run("nodeset", name)
    assert not (tmp_path / "nodesets").exists()


@pytest.mark.parametrize("name", ["a/b", "graph.json", "", "-a", "x" * 101])
def test_a_name_that_no_graph_can_have_is_refused(run, name):
    with pytest.raises(SetupError, match="can't be called"):
        run("graph", "--env", "env", "--", name)


@pytest.mark.parametrize("kind", ["nodeset", "graph"])
def test_a_name_that_is_too_long_is_told_its_length_and_the_bound(run, kind):
    more = ["--env", "env"] if kind == "graph" else []
    with pytest.raises(SetupError, match="has 300 characters: a name is at most 100 letters"):
        run(kind, *more, "x" * 300)
