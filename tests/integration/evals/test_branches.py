"""Independent branches of one graph run at once and share batches; no result knows of it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.evals.hall import VIEWS, write_hall

from wayfare import Run

ROOT = Path(__file__).resolve().parents[3]
WORKSPACE = ROOT / "tests" / "workspace"
BRANCHES = {"directions": "by_direction", "places": "by_place", "colours": "by_colour"}
"""The maps of `r2r_panorama`, each with the nodeset whose only tool in use scores its items."""
ONE_BY_ONE = "\nfor _tool in TOOLS:\n    _tool.max_batch = 1\n"
TOO_SHORT_SECONDS = "0.2"
Evaluate = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_hall(tmp_path_factory.mktemp("hall"))


@pytest.fixture
def evaluate(wayfare: Any, hall: Path) -> Evaluate:
    """Give a function that evaluates `r2r_panorama`, or a variant of it, in the hall."""

    def run(*arguments: str, graph: str = "r2r_panorama") -> dict[str, Any]:
        data = ("--set", f"env_panorama.data_dir={hall}", "--set", "env_panorama.images=images.npz")
        document: dict[str, Any] = wayfare.evaluate(graph, *data, *arguments)
        return document

    return run


def edge(source: str, target: str) -> dict[str, str]:
    (start, output), (end, port) = source.split("."), target.split(".")
    return {"source": start, "sourceHandle": output, "target": end, "targetHandle": port}


def count_views(run: dict[str, Any], branch: str) -> list[int]:
    """Return how many items the map had, each time that it ran."""
    opened = Run.open(run["out"])
    firings = ((row.key, firing) for row in opened.episodes for firing in opened.trajectory(row))
    counts = Counter(
        (key, firing.turns[:-1]) for key, firing in firings if firing.path == f"{branch}/judge"
    )
    return list(counts.values())


def means(run: dict[str, Any]) -> dict[str, float]:
    return {name: run["nodesets"][name]["mean_batch"] for name in BRANCHES.values()}


def test_all_views_of_a_panorama_are_one_batch_and_those_of_more_workers_join(
    evaluate: Evaluate,
) -> None:
    alone, together = evaluate(), evaluate("--workers", "4")

    for branch, scorer in BRANCHES.items():
        views = count_views(alone, branch)
        assert alone["nodesets"][scorer]["batches"] == len(views)
        assert means(alone)[scorer] == sum(views) / len(views) > 1
        assert means(together)[scorer] > means(alone)[scorer]
    assert together["digest"] == alone["digest"]


def write_serial(folder: Path) -> Path:
    """Write `r2r_panorama` into a workspace, each branch of it after the one before."""
    document = json.loads((ROOT / "graphs" / "r2r_panorama.json").read_text())
    order = [edge("directions.score", "places.after"), edge("places.score", "colours.after")]
    document["edges"] += order
    (folder / "graphs").mkdir(parents=True)
    (folder / "graphs" / "serial.json").write_text(json.dumps(document))
    return folder


def write_one_by_one(folder: Path) -> Path:
    """Write a workspace whose scorers hide the shipped ones and take one call at a time."""
    for name in ("env_r2r", "policy_planner"):
        shutil.copytree(ROOT / "nodesets" / name, folder / "nodesets" / name)
    with (folder / "nodesets" / "policy_planner" / "panorama.py").open("a") as source:
        source.write(ONE_BY_ONE)
    return folder


@pytest.fixture
def variants(evaluate: Evaluate, tmp_path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give the runs of the same agent, however its calls come together, one after another."""

    def run() -> Iterator[tuple[str, dict[str, Any]]]:
        for workers in (1, 2, 8):
            yield f"{workers} workers", evaluate("--workers", str(workers))
        yield "in process", evaluate("--in-process")
        serial = ("--workspace", str(write_serial(tmp_path / "serial")))
        yield "branch by branch", evaluate(*serial, "--workers", "2", graph="serial")
        single = ("--workspace", str(write_one_by_one(tmp_path / "single")))
        yield "call by call", evaluate(*single, "--workers", "2")

    return run()


def test_no_result_depends_on_what_ran_at_once(
    variants: Iterator[tuple[str, dict[str, Any]]],
) -> None:
    runs = dict(variants)

    assert {run["status"] for run in runs.values()} == {"done"}
    assert len({run["digest"] for run in runs.values()}) == 1, {n: runs[n]["digest"] for n in runs}
    assert set(means(runs["call by call"]).values()) == {1.0}
    alone, together = means(runs["1 workers"]), means(runs["8 workers"])
    assert all(together[scorer] > alone[scorer] for scorer in alone)
    assert runs["1 workers"]["invariance"]["claimed"]


