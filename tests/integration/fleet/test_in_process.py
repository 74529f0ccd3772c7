"""Copies inside the process of the evaluation: the same calls, checks and digests."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.context import EpisodeContext
from nodeset.errors import ContractError, PortError
from wayfare.fleet.errors import CopyFailedError, FleetSetupError
from wayfare.fleet.in_process import InProcessLauncher
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.pool import EnvWorkerPool
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.calls import ToolCall
from wayfare.graph.document import read_graph

HERE = Path(__file__).parent
EPISODE = EpisodeContext(index=3, id="3", split="all", seed=11)


def make_graph(*types, **nodesets):
    nodes = [{"id": name, "type": name} for name in types]
    return read_graph({"version": 1, "nodes": nodes, "nodesets": nodesets})


def call(node_type, path="n", turn=0, **inputs):
    nodeset, _, tool = node_type.partition("__")
    return ToolCall(path, nodeset, tool, {}, inputs, turn, (turn,), 5)


BOTH = make_graph("env_line__step", "policy_twice__act")


@asynccontextmanager
async def started(graph, is_in_process, worker_count=1):
    registry = WorkspaceComponentRegistry([HERE])
    settings = LocalSettings.from_environment(os.environ)
    async with asyncio.timeout(HANG_SECONDS), LocalLauncher(settings) as local:
        launcher = InProcessLauncher(local, print) if is_in_process else local
        starting = registry.ensure_nodesets_for_graph(graph, worker_count, launcher)
        async with await starting as fleet:
            await fleet.initialize_all()
            async with EnvWorkerPool(fleet, "env_line") as pool:
                yield fleet, pool


async def walk(is_in_process):
    async with started(BOTH, is_in_process) as (_, pool):
        worker = pool.workers[0]
        await worker.open_episode(EPISODE)
        for turn in range(4):
            await asyncio.gather(
                worker.invoke(call("env_line__step", "step", turn, move=turn)),
                *(worker.invoke(call("policy_twice__act", p, turn, number=turn)) for p in "ab"),
            )
        return sorted(await worker.close_episode())


async def test_an_episode_has_the_same_digests_in_process_as_in_processes():
    inside, outside = await walk(True), await walk(False)
    assert len(inside) == 12
    assert inside == outside


async def test_copies_are_this_process():
    async with started(BOTH, True) as (fleet, pool):
        assert {counter.pid for counter in fleet.list_counters()} == {os.getpid()}
        await pool.workers[0].open_episode(EPISODE)
        outputs = await pool.workers[0].invoke(call("env_line__step", move=1))
        assert outputs["pid"] == os.getpid()
        assert [counter.preflights for counter in fleet.list_counters()] == [1, 0]


async def test_values_are_checked_as_they_are_in_processes():
    async with started(BOTH, True) as (_, pool):
        await pool.workers[0].open_episode(EPISODE)
        with pytest.raises(PortError, match="env_line__step"):
            await pool.workers[0].invoke(call("env_line__step", move="left"))


async def test_several_workers_are_refused():
    with pytest.raises(FleetSetupError, match="--workers 1"):
        async with started(BOTH, True, worker_count=2):
            pass


async def test_a_class_that_breaks_the_contract_is_refused_as_in_processes():
    graph = make_graph("policy_twice__act", policy_twice={"config": {"nonsense": 1}})
    with pytest.raises(ContractError, match="'nonsense'"):
        async with started(graph, True):
            pass


async def test_a_closed_fleet_answers_no_more():
    async with started(BOTH, True) as (fleet, pool):
        await fleet.close()
        with pytest.raises(CopyFailedError):
            await pool.workers[0].open_episode(EPISODE)


async def test_a_nodeset_of_another_interpreter_stays_in_a_process_and_it_says_so(tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (tmp_path / "nodesets").mkdir()
    text = (HERE / "nodesets" / "policy_twice.py").read_text().replace("policy_twice", "other")
    place = f'"shared"\n    deployment = Deployment(python="{python}")'
    text = text.replace('"shared"', place).replace("PortDef\n", "Deployment, PortDef\n", 1)
    (tmp_path / "nodesets" / "other.py").write_text(text)
    registry = WorkspaceComponentRegistry([tmp_path])
    settings = LocalSettings.from_environment(os.environ)
    async with asyncio.timeout(HANG_SECONDS), LocalLauncher(settings) as local:
        notices: list[str] = []
        launcher = InProcessLauncher(local, notices.append)
        starting = registry.ensure_nodesets_for_graph(make_graph("other__act"), 1, launcher)
        async with await starting as fleet:
            assert fleet.list_counters()[0].pid != os.getpid()
    assert "'other' runs in a process of its own" in notices[0]
