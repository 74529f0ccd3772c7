"""What a copy does besides calls: episodes, controllers, loading, its beginning and its end."""

from __future__ import annotations

import pytest

from nodeset.contract import Action, BaseController, Field
from nodeset.errors import ContractError
from nodeset.host import AutoServerApp


class Panel(BaseController):
    fields = [Field("split", "select")]
    actions = [Action("play")]

    def on_load(self):
        return {"split": "train"}

    def on_field_change(self, name, value):
        return {name: value}

    async def on_action(self, name, params):
        return {"played": params}

    def get_options(self, field):
        return ("train", "test")


def plus(x, ctx):
    return x + 1


def test_a_call_before_initialize_is_refused(make_copy, make_tool):
    copy = make_copy(make_tool("plus", plus), is_initialized=False)
    assert "send initialize first" in copy.call("plus")["error"]["message"]
    copy.ask("initialize")
    copy.ask("initialize")
    assert copy.nodeset.seen == ["initialize"]
    assert copy.call("plus", 1)["ok"]["outputs"] == {"y": 2}


def test_begin_episode_gets_the_open_episode_and_is_counted(make_copy, make_tool):
    copy = make_copy(make_tool("plus", plus))
    copy.ask("open_episode", episode={"index": 0, "id": "first"})
    assert copy.ask("begin_episode")["ok"] == {}
    assert copy.nodeset.seen == ["initialize", "begin first"]
    assert copy.app.health()["begin_episodes"] == 1


def test_every_connection_has_an_episode_of_its_own(make_copy, make_tool):
    copy = make_copy(make_tool("who", lambda x, ctx: ctx.episode.id))
    other = copy.app.connect()
    copy.ask("open_episode", episode={"index": 0, "id": "mine"})
    copy.ask("open_episode", other, episode={"index": 1, "id": "yours"})
    mine = copy.call("who")
    yours = copy.ask("call", other, tool="who", inputs={"x": 0})
    assert [mine["ok"]["outputs"]["y"], yours["ok"]["outputs"]["y"]] == ["mine", "yours"]


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        ({"verb": "on_load"}, {"split": "train"}),
        ({"verb": "field", "name": "split", "value": "test"}, {"split": "test"}),
        ({"verb": "action", "name": "play", "params": {"n": 1}}, {"played": {"n": 1}}),
        ({"verb": "options", "name": "split"}, ["train", "test"]),
    ],
)
def test_a_controller_answers_whether_plain_or_async(make_copy, make_tool, fields, result):
    copy = make_copy(make_tool("plus", plus), controller=Panel())
    assert copy.ask("controller", **fields)["ok"] == {"result": result}
    assert copy.app.health()["controller_calls"] == 1


def test_a_controller_is_not_asked_for_what_it_does_not_declare(make_copy, make_tool):
    copy = make_copy(make_tool("plus", plus), controller=Panel())
    error = copy.ask("controller", verb="field", name="scene", value=1)["error"]
    assert error["message"].endswith("has no field 'scene'; it has: split")


def test_shutdown_calls_the_authors_once_and_then_refuses(make_copy, make_tool):
    copy = make_copy(make_tool("plus", plus))
    assert copy.ask("shutdown")["ok"] == {}
    copy.app.stop()
    copy.app.stop()
    assert copy.nodeset.seen == ["initialize", "shutdown"]
    assert "is closing" in copy.call("plus")["error"]["message"]


def test_requests_that_come_before_loading_wait_for_it(make_copy, make_tool):
    copy = make_copy(make_tool("plus", plus), is_initialized=False)
    hello, health = copy.submit("hello", protocol=1), copy.submit("health")
    waiting = copy.submit("initialize")
    assert copy.replies[hello]["ok"]["tag"] == "line#0"
    assert copy.replies[health]["ok"]["state"] == "loading"
    assert waiting not in copy.replies
    copy.app.run_pending()
    assert copy.replies[waiting]["ok"] == {}
    assert copy.app.health()["state"] == "ready"


def test_a_nodeset_that_is_refused_answers_what_waits_and_sets_the_status():
    def load():
        raise ContractError("line.py:3 breaks a rule")

    app, replies = AutoServerApp(load, name="line"), []
    app.submit(app.connect(), {"id": 1, "op": "manifest"}, replies.append)
    assert app.run() == 3
    assert replies[0]["error"]["kind"] == "contract"
    app.submit(app.connect(), {"id": 2, "op": "manifest"}, replies.append)
    assert replies[1]["error"]["message"] == "line.py:3 breaks a rule"
    assert app.health()["state"] == "failed"


def test_a_failed_initialize_is_answered_and_ends_the_copy(make_copy, make_tool):
    copy = make_copy(make_tool("plus", plus), is_initialized=False)
    vars(copy.nodeset).update(initialize=lambda: 1 // 0)
    request = copy.submit("initialize")
    assert copy.app.run() == 6
    assert copy.replies[request]["error"]["type"] == "ZeroDivisionError"
    assert copy.nodeset.seen == []
