"""Finding nodesets and graphs in workspaces without importing them."""

import pytest

from wayfare.fleet.errors import UnknownNameError, UnreadableError, WorkspaceError
from wayfare.fleet.registry import WorkspaceComponentRegistry, find_shipped_workspace
from wayfare.graph.document import read_graph

NODESET = """
raise RuntimeError("nobody imports this")
class A(BaseNodeSet):
    name = {name!r}
    parallelism = {mode!r}
"""


def make_workspace(folder, *names, mode="replicated"):
    (folder / "nodesets").mkdir(parents=True)
    (folder / "graphs").mkdir()
    for name in names:
        (folder / "nodesets" / f"{name}.py").write_text(NODESET.format(name=name, mode=mode))
        (folder / "graphs" / f"{name}.json").write_text("{}")
    return folder


def test_the_users_nodeset_hides_the_shipped_one_of_its_name(tmp_path):
    shipped = make_workspace(tmp_path / "shipped", "env", "policy")
    mine = make_workspace(tmp_path / "mine", "env")
    registry = WorkspaceComponentRegistry([mine], shipped=shipped)
    assert registry.find_nodeset("env").path == mine / "nodesets" / "env.py"
    assert registry.find_graph("env").path == mine / "graphs" / "env.json"
    assert registry.find_nodeset("policy").is_shipped


def test_a_name_that_two_workspaces_of_the_user_hold_is_refused_with_both_files(tmp_path):
    folders = [make_workspace(tmp_path / name, "env") for name in ("a", "b")]
    registry = WorkspaceComponentRegistry(folders, shipped=make_workspace(tmp_path / "s"))
    with pytest.raises(WorkspaceError, match=r"twice: .*/a/nodesets/env.py and .*/b/nodesets"):
        registry.find_nodeset("env")


def test_a_broken_nodeset_is_listed_with_its_reason_and_disturbs_no_other(tmp_path):
    folder = make_workspace(tmp_path / "mine", "env")
    (folder / "nodesets" / "odd.py").write_text(NODESET.format(name="odd", mode="sharded"))
    registry = WorkspaceComponentRegistry([folder], shipped=make_workspace(tmp_path / "s"))
    assert [entry.name for entry in registry.nodesets] == ["env"]
    assert "odd.py:5" in registry.broken[0].reason
    with pytest.raises(UnreadableError) as refused:
        registry.find_nodeset("odd")
    reason, remedy = str(refused.value).splitlines()
    assert reason.startswith(f"{folder}/nodesets/odd.py:5: nodeset class A declares parallelism=")
    assert remedy == "Mend the file; until then there is no nodeset 'odd'."


def test_a_name_that_nothing_has_may_be_in_a_file_that_can_not_be_read(tmp_path):
    folder = make_workspace(tmp_path / "mine", "env")
    (folder / "nodesets" / "odd.py").write_text(NODESET.format(name="other", mode="sharded"))
    registry = WorkspaceComponentRegistry([folder], shipped=make_workspace(tmp_path / "s"))
    with pytest.raises(UnknownNameError) as refused:
        registry.find_nodeset("other")
    rule, hint, reason = str(refused.value).splitlines()
    assert rule.startswith("no nodeset 'other' in any workspace. There is: env.")
    assert hint == "It may be in what can't be read:"
    assert reason.startswith(f"  {folder}/nodesets/odd.py:5: nodeset class A declares")


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_refused_as_such(tmp_path, name):
    registry = WorkspaceComponentRegistry([], shipped=make_workspace(tmp_path, "env"))
    with pytest.raises(UnknownNameError, match=r"the name of a graph is empty.*--graphs` lists"):
        registry.find_graph(name)
    with pytest.raises(UnknownNameError, match="the name of a nodeset is empty"):
        registry.find_nodeset(name)


def test_a_link_that_leads_out_of_the_workspace_is_not_followed(tmp_path):
    (tmp_path / "secret.py").write_text(NODESET.format(name="secret", mode="shared"))
    folder = make_workspace(tmp_path / "mine")
    (folder / "nodesets" / "secret.py").symlink_to(tmp_path / "secret.py")
    registry = WorkspaceComponentRegistry([folder], shipped=make_workspace(tmp_path / "s"))
    assert registry.nodesets == []
    assert "outside its workspace" in registry.broken[0].reason


def test_an_alias_is_a_second_instance_with_a_configuration_of_its_own(tmp_path):
    folder = make_workspace(tmp_path / "mine", "policy", mode="shared")
    registry = WorkspaceComponentRegistry([folder], shipped=make_workspace(tmp_path / "s"))
    graph = read_graph(
        {
            "version": 1,
            "nodes": [{"id": "a", "type": "policy__act"}, {"id": "b", "type": "other__act"}],
            "nodesets": {"other": {"use": "policy", "config": {"k": 1, "j": 2}}},
        }
    )
    first, second = registry.list_members(graph, 4, {"other": {"k": 5}})
    assert (first.instance, first.config) == ("policy", {})
    assert (second.instance, second.config) == ("other", {"k": 5, "j": 2})
    assert second.spec("other").name == "policy"


def test_a_nodesets_name_in_a_graph_can_not_lead_anywhere(tmp_path):
    folder = make_workspace(tmp_path / "mine", "policy")
    registry = WorkspaceComponentRegistry([folder], shipped=make_workspace(tmp_path / "s"))
    nodesets = {"../../etc/x": {"use": "policy"}}
    graph = read_graph({"version": 1, "nodes": [], "nodesets": nodesets})
    with pytest.raises(WorkspaceError, match=r"'\.\./\.\./etc/x'.*letters"):
        registry.list_members(graph, 1, {})


def test_the_shipped_workspace_is_where_nodesets_and_graphs_are():
    shipped = find_shipped_workspace()
    assert (shipped / "nodesets").is_dir()


def test_a_broken_nodeset_of_a_graph_is_told_from_one_that_is_nowhere(tmp_path):
    folder = make_workspace(tmp_path / "mine")
    (folder / "nodesets" / "odd.py").write_text("class (:\n")
    registry = WorkspaceComponentRegistry([folder], shipped=make_workspace(tmp_path / "s"))
    nodes = [{"id": name, "type": f"{name}__x"} for name in ("odd", "away")]
    missing = registry.find_missing(read_graph({"version": 1, "nodes": nodes}))
    assert isinstance(missing["odd"], UnreadableError)
    assert "odd.py:1: cannot be read as Python" in missing["odd"].reason
    assert isinstance(missing["away"], UnknownNameError)


@pytest.mark.parametrize("name", ["/etc", "a b", "a" * 101, "a\0", "é"])
def test_an_instance_whose_name_is_no_name_is_refused_by_its_rule(tmp_path, name):
    registry = WorkspaceComponentRegistry([], shipped=make_workspace(tmp_path, "env"))
    node = {"id": "a", "type": f"{name}__act"}
    graph = read_graph({"version": 1, "nodes": [node], "nodesets": {name: {"use": "A"}}})
    with pytest.raises(WorkspaceError, match="must be at most 100 letters"):
        registry.list_members(graph, 1, {})
