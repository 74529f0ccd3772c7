"""A copy in a process of its own, as its clients and its supervisor see it."""

from __future__ import annotations

import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.deadline import HANG_SECONDS, wait_until
from tests.integration.host.client import Client

from nodeset import AuthorError, NodeSetError, WireError
from nodeset.digest import digest_firing


def row(*values):
    return {"x": np.array(values, float)}


def in_step(clients, function):
    """Run `function(client)` in a thread per client."""
    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(function, clients))


def test_a_copy_says_who_it_is_and_what_it_offers(line):
    with Client(line) as client:
        assert client.hello["tag"] == "line#0"
        manifest = client.request("manifest")
        assert (manifest["name"], manifest["parallelism"]) == ("line", "shared")
        assert manifest["tools"][0]["node_type"] == "line__scale"


def call_together(host, gate, clients):
    """Have a call of each client wait while the author's thread is busy; return the replies."""
    path = host.folder / "gate"
    held = gate.send_call("gate", {"path": str(path)})
    wait_until(path.with_name("gate.begun").exists)
    calls = [client.send_call("scale", row(number)) for number, client in enumerate(clients)]
    for client in clients:
        client.request("health")  # the call before it has arrived
    path.touch()
    gate.receive(held)
    return [client.receive(call)["outputs"] for client, call in zip(clients, calls, strict=True)]


def test_calls_of_several_workers_are_served_in_one_batch(host, open_clients):
    gate, *clients = open_clients(5)
    replies = call_together(host, gate, clients)
    assert [(reply["y"][0], reply["size"]) for reply in replies] == [(2.0 * n, 4) for n in range(4)]
    queue = gate.request("health")["queues"]["scale"]
    assert (queue["rows"], queue["batches"], queue["histogram"]) == (4, 1, {"4": 1})


def test_workers_that_call_again_and_again_get_their_own_answers(open_clients):
    clients = open_clients(4)

    def play(client):
        return [client.call("slow", row(turn))["y"][0] for turn in range(10)]

    assert in_step(clients, play) == [[2.0 * turn for turn in range(10)]] * 4
    queue = clients[0].request("health")["queues"]["slow"]
    assert queue["rows"] == 40
    assert set(queue["flushes"]) <= {"all_waiting", "gap", "timeout"}


def test_a_lone_worker_never_waits_for_a_gap_or_timeout(open_clients):
    (client,) = open_clients(1)
    for turn in range(50):
        client.call("scale", row(turn))
    queue = client.request("health")["queues"]["scale"]
    assert queue["flushes"] == {"all_waiting": 50}
    assert queue["histogram"] == {"1": 50}


def test_concurrent_callers_with_different_configurations_each_get_their_own(open_clients):
    clients = open_clients(4)
    factors = {id(client): float(number) for number, client in enumerate(clients)}

    def play(client):
        config = {"factor": factors[id(client)]}
        return {client.call("scale", row(1), config=config)["y"][0] for _ in range(50)}

    assert in_step(clients, play) == [{0.0}, {1.0}, {2.0}, {3.0}]


def test_one_failing_row_spoils_no_other_of_its_batch(open_clients):
    clients = open_clients(4)

    def play(client):
        number = clients.index(client)
        try:
            return client.call("slow", row(-1 if number == 2 else number))["y"][0]
        except AuthorError as error:
            return error

    *_, last = [in_step(clients, play) for _ in range(3)]
    assert [last[0], last[1], last[3]] == [0.0, 2.0, 6.0]
    assert last[2].type_name == "ValueError"
    assert 'raise ValueError("a negative row")' in last[2].traceback_text


def test_author_code_runs_on_the_main_thread_with_the_callers_episode(host, open_clients):
    first, second = open_clients(2)
    assert first.call("where", {}) == {"thread": "MainThread", "episode": "0"}
    assert second.call("where", {}) == {"thread": "MainThread", "episode": "1"}
    reply = first.request("controller", verb="field", name="split", value="test")
    assert reply["result"] == {"split": "test", "thread": "MainThread"}
    first.request("shutdown")
    output, _ = host.processes[0].communicate(timeout=HANG_SECONDS)
    assert output.splitlines() == ["shutdown MainThread"]
    assert host.processes[0].returncode == 0


def test_the_controller_of_a_shared_copy_is_one_for_all_connections(open_clients):
    first, second = open_clients(2)
    for client in (first, second):
        client.request("controller", verb="action", name="play")
    reply = first.request("controller", verb="action", name="play")
    assert reply["result"] == {"played": 3}


def test_digests_are_handed_over_by_the_end_of_the_episode(open_clients):
    first, second = open_clients(2)
    call = first.send_call("scale", row(3), path="node", turns=[4])
    outputs = first.receive(call)["outputs"]
    second.call("scale", row(5))
    first.request("close_episode")
    assert first.digests == {call: digest_firing("node", [4], outputs)}


def test_async_calls_run_side_by_side_while_others_are_served(open_clients):
    first, second = open_clients(2)
    calls = [first.send_call("meet", {"count": 30}) for _ in range(29)]
    assert second.call("scale", row(1))["y"] == [2.0]
    calls.append(first.send_call("meet", {"count": 30}))
    for call in calls:
        first.receive(call)


