"""Names of graphs, nodesets and runs lead nowhere but to these; each refusal names its rule."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wayfare.cli.app import main

Refusal = Callable[..., str]


@pytest.fixture
def refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Refusal:
    """Give a function that runs a command which is refused, and returns what it says."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["wayfare", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        text: str = capsys.readouterr().err
        return text

    return run


@pytest.mark.parametrize("name", ["../x", "/etc", "x" * 300, "\udcff"])
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("eval", "NAME"), "in any workspace. There is: "),
        (("describe", "NAME"), "in any workspace. There is: "),
        (("nodesets", "NAME"), "in any workspace. There is: "),
        (("show", "NAME"), "run folder (one with a run.json); `wayfare runs` lists the runs."),
        (("eval", "--resume", "NAME"), "run folder (one with a run.json); `wayfare runs`"),
    ],
    ids=lambda part: "-".join(part) if isinstance(part, tuple) else "",
)
def test_a_name_that_leads_elsewhere_is_refused(
    refusal: Refusal, command: tuple[str, ...], words: str, name: str
) -> None:
    assert words in refusal(*(name if part == "NAME" else part for part in command))


@pytest.mark.parametrize("name", ["../x", "a/b", "x" * 300, ".."])
@pytest.mark.parametrize("kind", ["nodeset", "graph"])
def test_nothing_is_written_under_a_name_that_leads_elsewhere(
    refusal: Refusal, tmp_path: Path, kind: str, name: str
) -> None:
    more = ("--env", "none") if kind == "graph" else ()
    refusal("new", kind, name, *more, "--dir", str(tmp_path / "here"))
    assert not list(tmp_path.rglob("*.py")) + list(tmp_path.rglob("*.json"))


LONG = "x" * 300


@pytest.mark.parametrize(
    "command",
    [
        ("eval", f"{LONG}.json"),
        ("eval", "line", "--workspace", LONG),
        ("eval", "--resume", "some", "--out", LONG),
        ("new", "nodeset", "some", "--dir", LONG),
        ("new", "graph", "some", "--env", "env_none", "--dir", LONG),
        ("new", "nodeset", "some", "--workspace", LONG),
        ("runs", "--out", LONG),
        ("show", "some", "--out", LONG),
        ("describe", "some", "--workspace", LONG),
        ("call", "some__tool", "--workspace", LONG),
        ("bake", "some", "--out", "store", "--workspace", LONG),
    ],
    ids=" ".join,
)
def test_a_path_that_no_file_can_have_is_refused_in_a_sentence(
    refusal: Refusal, command: tuple[str, ...]
) -> None:
    text = refusal(*command)
    assert text.startswith(("wayfare: ", "the graph"))
    assert "Traceback" not in text


@pytest.mark.parametrize(
    "command",
    [
        ("eval", "line", "--out", ""),
        ("eval", "line", "--out="),
        ("eval", "line", "--workspace", " "),
        ("eval", "--resume", ""),
        ("eval", "line", "--episodes", ""),
        ("eval", "line", "--split", ""),
        ("runs", "--out", ""),
        ("show", "some", "--out", ""),
        ("replay", "some", "--out", ""),
        ("compare", "some", "other", "--out", ""),
        ("export", "some", "--to", "csv", "--out", ""),
        ("export", "some", "--to", ""),
        ("call", "some__tool", "--out", ""),
        ("bake", "some", "--out", ""),
        ("new", "nodeset", "some", "--dir", ""),
        ("new", "graph", "some", "--env", "env_none", "--dir", ""),
    ],
    ids=" ".join,
)
def test_an_option_that_is_empty_is_refused_by_its_name(
    refusal: Refusal, tmp_path: Path, command: tuple[str, ...]
) -> None:
    name = command[-1].rstrip("=") or command[-2]
    option = name if name.startswith("--") else command[-2]
    is_required = command[0] == "bake" or option == "--to"
    remedy = "give it a value" if is_required else "give it a value, or leave it out"
    assert refusal(*command) == f"wayfare: {option} is empty; {remedy}.\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("eval", ""), "GRAPH is empty; give it a value, or leave it out."),
        (("eval", "--json", " "), "GRAPH is empty; give it a value, or leave it out."),
        (("nodesets", "env_gymnasium", ""), "one of [NAME]... is empty"),
        (("describe", ""), "NODESET is empty; give it a value."),
        (("call", "env_drift__step", ""), "one of TOOL [PORT=VALUE]... [then ...] is empty"),
        (("show", ""), "RUN is empty; give it a value."),
        (("replay", "", "--episode", "0", "--node", "a"), "RUN is empty"),
        (("export", "", "--to", "csv"), "RUN is empty"),
        (("compare", "some", ""), "RUN is empty"),
        (("check", "", "--json"), "NODESET|GRAPH is empty"),
        (("bake", "--out", "store", ""), "NODESET is empty"),
        (("new", "nodeset", ""), "NAME is empty"),
        (("new", "graph", "--env", "env_none", "--", ""), "NAME is empty"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_an_argument_that_is_empty_is_refused_by_its_name(
    refusal: Refusal, tmp_path: Path, command: tuple[str, ...], told: str
) -> None:
    assert refusal(*command).startswith(f"wayfare: {told}")
    assert not list(tmp_path.iterdir())


def test_a_setting_may_be_an_empty_text(refusal: Refusal) -> None:
    assert "is empty" not in refusal("describe", "none", "--set", "key=", "--set=other=")
