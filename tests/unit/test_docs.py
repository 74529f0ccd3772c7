"""Show that nothing which can be written down is left out of the documentation.

Knows nothing of whether what stands there is true.
"""

from __future__ import annotations

import dataclasses
import inspect
import re

import pytest
from typer.core import TyperGroup
from typer.main import get_command

import nodeset
import wayfare
from nodeset import metrics
from nodeset.host.status import ExitStatus as HostStatus
from nodeset.ports import WIRE_TYPES
from nodeset.submission import FORMATS
from scripts.include import BLOCK, include
from wayfare.cli.app import app
from wayfare.cli.bake import EXAMPLES as BAKE_EXAMPLES
from wayfare.cli.call import EXAMPLES as CALL_EXAMPLES
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.export import EXAMPLES as EXPORT_EXAMPLES
from wayfare.cli.new import GRAPH_EXAMPLES, NODESET_EXAMPLES
from wayfare.evals.run import Episodes
from wayfare.graph.builtin import CONFIGS
from wayfare.graph.document import GraphDocument
from wayfare.graph.flatten import MAP, SUBGRAPH


def list_commands(group, prefix=""):
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from list_commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


GROUP = get_command(app)
assert isinstance(GROUP, TyperGroup)
COMMANDS = dict(list_commands(GROUP))


@pytest.fixture(scope="module")
def read_page(repo_root):
    return lambda name: (repo_root / "docs" / f"{name}.md").read_text()


@pytest.fixture(scope="module")
def page(read_page):
    return read_page("commands")


