"""Several models look at one ring of views, at all of them at once: a map per model and turn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wayfare import Graph, Run, evaluate
from wayfare.store.run import RunReader

WORKSPACE = Path(__file__).resolve().parents[2] / "workspace"
VIEWS, EPISODES, TURNS = 36, 8, 3
MODELS = ("edges", "colours", "depths")
BROKEN = "colours"
POISON = (3, 1, 5)
"""The episode, the turn and the view at which one model fails."""
TOO_SHORT_SECONDS = 0.2
Play = Callable[..., Run]
Answers = dict[tuple[str, str, tuple[int, ...]], bytes | None]
"""The digests of what calls gave, by episode, path and turns; None: the call failed."""


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Give a function that runs a graph in real processes."""

    def run(graph: Graph, workers: int = 1, **options: Any) -> Run:
        out = tmp_path / "runs"
        return evaluate(graph, workers=workers, workspaces=[WORKSPACE], out=out, **options)

    return run


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def build(tool: str = "judge", *, at_times: str = "", is_serial: bool = False) -> Graph:
    """Return a graph in which each model, in a process of its own, scores all views of a turn.

    A model's metric is its lowest score. The model `at_times` looks in odd turns only; one model
    after the other does if `is_serial`.
    """
    graph = Graph(environment="env_ring")
    index, lowest = graph.episode().episode_index, {}
    with graph.loop("turn") as turn:
        seen = graph.add("env_ring__look", id="look", episode_index=index, turn=turn.step)
        turn.stop(seen.is_last)
        order: dict[str, Any] = {}
        for model in MODELS:
            graph.nodeset(model, use="PolicyViewNodeSet")
            is_rare = model == at_times
            items = graph.switch(seen.views, seen.is_odd).true if is_rare else seen.views
            scores = graph.map(scorer(model, tool), id=model, items=items, **order).score
            order = {"after": scores} if is_serial else {}
            least = graph.add("policy_view__worst", scores=scores)
            lowest[model] = graph.collect(least.score)
    for model, collected in lowest.items():
        graph.output(model, graph.add("policy_view__worst", scores=collected).score)
    return graph


def scorer(model: str, tool: str) -> Graph:
    graph = Graph()
    judged = graph.add(f"{model}__{tool}", id="judge", view=graph.input("item", "IMAGE"))
    graph.output("score", judged.score)
    return graph


def configure(model: str, **config: Any) -> dict[str, Any]:
    return {f"nodes.{model}/judge.{key}": value for key, value in config.items()}


def await_each_other(marks: Path) -> dict[str, Any]:
    """Have each model wait until all of them look at the same views."""
    awaited = [f"{model}-{{place}}" for model in MODELS]
    each = [configure(name, folder=str(marks), own=name, awaited=awaited) for name in MODELS]
    return {key: value for config in each for key, value in config.items()}


def means(run: Run) -> dict[str, float | None]:
    return {model: run.metrics[model].mean for model in MODELS}


def sizes(run: Run, model: str) -> dict[int, int]:
    """Return how many batches of how many rows a model was given."""
    (tool,) = run.summary.nodesets[model].tools.values()
    return {int(rows): batches for rows, batches in tool.histogram.items()}


def answers_of(run: Run, *models: str) -> Answers:
    """Return what these models gave, in episodes that ended in an error too."""
    reader = RunReader.open(run.folder, run.folder)
    found: Answers = {}
    for record in reader.records():
        calls = reader.calls(record.key)
        for call in map(calls.load, calls.entries):
            if call.nodeset in models and call.path.endswith("/judge"):
                found[record.episode_id, call.path, call.turns] = call.digest
    return found


def failures_of(run: Run) -> list[tuple[str, tuple[int, ...]]]:
    """Return where episodes failed: the node and its turns."""
    return [(row.error.node, row.error.turns) for row in run.episodes if row.error]


def test_three_models_look_at_one_observation_at_the_same_time(play: Play, marks: Path) -> None:
    run = play(build("meet"), episodes=2, overrides=await_each_other(marks))

    assert means(run) == dict.fromkeys(MODELS, 1.0)
    for model in MODELS:
        assert sizes(run, model) == {VIEWS: 2 * TURNS}


def test_models_that_after_puts_in_order_do_not_meet(play: Play, marks: Path) -> None:
    short = [configure(model, seconds=TOO_SHORT_SECONDS) for model in MODELS]
    overrides = {**await_each_other(marks), **short[0], **short[1], **short[2]}
    run = play(build("meet", is_serial=True), episodes=1, overrides=overrides)

    assert means(run) == {"edges": 0.0, "colours": 0.0, "depths": 1.0}


