"""A store that was baked of MiniWorld stands for it: the same bits, the same trajectory."""

from __future__ import annotations

import hashlib
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.deadline import HANG_SECONDS, wait_until

from wayfare import Run

ROOM = ("--set", "env_miniworld.id=MiniWorld-OneRoomS6-v0")
BAKE = ("bake", "env_miniworld", *ROOM, "--episodes", "2", "--node-config", "spacing_m=1.0")
SHARED = {"list", "start", "observe", "act"}
"""The nodes that the agent's two graphs have in common."""


@pytest.fixture
def miniworld(rendering: Callable[[str], Any]) -> Any:
    return rendering("env_miniworld")


def bake(wayfare: Any, out: Path, *arguments: str) -> dict[str, Any]:
    answer = wayfare.run(*BAKE, "--out", str(out), "--json", *arguments)
    assert answer.status == 0, answer.err
    document: dict[str, Any] = answer.document
    return document


def trajectories(summary: dict[str, Any]) -> list[list[tuple[str, tuple[int, ...], bytes]]]:
    """Return what the shared nodes gave in each episode of a run."""
    run = Run.open(summary["out"])
    return [
        [(f.path, f.turns, f.digest) for f in run.trajectory(episode) if f.path in SHARED]
        for episode in run.episodes
    ]


def test_all_rows_are_what_a_fresh_simulator_draws_and_an_agent_goes_the_same_way(
    miniworld: Any, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    baked = bake(miniworld, store, "--workers", "2", "--verify", "100000")
    assert baked["verification"]["rows"] == baked["rows"] > 100
    assert baked["verification"]["different"] == []
    assert len(np.unique(np.load(store / "outputs" / "rgb.npy")[0].reshape(-1, 3), axis=0)) > 50

    budget = ("--step-budget", "60", "--episodes", "2")
    live = miniworld.evaluate("miniworld_grid", *budget)
    runs = [
        miniworld.evaluate(
            "pose_lookup_grid", *budget, "--set", f"env_pose_lookup.store={store}", "--workers", n
        )
        for n in ("1", "2", "8")
    ]
    assert len({run["digest"] for run in runs}) == 1
    on_store, on_simulator = trajectories(runs[0]), trajectories(live)
    assert on_store == on_simulator
    assert [len(episode) for episode in on_store] == [2 + 2 * 60] * 2


def has_rows(store: Path) -> bool:
    return (store / "store.json").exists() and bool(np.load(store / "finished.npy").any())


def test_killed_and_resumed_it_ends_in_the_same_store(miniworld: Any, tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = miniworld.start(*BAKE, "--out", str(killed))
    wait_until(lambda: has_rows(killed))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=HANG_SECONDS)
    resumed = bake(miniworld, killed, "--workers", "2")
    assert 0 < resumed["kept"] <= resumed["rows"]  # all of them if nobody came to kill it in time
    bake(miniworld, whole)
    files = [path.relative_to(whole) for path in whole.rglob("*") if path.is_file()]
    for name in files:
        hashes = {hashlib.sha256((root / name).read_bytes()).digest() for root in (killed, whole)}
        assert len(hashes) == 1, name