def write_all_views(folder: Path) -> Path:
    """Write `r2r_panorama` with a branch that scores all 36 views, and chooses without it."""
    document = json.loads((ROOT / "graphs" / "r2r_panorama.json").read_text())
    replaced = ("observe.views", "colours.items"), ("colours.score", "choose.colours")
    gone = [edge(*ends) for ends in replaced]
    look = {"id": "look_around", "type": "env_panorama__observe_views"}
    document["nodes"].insert(4, look)
    document["edges"] = [
        *(item for item in document["edges"] if item not in gone),
        edge("episode.episode_index", "look_around.episode_index"),
        edge("begin.state", "look_around.state"),
        edge("look_around.views", "colours.items"),
    ]
    path = folder / "all_views.json"
    path.write_text(json.dumps(document))
    return path


def test_all_36_views_of_a_place_are_one_batch_and_change_no_other_branch(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    path = str(write_all_views(tmp_path))
    runs = [evaluate("--workers", str(workers), graph=path) for workers in (1, 2, 8)]
    dark = evaluate("--set", "env_panorama.images=", graph=path)

    (tool,) = runs[0]["nodesets"]["by_colour"]["tools"].values()
    assert set(tool["histogram"]) == {"36"}
    for run in runs:
        (tool,) = run["nodesets"]["by_colour"]["tools"].values()
        assert all(int(rows) % VIEWS == 0 for rows in tool["histogram"])
        assert run["metrics"] == dark["metrics"]
    assert len({run["digest"] for run in runs}) == 1
    assert dark["nodesets"]["by_colour"]["batches"] == 0


def write_meeting(folder: Path, use: str, *, is_serial: bool) -> Path:
    """Write a graph of two branches, each a call to a copy of its own."""
    names = {"left": ("a", "b"), "right": ("b", "a")}
    calls = [
        {"id": name, "type": f"{name}__meet", "config": {"own": own, "other": other}}
        for name, (own, other) in names.items()
    ]
    results = [
        {"id": f"{name}_met", "type": "graphOut", "config": {"portName": name}} for name in names
    ]
    edges = [edge(f"{name}.met", f"{name}_met.value") for name in names]
    document = {
        "version": 1,
        "environment": "env_line",
        "nodesets": {"env_line": {}, **{name: {"use": use} for name in names}},
        "nodes": [*calls, *results],
        "edges": [*edges, *([edge("left.met", "right.after")] if is_serial else [])],
    }
    path = folder / "meeting.json"
    path.write_text(json.dumps(document))
    return path


def meet(wayfare: Any, path: Path, *arguments: str) -> dict[str, Any]:
    """Return the share of episodes in which each call met the other."""
    folder = path.parent / "marks"
    folder.mkdir()
    given = [f"nodes.{name}.folder={folder}" for name in ("left", "right")]
    options = [option for text in given for option in ("--set", text)]
    run = wayfare.evaluate(str(path), "--episodes", "3", *options, *arguments)
    return {name: run["metrics"][name]["mean"] for name in ("left", "right")}


@pytest.mark.parametrize("use", ["MeetingNodeSet", "MeetingReplicatedNodeSet"])
def test_the_calls_of_two_branches_are_under_way_at_the_same_time(
    wayfare: Any, tmp_path: Path, use: str
) -> None:
    path = write_meeting(tmp_path, use, is_serial=False)

    assert meet(wayfare, path) == {"left": 1.0, "right": 1.0}


def test_branches_that_after_puts_in_order_do_not_meet(wayfare: Any, tmp_path: Path) -> None:
    path = write_meeting(tmp_path, "MeetingNodeSet", is_serial=True)
    short = ("--set", f"nodes.left.seconds={TOO_SHORT_SECONDS}")

    assert meet(wayfare, path, *short) == {"left": 0.0, "right": 1.0}


def write_twins(folder: Path, *, is_serial: bool) -> Path:
    """Write `line` with a second call of its policy beside the first."""
    document = json.loads((WORKSPACE / "graphs" / "line.json").read_text())
    document["nodes"].append({"id": "twin", "type": "policy_sum__act"})
    document["edges"].append(edge("observe.seen", "twin.seen"))
    if is_serial:
        document["edges"].append(edge("act.gain", "twin.after"))
    path = folder / f"twins_{is_serial}.json"
    path.write_text(json.dumps(document))
    return path


def test_two_branches_that_call_one_tool_are_one_batch_of_two(wayfare: Any, tmp_path: Path) -> None:
    at_once = wayfare.evaluate(str(write_twins(tmp_path, is_serial=False)))
    in_turn = wayfare.evaluate(str(write_twins(tmp_path, is_serial=True)))

    turns = sum(row["steps"] for row in wayfare.show(at_once["out"])["episodes_table"])
    policy = at_once["nodesets"]["policy_sum"]
    assert (policy["batches"], policy["mean_batch"]) == (turns, 2.0)
    serial = in_turn["nodesets"]["policy_sum"]
    assert (serial["batches"], serial["mean_batch"]) == (2 * turns, 1.0)
    assert in_turn["digest"] == at_once["digest"]