def test_the_views_of_several_workers_share_batches(play: Play, marks: Path) -> None:
    awaited = [f"depths-{episode}-0" for episode in range(EPISODES)]
    gate = configure("edges", folder=str(marks), own="edges", awaited=awaited)
    others = [configure(name, folder=str(marks), own=name) for name in ("colours", "depths")]
    overrides = {**gate, **others[0], **others[1]}
    run = play(build("meet"), workers=EPISODES, overrides=overrides)

    # While `edges` serves its first batch it waits for every worker to be under way. So all
    # others have called by the time of its second one.
    found = sizes(run, "edges")
    assert means(run)["edges"] == 1.0
    assert max(found) > VIEWS
    assert all(rows % VIEWS == 0 for rows in found)
    assert sum(rows * batches for rows, batches in found.items()) == VIEWS * TURNS * EPISODES


def test_neither_workers_nor_batches_change_a_score(play: Play) -> None:
    together = [play(build(), workers) for workers in (1, 2, 8)]
    alone = [play(build("judge_one_by_one"), workers) for workers in (1, 8)]
    serial = play(build(is_serial=True), workers=2)

    assert len({run.digest for run in [*together, *alone, serial]}) == 1
    for model in MODELS:
        assert sizes(together[0], model) == {VIEWS: TURNS * EPISODES}
        for run in alone:
            assert sizes(run, model) == {1: VIEWS * TURNS * EPISODES}


def test_padding_keeps_the_last_bits_of_a_model_at_any_number_of_workers(play: Play) -> None:
    runs = [play(build("judge_padded"), workers) for workers in (1, 2, 8)]

    assert len({run.digest for run in runs}) == 1
    assert all(run.summary.invariance.claimed for run in runs)


def test_a_model_that_raises_changes_nothing_that_the_others_give(play: Play) -> None:
    poison = configure(BROKEN, poison=list(POISON))
    well = play(build(), workers=2, record="full")
    runs = [play(build(), workers, overrides=poison, record="full") for workers in (1, 2, 8)]

    number, turn, view = POISON
    expected: Answers = {
        key: digest
        for key, digest in answers_of(well, *MODELS).items()
        if key[0] != str(number) or key[2][0] <= turn
    }
    expected[str(number), f"{BROKEN}/judge", (turn, view)] = None
    for run in runs:
        assert failures_of(run) == [(f"{BROKEN}/judge", (turn, view))]
        assert answers_of(run, *MODELS) == expected
    assert len({run.digest for run in runs}) == 1


def test_a_model_that_ends_its_copy_ends_no_episode_but_its_own(play: Play) -> None:
    poison = configure(BROKEN, poison=list(POISON), is_deadly=True)
    well = play(build(), workers=2)
    runs = [play(build(), workers, overrides=poison, retries=1) for workers in (1, 2, 8)]

    number, *turns = POISON
    for run in runs:
        assert failures_of(run) == [(f"{BROKEN}/judge", tuple(turns))]
        for row, before in zip(run.episodes, well.episodes, strict=True):
            assert row.episode_id == str(number) or row.digest == before.digest
    assert len({run.digest for run in runs}) == 1


def test_which_of_several_deadly_models_fails_does_not_depend_on_time(play: Play) -> None:
    deadly = [configure(model, poison=list(POISON), is_deadly=True) for model in MODELS]
    poison = {**deadly[0], **deadly[1], **deadly[2]}
    runs = [
        play(build(), workers, overrides=poison, retries=1, episodes="2:5")
        for workers in (1, 2, 3, 1)
    ]

    _, *turns = POISON
    for run in runs:
        assert failures_of(run) == [(f"{MODELS[0]}/judge", tuple(turns))]
    assert len({run.digest for run in runs}) == 1


def test_a_model_that_is_switched_off_changes_nothing_that_the_others_give(play: Play) -> None:
    well = play(build(), workers=2, record="full")
    rare = build(at_times=BROKEN)
    runs = [play(rare, workers, record="full") for workers in (1, 2, 8)]

    others = [model for model in MODELS if model != BROKEN]
    looks = {key: text for key, text in answers_of(well, BROKEN).items() if key[2][0] % 2}
    assert len(looks) == VIEWS * EPISODES * (TURNS // 2)
    for run in runs:
        assert answers_of(run, *others) == answers_of(well, *others)
        assert answers_of(run, BROKEN) == looks
    assert len({run.digest for run in runs}) == 1