def names_in(text):
    """Return the words in code of a text: `episodes.to_arrow()` gives both of its names."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text))))


def members_of(cls):
    own = {name for name in (*vars(cls), *inspect.get_annotations(cls)) if name[0] != "_"}
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return own | {field.name for field in fields if field.name[0] != "_"}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_and_option_is_documented(name, page):
    section = re.search(rf"^## `wayfare {name}\b.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    parameters = COMMANDS[name].params
    options = {text for option in parameters for text in (*option.opts, *option.secondary_opts)} - {
        "--help"
    }

    missing = [
        text
        for text in options
        if text[:2] == "--" and (section is None or f"`{text}" not in section.group())
    ]

    assert missing == [], f"add to docs/commands.md, section `wayfare {name}`"


def test_options_that_must_be_given_are_marked(page):
    required = {
        option.opts[0]
        for command in COMMANDS.values()
        for option in command.params
        if option.required and option.opts[0][:2] == "--"
    }

    marked = re.findall(r"^\| `(--[a-z-]+).*\*\*required\*\* \|$", page, re.MULTILINE)
    assert set(marked) == required


@pytest.mark.parametrize(
    "line",
    [*BAKE_EXAMPLES, *CALL_EXAMPLES, *EXPORT_EXAMPLES, *NODESET_EXAMPLES, *GRAPH_EXAMPLES],
)
def test_the_examples_of_the_help_stand_on_the_page(line, page):
    assert f"\n$ {line}\n" in page


def test_no_documented_command_is_made_up(page):
    titles = re.findall(r"^## `wayfare ([a-z ]+)", page, re.MULTILINE)

    assert {title.strip() for title in titles} == set(COMMANDS)


def test_every_exit_status_is_documented(page, read_page):
    assert [status for status in ExitStatus if f"\n| {status.value} |" not in page] == []

    architecture = read_page("architecture")
    assert [status for status in HostStatus if f"`{status.value}`" not in architecture] == []


def test_every_setting_is_documented(page, repo_root):
    sources = [*(repo_root / "src").rglob("*.py"), *(repo_root / "nodesets").rglob("*.py")]

    named = {name for path in sources for name in re.findall(r"WAYFARE_[A-Z]+", path.read_text())}

    assert sorted(name for name in named if f"`{name}`" not in page) == []


@pytest.mark.parametrize("name", sorted({*CONFIGS, SUBGRAPH, MAP}))
def test_every_built_in_is_documented_with_its_configuration(name, read_page):
    row = re.search(rf"^\| `{name}` \|.*$", read_page("graphs"), re.MULTILINE)
    fields = CONFIGS[name].model_fields if name in CONFIGS else {}

    assert row is not None, "add to docs/graphs.md, the table of built-in nodes"
    keys = {field.alias or key for key, field in fields.items()}
    assert keys - names_in(row.group()) == set()


def test_every_key_of_a_graph_document_is_documented(read_page):
    page = read_page("graphs")
    keys = {field.alias or name for name, field in GraphDocument.model_fields.items()}

    assert [key for key in keys if f"`{key}`" not in page] == []


@pytest.mark.parametrize("name", sorted(nodeset.__all__))
def test_every_public_name_of_nodeset_is_documented(name, read_page):
    page, value = read_page("nodeset"), getattr(nodeset, name)
    is_error = inspect.isclass(value) and issubclass(value, Exception)

    assert name in names_in(page)
    missing = set() if is_error else members_of(value) - names_in(page)
    assert missing == set(), f"add to docs/nodeset.md, {name}"


def test_every_wire_type_is_documented(read_page):
    page = read_page("nodeset")

    assert [kind for kind in (*WIRE_TYPES, "LIST[T]") if f"\n| `{kind}` |" not in page] == []


def test_every_metric_is_documented(read_page):
    public = {
        name
        for name, value in vars(metrics).items()
        if name[0] != "_"
        and (inspect.isfunction(value) and value.__module__.startswith("nodeset.metrics"))
    }

    assert public - names_in(read_page("metrics")) == set()


def test_every_format_of_a_submission_is_documented(read_page):
    assert [name for name in FORMATS if f"\n| `{name}` |" not in read_page("nodeset")] == []


def test_every_kind_of_action_space_is_documented(read_page, repo_root):
    source = (repo_root / "nodesets" / "env_gymnasium" / "space.py").read_text()
    kinds = set(re.findall(r'"kind": "(\w+)"', source))

    assert [kind for kind in kinds if f"\n| `{kind}` |" not in read_page("tutorial")] == []


def test_the_python_api_is_documented(read_page):
    names = names_in(read_page("python"))
    public = {name for name in dir(wayfare) if name in wayfare._HOME}

    assert public - names == set()
    for cls in (wayfare.Graph, wayfare.Run, wayfare.Bake, wayfare.Surroundings, Episodes):
        inherited = {name for base in cls.__mro__[:-1] for name in members_of(base)}
        methods = inherited if cls is wayfare.Graph else members_of(cls)
        assert methods - names - set(dir(list)) == set(), f"add to docs/python.md, {cls.__name__}"
    for function in (wayfare.evaluate, wayfare.bake):
        arguments = set(inspect.signature(function).parameters)
        assert arguments - names == set(), f"add to docs/python.md, {function.__name__}"


def bare_signature(function):
    """Return a signature as the pages write it: without types and what a method is bound to."""
    bound = inspect.signature(function)
    plain = [
        parameter.replace(annotation=parameter.empty)
        for parameter in bound.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    return str(bound.replace(parameters=plain, return_annotation=bound.empty))


def test_signatures_on_the_pages_are_those_of_the_code(read_page):
    methods = [getattr(wayfare.Graph, name) for name in dir(wayfare.Graph)]
    written = {
        "metrics": [getattr(metrics, name) for name in dir(metrics)],
        "python": [*methods, wayfare.read_manifests],
    }
    for name, values in written.items():
        page = read_page(name)
        functions = [f for f in values if inspect.isroutine(f) and f.__name__[0] != "_"]
        wanted = [f"`{f.__name__}{bare_signature(f)}`" for f in functions]
        assert [text for text in wanted if text not in page] == [], f"docs/{name}.md"
    assert f"`Graph{bare_signature(wayfare.Graph)}`" in read_page("python")
    assert f"`Run.open{bare_signature(wayfare.Run.open)}`" in read_page("python")


def test_code_on_the_pages_is_that_of_files_which_tests_run(repo_root):
    for path in (repo_root / "docs").rglob("*.md"):
        text = path.read_text()
        assert include(text, repo_root) == text, f"{path.name}: run python scripts/include.py"
        unmarked = re.findall(r"^```(?:python|json)\b.*\n(.*)", BLOCK.sub("", text), re.MULTILINE)
        assert unmarked == [], f"{path.name}: move this into examples/ or docs/snippets/"


def test_a_marked_block_is_written_from_the_section_that_it_names(tmp_path):
    source = tmp_path / "examples" / "two.py"
    source.parent.mkdir()
    source.write_text("def f():\n    # start of b\n    x = 1\n    # end of b\n")
    page = "Text\n\n<!-- from: examples/two.py:b -->\n```python\nold\n```\n"

    assert include(page, tmp_path) == page.replace("old", "x = 1")
    with pytest.raises(ValueError, match="has no lines '# start of c'"):
        include(page.replace(":b", ":c"), tmp_path)
