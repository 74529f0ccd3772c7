"""A person at a shared copy's controller reaches it and disturbs no run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.deadline import HANG_SECONDS

from wayfare.evals.drain import Drain
from wayfare.evals.evaluation import Evaluation
from wayfare.evals.header import EvalRequest
from wayfare.evals.opening import NewRun
from wayfare.fleet.launcher import NO_WORKER, Copy, CopySpec
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.document import load_graph
from wayfare.store.records import EpisodeKey, EpisodeRecord, ErrorRecord, RunHeader
from wayfare.store.room import Room
from wayfare.store.secret import Secrets
from wayfare.store.summary import RunSummary

WORKSPACE = Path(__file__).parents[2] / "workspace"
CALLS = 1000
VOLLEY = 10
"""So many at once: the person is to be done long before the run."""
ASKS = (("field", "split", "test"), ("field", "episode_index", 3), ("action", "play", None))


class WatchedLauncher:
    """Starts copies on this machine and remembers them."""

    def __init__(self, launcher: LocalLauncher) -> None:
        self._launcher = launcher
        self.copies: dict[str, Copy] = {}

    async def start(self, spec: CopySpec) -> Copy:
        copy = await self._launcher.start(spec)
        self.copies[spec.tag] = copy
        return copy


class Person:
    """Watches a run; once it has begun, plays with the environment's controller all the time.

    That is until an episode has ended, and for so many calls at least.
    """

    def __init__(self, launcher: WatchedLauncher, calls: int) -> None:
        self._launcher = launcher
        self._calls = calls
        self.playing: asyncio.Task[int] | None = None
        self.finished_by_then, self.played = -1, 0
        self._finished = 0

    def run_started(self, header: RunHeader, metrics: Any, kept: Any) -> None:
        self.playing = asyncio.ensure_future(self._play())

    def episode_started(self, worker: int, key: EpisodeKey, attempt: int) -> None: ...

    def attempt_failed(self, worker: int, key: EpisodeKey, error: ErrorRecord) -> None: ...

    def episode_finished(self, record: EpisodeRecord) -> None:
        self._finished += 1

    async def _play(self) -> int:
        told, number = 0, 0
        link = await self._launcher.copies["env_line"].connect(NO_WORKER)
        while number < self._calls or (self._calls and not self._finished):
            volley = range(number, number + VOLLEY)
            told = max(await asyncio.gather(*(ask(link, ASKS[n % len(ASKS)]) for n in volley)))
            number += VOLLEY
        self.finished_by_then, self.played = self._finished, number
        await link.close()
        return told


async def ask(link: Any, asked: tuple[str, str, Any]) -> int:
    """Ask the controller for something; return how often it has been asked by then."""
    verb, name, value = asked
    given: dict[str, Any] = {"params": {}} if verb == "action" else {"value": value}
    reply = await link.request(
        "controller", budget_seconds=HANG_SECONDS, verb=verb, name=name, **given
    )
    told: int = reply["result"]["told"]
    return told


async def evaluate(out: Path, calls: int) -> tuple[RunSummary, Person, int]:
    document = load_graph(WORKSPACE / "graphs" / "line.json")
    data = json.loads((WORKSPACE / "graphs" / "line.json").read_text())
    data["nodesets"] = {"env_line": {"config": {"count": 150}}}
    request = EvalRequest(document=document.model_validate(data), graph_name="line", worker_count=4)
    async with LocalLauncher(LocalSettings.from_environment({"PATH": "/usr/bin"})) as local:
        launcher, room = WatchedLauncher(local), Room(print)
        person = Person(launcher, calls)
        summary = await Evaluation(
            request,
            registry=WorkspaceComponentRegistry([WORKSPACE]),
            launcher=launcher,
            observer=person,
            drain=Drain(),
            notify=print,
            opening=NewRun(request, out, room),
            room=room,
            secrets=Secrets(),
        ).run()
        assert person.playing is not None
        return summary, person, await person.playing


def test_a_thousand_controller_calls_reach_it_and_leave_the_digest(tmp_path: Path) -> None:
    alone, _, told = asyncio.run(evaluate(tmp_path, 0))
    assert told == 0
    disturbed, person, told = asyncio.run(evaluate(tmp_path, CALLS))
    assert told == person.played >= CALLS
    assert 0 < person.finished_by_then <= 150
    assert disturbed.digest == alone.digest
    (copy,) = disturbed.nodesets["env_line"].copies
    assert copy.preflights == 0