@pytest.mark.parametrize(
    "garbage",
    [b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", b"WFR1" + b"\xff" * 60, bytes(1000)],
    ids=["http", "lengths", "zeros"],
)
def test_a_malformed_frame_ends_its_connection_and_no_other(open_clients, garbage):
    good, bad = open_clients(2)
    bad.socket.sendall(garbage)
    with pytest.raises((ConnectionError, WireError)):
        bad.receive(-1)
    with pytest.raises(ConnectionError):
        bad.receive(0)
    assert good.call("scale", row(1))["y"] == [2.0]
    assert open_clients(1)[0].call("scale", row(1))["y"] == [2.0]


def test_a_hello_of_the_wrong_form_ends_its_connection_and_no_other(host, line, open_clients):
    for wrong in ({"protocol": 2}, {"protocol": np.ones(3)}, {"worker": "one"}):
        with pytest.raises(WireError, match="hello"):
            host.connect(line, **wrong)
    assert open_clients(1)[0].call("scale", row(1))["y"] == [2.0]


def test_health_answers_while_author_code_runs(host, open_clients):
    first, second = open_clients(2)
    first.send_call("sleep", {"seconds": 3600})
    assert second.request("health")["state"] == "ready"
    host.processes[0].kill()


def test_a_client_that_does_not_read_holds_up_nobody(open_clients):
    deaf, good = open_clients(2)
    for _ in range(40):
        deaf.send_call("big", {})
    assert good.call("scale", row(1))["y"] == [2.0]
    deaf.socket.close()
    assert good.call("scale", row(1))["y"] == [2.0]


def test_a_reply_larger_than_the_sockets_buffer_arrives_whole(open_clients):
    (client,) = open_clients(1)
    data = client.call("big", {})["data"]
    assert data.shape == (16 * 2**20,)
    assert not data.flags.writeable


def test_a_worker_that_disconnects_is_waited_for_no_longer(open_clients):
    clients = open_clients(3)
    in_step(clients, lambda client: client.call("slow", row(1)))
    clients[2].socket.close()

    def count_full():
        return clients[0].request("health")["queues"]["slow"]["flushes"].get("all_waiting", 0)

    def call_and_count():
        in_step(clients[:2], lambda client: client.call("slow", row(1)))
        return count_full() > before

    before = count_full()
    wait_until(call_and_count)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_copy_in_order(host, number):
    process, url = host.start("line.py")
    with Client(url) as client:
        client.request("initialize")
        call = client.send_call("sleep", {"seconds": 0.2})
        client.request("health")  # the call before it has arrived
        process.send_signal(number)
        assert client.receive(call)["outputs"] == {}
    output, _ = process.communicate(timeout=HANG_SECONDS)
    assert output == "shutdown MainThread\n"
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("file", "status", "message"),
    [
        ("refused.py", 3, "parallelism='sharded'"),
        ("broken.py", 4, "no GPU here"),
        ("missing.py", 3, "missing.py"),
    ],
)
def test_a_nodeset_that_cannot_be_loaded_ends_the_process_with_one_message(
    host, file, status, message
):
    process, _ = host.start(file)
    assert process.wait(HANG_SECONDS) == status
    assert message in host.read_errors()
    assert "nodeset/host" not in host.read_errors()


def test_a_failed_initialize_is_answered_before_the_process_ends(host):
    process, url = host.start("dark.py")
    with Client(url) as client, pytest.raises(AuthorError, match="no light"):
        client.request("initialize")
    assert process.wait(HANG_SECONDS) == 6
    assert "OSError: no light" in host.read_errors()


def test_an_address_in_use_is_refused_and_an_abandoned_one_taken(host):
    _, url = host.start("line.py")
    second, _ = host.start("line.py", listen=url)
    assert second.wait(HANG_SECONDS) == 5
    host.processes[0].kill()
    host.processes[0].wait(HANG_SECONDS)
    _, again = host.start("line.py", listen=url)
    assert host.connect(again).hello["name"] == ""


def test_tcp_asks_for_the_token_before_anything_else(host):
    _, url = host.start("line.py", "--token-env", "SECRET", listen="tcp:127.0.0.1:0", SECRET="s3")
    with Client(url, token="s3") as client:
        assert client.request("health")["state"] in ("loading", "loaded")
    for wrong in ({}, {"token": "s4"}, {"token": 3}):
        with pytest.raises(WireError, match="token"):
            host.connect(url, **wrong)


def test_tcp_without_a_token_is_refused(host):
    process, _ = host.start("line.py", listen="tcp:127.0.0.1:0")
    assert process.wait(HANG_SECONDS) == 2


def test_the_socket_is_the_users_alone_and_gone_at_the_end(host):
    process, url = host.start("line.py")
    path = host.folder / "0.sock"
    assert path.stat().st_mode & 0o777 == 0o600
    with Client(url) as client:
        client.request("shutdown")
    assert process.wait(HANG_SECONDS) == 0
    assert not path.exists()


def test_thousands_of_requests_may_be_under_way(open_clients):
    (client,) = open_clients(1)
    ids = [client.send_call("scale", row(number)) for number in range(3000)]
    assert [client.receive(i)["outputs"]["y"][0] for i in ids] == [2.0 * n for n in range(3000)]


def test_a_request_larger_than_the_sockets_buffer_arrives_whole(open_clients):
    (client,) = open_clients(1)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    assert client.call("scale", {"x": np.ones(200_000)})["y"].sum() == 400_000


def test_an_unknown_operation_leaves_the_connection_open(open_clients):
    (client,) = open_clients(1)
    with pytest.raises(NodeSetError, match="op=str 'dance'"):
        client.request("dance")
    assert client.call("scale", row(1))["y"] == [2.0]
