"""A nodeset that breaks the contract is refused, naming file, class and rule."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.errors import AuthorError, ContractError, NodeSetError, UnavailableError
from nodeset.loading import load_nodeset
from nodeset.manifest import build_manifest, list_episodes
from nodeset.source import read_declarations

GOOD = '''
from nodeset import Action, BaseCanvasNode, BaseController, BaseNodeSet, Episode, Field, PortDef

class Step(BaseCanvasNode):
    node_type = "env_line__step"
    input_ports = [PortDef("state", "JSON"), PortDef("action", "ACTION")]
    output_ports = [PortDef("state", "JSON"), PortDef("done", "BOOL")]
    batched = True
    batch_dim = "action"
    default_config = {"gain": 2}

    def forward(self, inputs, ctx):
        return {"state": inputs["state"], "done": [False for _ in ctx.rows]}

class Hand(BaseController):
    fields = [Field("split", "select"), Field("episode_index", "number")]
    actions = [Action("play")]

class LineNodeSet(BaseNodeSet):
    """A line to walk on."""
    name = "env_line"
    parallelism = "shared"
    controller = Hand
    default_config = {"length": 5, "wall": False}

    def __init__(self):
        self.length = self.config["length"]

    def get_tools(self):
        return [Step()]

    def get_eval_metadata(self):
        return {"splits": ["test"], "default_split": "test", "metrics": ["x"], "step_budget": 9}

    def get_episodes(self, split):
        return [Episode(str(i), "flat", info={"goal": i}) for i in range(self.length)]
'''


def load(tmp_path: Path, text: str, **config: object) -> object:
    file = tmp_path / "env_line.py"
    file.write_text(text)
    return load_nodeset(str(file), "env_line", config)


def test_config_is_set_before_init_runs(tmp_path: Path) -> None:
    loaded = load(tmp_path, GOOD, length=7)
    assert loaded.nodeset.length == 7  # type: ignore[attr-defined]
    manifest = build_manifest(loaded)  # type: ignore[arg-type]
    assert manifest["config"] == {"length": 7, "wall": False}
    assert manifest["description"] == "A line to walk on."
    assert [tool["name"] for tool in manifest["tools"]] == ["step"]
    assert len(list_episodes(loaded, "test")) == 7  # type: ignore[arg-type]


BROKEN = [
    ('parallelism = "shared"', 'parallelism = "sharded"', "parallelism='sharded'"),
    ('parallelism = "shared"', 'parallelism = "sha" + "red"', "must be a literal"),
    ('parallelism = "shared"', "if True:\n        parallelism = 'shared'", "inside a block"),
    ("self.length =", "self.parallelism = 'replicated'; self.length =", "on the instance"),
    ("self.length =", "self.name = 'other'; self.length =", "on the instance"),
    (
        "def get_episodes",
        "def begin_episode(self, e): ...\n    def get_episodes",
        "is shared and de",
    ),
    ('name = "env_line"\n', "\n", "has no name"),
    ('name = "env_line"\n', 'name = "env line"\n', "name='env line'"),
    ("[Step()]", "[Step(), Step()]", "repeats node_type 'env_line__step'"),
    ("[Step()]", "[]", "must be a list of tools"),
    ("[Step()]", "[Step]", "instance of a BaseCanvasNode"),
    ('batch_dim = "action"', 'batch_dim = "row"', "batch_dim='row'"),
    ("batched = True", "batched = False", "not batched = True"),
    ('"state", "JSON"), PortDef("action"', '"state", "JSN"), PortDef("action"', "'JSN' is unknown"),
    ('PortDef("done", "BOOL")', 'PortDef("state", "BOOL")', "repeats port 'state'"),
    ('PortDef("state", "JSON"), PortDef("a', 'PortDef("after", "ANY"), PortDef("a', "for ordering"),
    ('"env_line__step"', '"line__step"', "node_type='line__step'"),
    ("def forward", "def backward", "has no forward"),
    ('Field("split", "select")', 'Field("split", "combo")', "of kind 'combo'"),
    ('[Field("split", "select"), ', "[", "no field 'split'"),
    ('[Action("play")]', "[]", "no action 'play'"),
    ("controller = Hand", "controller = Step", "subclass of BaseController"),
    ('"default_split": "test"', '"default_split": "val"', "default_split='val'"),
    ('"step_budget": 9', '"step_budget": 0', "step_budget=0"),
    ('"step_budget": 9', '"submission": {"format": "r2r"}', "a dict of format (r2r, vln_ce,"),
    (
        '"step_budget": 9',
        '"submission": {"format": "r2r", "poses": ["step.pose"]}',
        "poses=['step.pose']; each must be an output port",
    ),
    ('"step_budget": 9', '"metric_definitions": {"x": 3}', "metric_definitions={'x': 3}"),
]


@pytest.mark.parametrize(("good", "bad", "message"), BROKEN)
def test_broken_contract_is_refused(tmp_path: Path, good: str, bad: str, message: str) -> None:
    assert good in GOOD
    with pytest.raises(ContractError) as caught:
        load(tmp_path, GOOD.replace(good, bad))
    text = str(caught.value)
    assert message in text
    assert "env_line.py" in text
    assert "LineNodeSet" in text or "Step" in text or "'env_line'" in text


def test_unknown_configuration_key_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"no configuration 'lenght'; its keys are: length, w"):
        load(tmp_path, GOOD, lenght=3)


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ('"wall": False', '"wall": 2**64', "has int 18446744073709551616 at ['config']['wall']"),
        (
            '"wall": False',
            '"wall": object',
            "at ['config']['wall'] of its manifest; it must be passive",
        ),
        ("batched = True", "batched = True\n    max_batch = 2**64", "at ['tools'][0]['max_batch']"),
        ('"number")', '"number", max=2**64)', "at ['controller']['fields'][1]['max']"),
        (
            '"wall": False',
            '"wall": float("inf")',
            "has float inf at ['default_config']['wall'] of its manifest; it must be a finite",
        ),
        ('"gain": 2', '"gain": float("nan")', "at ['tools'][0]['default_config']['gain']"),
        (
            '"step_budget": 9',
            '"metric_definitions": {"x": {"threshold_m": float("nan")}}',
            "at ['metadata']['metric_definitions']['x']['threshold_m']",
        ),
    ],
)
def test_what_cannot_cross_is_refused_where_it_is_declared(
    tmp_path: Path, good: str, bad: str, message: str
) -> None:
    loaded = load(tmp_path, GOOD.replace(good, bad))
    with pytest.raises(ContractError) as caught:
        build_manifest(loaded)  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert "env_line.py:" in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_setting_that_no_file_of_a_run_can_hold_is_refused(tmp_path: Path, value: float) -> None:
    loaded = load(tmp_path, GOOD, wall=value)
    with pytest.raises(ContractError, match=rf"has float {value} at \['config'\]\['wall'\]"):
        build_manifest(loaded)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (
            "info={'goal': 2**64}",
            r"episode 0 'info' .*: got int 18446744073709551616, .* at \['goal",
        ),
        ("info=3", "episode 0 has info=int 3; it must be a dict"),
        (
            "step_budget=2**64",
            "has step_budget=int 18446744073709551616; it must be a whole number",
        ),
    ],
)
def test_an_episode_that_cannot_cross_is_refused(tmp_path: Path, info: str, message: str) -> None:
    loaded = load(tmp_path, GOOD.replace('info={"goal": i}', info))
    with pytest.raises(NodeSetError, match=message):
        list_episodes(loaded, "test")  # type: ignore[arg-type]


def test_error_of_the_author_keeps_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(AuthorError) as caught:
        load(tmp_path, GOOD.replace("self.length = ", "self.length = 1 / 0 + "))
    assert "ZeroDivisionError" in caught.value.traceback_text
    assert "in __init__" in caught.value.traceback_text


def test_repeated_episode_in_a_split_is_refused(tmp_path: Path) -> None:
    loaded = load(tmp_path, GOOD.replace("Episode(str(i),", "Episode(str(i % 2),"))
    with pytest.raises(ContractError, match="episode 2 repeats id '0' in scene 'flat'"):
        list_episodes(loaded, "test")  # type: ignore[arg-type]
    with pytest.raises(ContractError, match="no split 'val'"):
        list_episodes(loaded, "val")  # type: ignore[arg-type]


def test_an_id_that_no_message_can_hold_is_refused(tmp_path: Path) -> None:
    loaded = load(tmp_path, GOOD.replace("Episode(str(i),", "Episode('\\ud800',"))
    with pytest.raises(
        ContractError, match=r"'env_line', split 'test', episode 0 has id='\\ud800'"
    ):
        list_episodes(loaded, "test")  # type: ignore[arg-type]


def test_episodes_that_are_no_list_are_refused(tmp_path: Path) -> None:
    loaded = load(tmp_path, GOOD.replace("return [Episode(", "[Episode("))
    with pytest.raises(ContractError, match=r"get_episodes\('test'\) returned None; it must"):
        list_episodes(loaded, "test")  # type: ignore[arg-type]


def test_declarations_are_read_without_importing(tmp_path: Path) -> None:
    file = tmp_path / "old.py"
    file.write_text(
        "import a_library_that_is_not_here\n"
        "class Old(BaseNodeSet):\n"
        "    name = 'old'\n"
        "    deployment = Deployment(python='3.8', threads=2, budgets={'call': 5})\n"
    )
    (declaration,) = read_declarations(file)
    assert (declaration.name, declaration.parallelism) == ("old", "replicated")
    assert declaration.deployment.python == "3.8"
    assert declaration.deployment.budget_seconds("call") == 5
    assert declaration.deployment.budget_seconds("initialize") == 600


@pytest.mark.parametrize(
    ("deployment", "message"),
    [
        ("Deployment(pyton='3.8')", "its fields are python"),
        ("Deployment(threads=0)", "threads is 0"),
        ("Deployment(budgets={'cal': 5})", "budgets is"),
        ("make()", "literal Deployment"),
        ("Deployment(python=sys.executable)", "must be a literal"),
    ],
)
def test_bad_deployment_is_refused(tmp_path: Path, deployment: str, message: str) -> None:
    file = tmp_path / "old.py"
    file.write_text(f"class Old(BaseNodeSet):\n    name = 'old'\n    deployment = {deployment}\n")
    with pytest.raises(ContractError, match=message) as caught:
        read_declarations(file)
    assert "old.py:3" in str(caught.value)


def test_sibling_folders_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "geo").mkdir()
    (tmp_path / "geo" / "__init__.py").write_text("")
    (tmp_path / "geo" / "size.py").write_text("SIZE = 4\n")
    text = GOOD.replace("class Step", "from ..geo.size import SIZE\nclass Step", 1)
    (tmp_path / "env_line").mkdir()
    (tmp_path / "env_line" / "__init__.py").write_text(text)
    loaded = load_nodeset(str(tmp_path / "env_line"))
    assert sorted(loaded.source_files) == ["env_line/__init__.py", "geo/__init__.py", "geo/size.py"]


@pytest.mark.parametrize("target", ["missing.py", "no_such_module", "json.no", "../x y.py"])
def test_what_is_nowhere_is_refused(target: str) -> None:
    with pytest.raises(ContractError, match="neither a file or folder nor an importable module"):
        load_nodeset(target)


def test_what_is_unavailable_is_told_as_the_author_says_it(tmp_path: Path) -> None:
    text = GOOD.replace("Episode, Field", "Episode, Field, UnavailableError")
    text = text.replace(
        "return [Episode(", "raise UnavailableError('no maps; run get-maps')\n        ["
    )
    text = text.replace('[str(i), "flat", info={"goal": i}) for i in range(self.length)]', "[]")
    loaded = load(tmp_path, text)
    with pytest.raises(UnavailableError, match=r"^no maps; run get-maps$"):
        list_episodes(loaded, "test")  # type: ignore[arg-type]


def test_an_edit_within_one_second_and_of_the_same_size_is_seen(tmp_path: Path) -> None:
    (tmp_path / "geo").mkdir()
    (tmp_path / "geo" / "__init__.py").write_text("SIZE = 4\n")
    text = GOOD.replace("class Step", "from .geo import SIZE\nclass Step", 1)
    script = (
        "import sys; from nodeset.loading import load_nodeset\n"
        "loaded = load_nodeset(sys.argv[1])\n"
        "print(sys.modules['nodesets.geo'].SIZE, loaded.nodeset.length)\n"
    )
    file = tmp_path / "env_line.py"
    for size in ("4", "5"):
        (tmp_path / "geo" / "__init__.py").write_text(f"SIZE = {size}\n")
        file.write_text(text.replace('"length": 5', f'"length": {size}'))
        for changed in (file, tmp_path / "geo" / "__init__.py"):
            os.utime(changed, (1_000_000_000, 1_000_000_000))
        command = [sys.executable, "-c", script, str(file)]
        given = {"env": {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}, "timeout": HANG_SECONDS}
        answer = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True, **given)
        assert answer.stdout.split() == [size, size]
