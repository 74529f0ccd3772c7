"""What a copy lets in: who may speak, how much, and what a frame may bring with it."""

from __future__ import annotations

import array
import fcntl
import os
import socket
from pathlib import Path

import msgpack
import numpy as np
import pytest
from tests.deadline import HANG_SECONDS, wait_until
from tests.integration.host.client import Client

from nodeset import WireError
from nodeset.frame import NOTICE, pack_prefix
from nodeset.host.connection import MAX_CHANNELS
from nodeset.host.server import MAX_STRANGERS
from nodeset.wire import encode
from wayfare.fleet.connection import connect
from wayfare.fleet.errors import CopyFailedError
from wayfare.fleet.line import open_line


def test_a_stranger_over_tcp_learns_nothing_but_that_a_token_is_due(host):
    _, url = host.start("line.py", "--token-env", "SECRET", listen="tcp:127.0.0.1:0", SECRET="s3")
    for wrong in ({"protocol": 99}, {"worker": "x"}, {"token": "é"}, {"mapped": True}):
        with pytest.raises(WireError, match=r"^hello has no token, or a wrong one$"):
            Client(url, **wrong)


@pytest.mark.parametrize(
    "hello", [{"token": "s" * 70_000}, {"padding": np.zeros(100_000)}], ids=["header", "body"]
)
def test_what_a_stranger_over_tcp_may_send_is_bounded(host, hello):
    _, url = host.start("line.py", "--token-env", "SECRET", listen="tcp:127.0.0.1:0", SECRET="s3")
    with pytest.raises((WireError, ConnectionError), match=r"too large|reset|Broken pipe"):
        Client(url, **hello)
    with Client(url, token="s3") as client:
        assert client.hello["name"] == ""


async def explain():
    return CopyFailedError("the copy is gone")


@pytest.mark.parametrize("token", ["", "s", "s33", "S3"])
async def test_a_worker_without_the_right_token_is_told_so(host, token):
    _, url = host.start("line.py", "--token-env", "SECRET", listen="tcp:127.0.0.1:0", SECRET="s3")
    with pytest.raises(WireError, match="no token, or a wrong one"):
        await connect(await open_line(url), copy="x", worker=0, explain_loss=explain, token=token)


async def test_a_worker_with_the_token_may_call_over_tcp(host):
    _, url = host.start("line.py", "--token-env", "SECRET", listen="tcp:127.0.0.1:0", SECRET="s3")
    link = await connect(await open_line(url), copy="x", worker=0, explain_loss=explain, token="s3")
    assert (await link.request("health", budget_seconds=HANG_SECONDS))["state"] in (
        "loading",
        "loaded",
    )
    await link.close()


def test_strangers_that_say_nothing_keep_no_worker_out(host):
    _, url = host.start("line.py", "--token-env", "SECRET", listen="tcp:127.0.0.1:0", SECRET="s3")
    worker = host.connect(url, token="s3")
    held = count_files(worker.hello["pid"])
    address = ("127.0.0.1", int(url.rpartition(":")[2]))
    strangers = [socket.create_connection(address, HANG_SECONDS) for _ in range(300)]
    try:
        with Client(url, token="s3") as late:
            assert late.request("health")["state"] in ("loading", "loaded")
        assert worker.request("health")["state"] in ("loading", "loaded")
        wait_until(lambda: count_files(worker.hello["pid"]) <= held + MAX_STRANGERS + 1)
        assert strangers[0].recv(1) == b""
    finally:
        for stranger in strangers:
            stranger.close()


@pytest.mark.parametrize("worker", [2**63, -2, 2**31, True, "0"])
def test_a_worker_that_is_no_number_of_one_is_refused(line, worker):
    with pytest.raises(WireError, match=r"worker=.*; it must be a whole number from -1"):
        Client(line, worker=worker)


@pytest.mark.parametrize("request_id", [-1, 2**63, 1.0, None, True])
def test_an_id_that_no_reply_could_carry_ends_the_connection_and_nothing_else(
    host, line, request_id
):
    client = host.connect(line)
    client.socket.sendall(b"".join(encode({"id": request_id, "op": "where"})))
    with pytest.raises(WireError, match="whole number from 0"):
        client.receive(-1)
    assert host.connect(line).request("health")["state"] == "ready"


