"""Copies, workers and episodes with real processes."""

import asyncio
import os
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.context import EpisodeContext
from wayfare.fleet.errors import BudgetExceededError, CopyFailedError, CopyStartError
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


LINE = make_graph("env_line__step")
BOTH = make_graph("env_line__step", "policy_twice__act")


def call(node_type, path="n", turn=0, **inputs):
    nodeset, _, tool = node_type.partition("__")
    return ToolCall(path, nodeset, tool, {}, inputs, turn, (turn,), 5)


@asynccontextmanager
async def local_launcher():
    async with (
        asyncio.timeout(HANG_SECONDS),
        LocalLauncher(LocalSettings.from_environment(os.environ)) as it,
    ):
        yield it


@asynccontextmanager
async def started(graph, worker_count):
    registry = WorkspaceComponentRegistry([HERE])
    async with local_launcher() as launcher:
        starting = registry.ensure_nodesets_for_graph(graph, worker_count, launcher)
        async with await starting as fleet:
            await fleet.initialize_all()
            async with EnvWorkerPool(fleet, "env_line") as pool:
                yield fleet, pool


def is_running(pid):
    return Path(f"/proc/{pid}").exists()


async def test_four_copies_start_side_by_side_with_tags_and_serve_one_worker_each():
    async with started(BOTH, 4) as (fleet, pool):
        counters = {c.tag: c for c in fleet.list_counters()}
        assert list(counters) == [*(f"env_line#{i}" for i in range(4)), "policy_twice"]
        assert [counters[f"env_line#{i}"].workers for i in range(4)] == [(0,), (1,), (2,), (3,)]
        assert counters["policy_twice"].workers == (0, 1, 2, 3)
        await asyncio.gather(*(worker.open_episode(EPISODE) for worker in pool.workers))
        steps = [worker.invoke(call("env_line__step", move=1)) for worker in pool.workers]
        pids = [outputs["pid"] for outputs in await asyncio.gather(*steps)]
        assert pids == [counters[f"env_line#{i}"].pid for i in range(4)]
        assert [w.server_url_overrides.keys() for w in pool.workers] == [{"env_line"}] * 4
    assert not any(map(is_running, pids))


async def test_one_worker_has_no_overrides_and_an_untagged_copy():
    async with started(BOTH, 1) as (fleet, pool):
        assert [c.tag for c in fleet.list_counters()] == ["env_line", "policy_twice"]
        assert pool.workers[0].server_url_overrides == {}
        assert pool.workers[0].controller_overrides == {}
        await pool.workers[0].open_episode(EPISODE)
        assert (await pool.workers[0].invoke(call("env_line__step", move=2)))["at"] == 2


async def test_an_attempt_begins_with_begin_episode_and_then_the_controller():
    async with started(LINE, 2) as (fleet, pool):
        await pool.workers[1].open_episode(EPISODE)
        told = await pool.workers[1].invoke(call("env_line__told"))
        assert told["told"] == [
            ["begin", "3"],
            ["split", "all"],
            ["episode_index", 3],
            ["play", None],
        ]
        assert [c.preflights for c in fleet.list_counters()] == [0, 1]


async def test_an_episode_closes_with_a_digest_for_every_call_the_same_in_every_attempt():
    async with started(BOTH, 2) as (_fleet, pool):
        firings = []
        for worker in (*pool.workers, pool.workers[0]):
            await worker.open_episode(EPISODE)
            for turn in range(3):
                await worker.invoke(call("env_line__step", "step", turn, move=2))
                await worker.invoke(call("policy_twice__act", "act", turn, number=turn))
            firings.append(sorted(await worker.close_episode()))
        assert [path for path, _, _ in firings[0]] == ["act"] * 3 + ["step"] * 3
        assert firings[0] == firings[1] == firings[2]
        assert len({digest for _, _, digest in firings[0]}) == 6


async def test_what_a_tool_logs_is_kept_with_its_call():
    async with started(LINE, 1) as (_, pool):
        await pool.workers[0].open_episode(EPISODE)
        await pool.workers[0].invoke(call("env_line__step", "walk", 4, move=2))
        line = pool.workers[0].logs[0]
        assert (line.path, line.turns, line.key, line.value) == ("walk", (4,), "moved", 2)


