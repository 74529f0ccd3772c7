"""Arrays between the main process and real copies: through memory where both ends map it."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from tests.deadline import HANG_SECONDS
from tests.integration.host.starter import Host

from nodeset.digest import digest_firing
from wayfare.fleet.connection import connect
from wayfare.fleet.errors import CopyFailedError
from wayfare.fleet.line import open_line

ECHO = """
from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Twice(BaseCanvasNode):
    node_type = "echo__twice"
    input_ports = [PortDef("x", "ARRAY")]
    output_ports = [PortDef("x", "ARRAY"), PortDef("y", "ARRAY")]
    kept = []

    def forward(self, inputs, ctx):
        self.kept.append(inputs["x"][::2].T)  # authors may keep what they get
        return {"x": self.kept[0].T, "y": 2 * inputs["x"]}


class EchoNodeSet(BaseNodeSet):
    name = "echo"

    def get_tools(self):
        return [Twice()]
"""


async def explain():
    return CopyFailedError("copy 'x' has ended.")


@pytest.fixture
def host(tmp_path):
    (tmp_path / "echo.py").write_text(ECHO)
    found = Host(tmp_path)
    yield found
    found.stop()


async def open_episode(host):
    process, url = host.start(str(host.folder / "echo.py"))
    connection = await connect(await open_line(url), copy="x", worker=0, explain_loss=explain)
    await connection.request("initialize", budget_seconds=HANG_SECONDS)
    await connection.open_episode({"index": 0, "id": "0"})
    return process, connection


def mappings(pid):
    return Path(f"/proc/{pid}/maps").read_text().count("/memfd:nodeset")


async def test_what_author_and_engine_keep_stays_right_and_digests_match(host):
    process, connection = await open_episode(host)
    first = np.random.default_rng(0).random((300, 200))
    kept, digests = [], []
    for turn in range(30):
        sent = first + turn
        call = {"tool": "twice", "config": {}, "inputs": {"x": sent}, "step": 0, "seed": 0}
        reply = await connection.call(path="n", turns=(turn,), budget_seconds=HANG_SECONDS, **call)
        kept.append(reply["outputs"])
        digests.append(digest_firing("n", [turn], {"x": first[::2], "y": 2 * sent}))
    assert mappings(process.pid) >= 2
    assert mappings(os.getpid()) >= 2
    assert all(np.array_equal(outputs["x"], first[::2]) for outputs in kept)
    assert all(np.array_equal(o["y"], 2 * (first + turn)) for turn, o in enumerate(kept))
    assert [digest for _, _, digest in await connection.close_episode()] == digests
    await connection.close()


async def test_a_killed_copy_leaves_nothing_and_what_it_sent_stays_readable(host):
    gc.collect()
    before = mappings(os.getpid())
    process, connection = await open_episode(host)
    call = {"tool": "twice", "config": {}, "inputs": {"x": np.ones((300, 200))}}
    reply = await connection.call(
        path="n", turns=(), budget_seconds=HANG_SECONDS, step=0, seed=0, **call
    )
    outputs = reply["outputs"]
    assert mappings(os.getpid()) == before + 2
    process.send_signal(signal.SIGKILL)
    process.wait(HANG_SECONDS)
    assert (outputs["y"] == 2).all()
    with pytest.raises(CopyFailedError):
        await connection.request("health", budget_seconds=HANG_SECONDS)
    await connection.close()
    del reply, outputs
    gc.collect()
    assert mappings(os.getpid()) == before
