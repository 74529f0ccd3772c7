"""Hold the documents to what they promise: the first lines, the example, the links.

Knows nothing of what the commands do.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nodeset.loading import load_nodeset

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "packages/nodeset/README.md")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def documents(root: Path) -> list[Path]:
    return [*(root / name for name in DOCUMENTS), *sorted((root / "docs").rglob("*.md"))]


def test_the_readme_begins_with_the_main_job_and_the_tests_in_one_line_each(repo_root):
    first, second, *_ = blocks((repo_root / "README.md").read_text(), "sh")

    assert first.startswith("sh scripts/wayfare eval minigrid_planner --workers 4")
    assert second == "sh scripts/test\n"
    assert first.count("\n") == second.count("\n") == 1


@pytest.mark.parametrize("name", ["README.md", "packages/nodeset/README.md"])
def test_the_example_nodeset_loads_and_computes(name, repo_root, tmp_path):
    example, *_ = blocks((repo_root / name).read_text(), "python")
    path = tmp_path / "nodesets" / "arithmetic.py"
    path.parent.mkdir()
    path.write_text(example)

    loaded = load_nodeset(str(path), "arithmetic")

    assert loaded.parallelism == "shared"
    assert loaded.tools["double"].forward({"x": 1.5}, None) == {"y": 3.0}


def test_the_python_example_is_the_script_that_is_run(repo_root):
    *_, example = blocks((repo_root / "README.md").read_text(), "python")

    assert example == (repo_root / "docs" / "snippets" / "readme.py").read_text()


def test_every_relative_link_leads_to_a_file(repo_root):
    dead = [
        f"{page.relative_to(repo_root)}: {target}"
        for page in documents(repo_root)
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert dead == []


def test_every_decision_stands_in_the_index(repo_root):
    folder = repo_root / "docs" / "decisions"
    index = (folder / "index.md").read_text()

    missing = [page.name for page in folder.glob("[0-9]*.md") if page.name not in index]

    assert missing == []


def test_every_shipped_graph_stands_in_the_readme(repo_root):
    text = (repo_root / "README.md").read_text()

    assert [
        p.stem for p in (repo_root / "graphs").glob("*.json") if f"`{p.stem}`" not in text
    ] == []