async def test_a_copy_that_ends_at_import_is_reported_at_once_with_what_it_printed():
    with pytest.raises(CopyStartError, match=r"(?s)'broken_import'.*libsim.so: cannot") as caught:
        async with started(make_graph("broken_import__tool"), 4):
            pass
    assert caught.value.death is not None, "it was given up"
    assert caught.value.death.status > 0


async def test_a_copy_that_is_killed_in_initialize_is_reported_with_signal_and_last_lines():
    with pytest.raises(CopyStartError, match=r"(?s)SIGSEGV.*out of memory on device 0"):
        async with started(make_graph("broken_start__nothing"), 1):
            pass


async def test_a_copy_that_dies_in_a_call_fails_it_and_is_replaced_by_a_fresh_one():
    async with started(BOTH, 2) as (fleet, pool):
        worker, other = pool.workers
        await worker.open_episode(EPISODE)
        await other.open_episode(EPISODE)
        before = [c.pid for c in fleet.list_counters()]
        with pytest.raises(CopyFailedError, match=r"(?s)env_line#0.*SIGKILL.*about to end"):
            await worker.invoke(call("env_line__crash"))
        assert (await other.invoke(call("env_line__step", move=1)))["at"] == 1
        await worker.replace_dead_copies()
        await worker.open_episode(EPISODE)
        assert (await worker.invoke(call("env_line__step", move=4)))["at"] == 4
        after = [c.pid for c in fleet.list_counters()]
        assert (before[0] != after[0], before[1:]) == (True, after[1:])
        assert [c.restarts for c in fleet.list_counters()] == [1, 0, 0]


async def test_a_call_that_hangs_past_its_budget_costs_its_copy_and_nothing_else():
    async with started(make_graph("env_hang__wait"), 2) as (fleet, pool):
        worker, other = pool.workers
        await worker.open_episode(EPISODE)
        await other.open_episode(EPISODE)
        with pytest.raises(BudgetExceededError, match=r"'wait'.*env_hang.*2 s"):
            await worker.invoke(call("env_hang__wait", forever=True))
        assert await other.invoke(call("env_hang__wait", forever=False)) == {"done": True}
        await worker.replace_dead_copies()
        await worker.open_episode(EPISODE)
        assert await worker.invoke(call("env_hang__wait", forever=False)) == {"done": True}
        assert [c.restarts for c in fleet.list_counters()] == [1, 0]


async def test_two_connections_of_one_copy_have_an_episode_each():
    async with started(make_graph("policy_twice__act"), 2) as (_fleet, pool):
        first, second = pool.workers
        await first.open_episode(EPISODE)
        await second.open_episode(replace(EPISODE, id="4"))
        calls = [w.invoke(call("policy_twice__act", number=n)) for n, w in enumerate(pool.workers)]
        assert [outputs["number"] for outputs in await asyncio.gather(*calls)] == [0, 2]
        assert len(await first.close_episode()) == 1
        assert len(await second.close_episode()) == 1


async def test_replicated_copies_get_one_thread_and_shared_ones_all_cores():
    async with started(make_graph("policy_twice__threads"), 2) as (_, pool):
        await pool.workers[0].open_episode(EPISODE)
        outputs = await pool.workers[0].invoke(call("policy_twice__threads"))
        assert outputs["threads"] == str(os.cpu_count())


async def test_episodes_come_from_the_copy_in_its_order():
    async with started(LINE, 2) as (fleet, _):
        episodes = await fleet.list_episodes("env_line", "all")
        assert [episode["id"] for episode in episodes] == list("012345")


async def test_an_alias_bears_its_own_name_in_manifest_and_tags():
    graph = make_graph("again__act", again={"use": "policy_twice"})
    async with started(graph, 2) as (fleet, pool):
        assert fleet.manifests["again"]["tools"][0]["node_type"] == "again__act"
        await pool.workers[1].open_episode(EPISODE)
        assert (await pool.workers[1].invoke(call("again__act", number=4)))["number"] == 8