def memory(size, seals):
    descriptor = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def count_files(pid):
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def announce(client, size, *descriptors):
    """Send a notice of memory, and descriptors with it."""
    header = msgpack.packb([0, 0, size])
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
    notice = pack_prefix(len(header), flags=NOTICE) + header
    client.socket.sendmsg([notice], [rights] if descriptors else [])
    for descriptor in descriptors:
        os.close(descriptor)


@pytest.mark.parametrize(
    ("size", "seals", "rule"),
    [
        (4096, 0, "cannot be mapped: it has 4096 bytes and seals 0x0"),
        (2048, fcntl.F_SEAL_SHRINK, "cannot be mapped: it has 2048 bytes"),
        (4096, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_WRITE, "cannot be mapped"),
    ],
    ids=["it could shrink", "it is smaller", "it can't be mapped"],
)
def test_memory_that_could_end_its_reader_is_refused(host, line, size, seals, rule):
    client = host.connect(line, mapped=True)
    announce(client, 4096, memory(size, seals))
    with pytest.raises(WireError, match=rule):
        client.receive(-1)
    assert host.connect(line).request("health")["state"] == "ready"


def test_descriptors_that_no_frame_asks_for_are_closed(host, line):
    pid = host.connect(line).hello["pid"]
    held = count_files(pid)
    for count in (0, 1, 3, 30):
        with Client(line, mapped=True) as client:
            announce(client, 4096, *(os.open("/", os.O_RDONLY) for _ in range(count)))
            with pytest.raises(WireError, match=r"no descriptor|cannot be mapped|asks for"):
                client.receive(-1)
    host.connect(line).request("health")
    wait_until(lambda: count_files(pid) <= held + 1)


def test_workers_that_share_a_connection_have_an_episode_and_digests_each(host, line):
    client = host.connect(line)
    for channel in (1, 2):
        client.request("hello", protocol=1, worker=channel, channel=channel)
        episode = {"index": channel, "id": str(channel)}
        client.request("open_episode", episode=episode, channel=channel)
    sent = [client.send_call("where", {}, channel=channel) for channel in (1, 2)]
    assert [client.receive(number)["outputs"]["episode"] for number in sent] == ["1", "2"]
    owed = [client.request("close_episode", channel=channel)["digests"] for channel in (1, 2)]
    assert [[number for number, _ in digests] for digests in owed] == [[sent[0]], [sent[1]]]


def test_who_leaves_a_shared_connection_is_not_waited_for(host, line):
    client = host.connect(line)
    for channel in (1, 2):
        client.request("hello", protocol=1, worker=channel, channel=channel)
    client.send("leave", channel=2)
    assert client.call("where", {}, channel=1)
    with pytest.raises(WireError, match="channel=int 2, which no hello has opened"):
        client.call("where", {}, channel=2)
    assert host.connect(line).request("health")["state"] == "ready"


@pytest.mark.parametrize("channel", [-1, 2**31, 1.0, "1", None, [1]])
def test_a_channel_that_is_no_number_of_one_is_refused(host, line, channel):
    client = host.connect(line)
    with pytest.raises(WireError, match=r"channel=.*; it must be a whole number from 0"):
        client.request("hello", protocol=1, worker=0, channel=channel)
    with pytest.raises((WireError, ConnectionError)):
        host.connect(line).request("where", channel=channel)
    assert host.connect(line).request("health")["state"] == "ready"


def test_at_most_so_many_share_a_connection(host, line):
    client = host.connect(line)
    numbers = [
        client.send("hello", protocol=1, worker=0, channel=channel)
        for channel in range(1, MAX_CHANNELS)
    ]
    for number in numbers:
        client.receive(number)
    with pytest.raises(WireError, match=f"at most {MAX_CHANNELS} channels"):
        client.request("hello", protocol=1, worker=0, channel=MAX_CHANNELS)
    assert host.connect(line).request("health")["state"] == "ready"
