"""What a copy marks on its page is what a supervisor reads there."""

from __future__ import annotations

import time

import pytest

from nodeset.host.page import PLACES, CallPage, PageReader


@pytest.fixture
def reader(tmp_path):
    return PageReader(tmp_path / "0.page")


@pytest.fixture
def page(reader):
    return CallPage.open(str(reader.path))


def test_a_page_that_no_copy_has_opened_says_nothing(reader):
    assert reader.read().running == ()


def test_a_running_tool_is_seen_with_its_name_caller_rows_and_start(reader, page):
    before = time.monotonic()
    page.begin_tool("env__step", 7, 3, rows=4)
    (call,) = reader.read().running
    assert (call.name, call.call_id, call.worker, call.rows) == ("env__step", 7, 3, 4)
    assert before <= call.started <= time.monotonic()


def test_a_call_that_has_ended_runs_no_more_and_counts(reader, page):
    page.begin_tool("env__step", 7, 3)
    page.end_tool("env__step")
    reading = reader.read()
    assert (reading.running, reading.ended) == ((), 1)


def test_the_seconds_of_calls_that_have_ended_add_up(reader, page, monkeypatch):
    times = iter([10.0, 10.5, 20.0, 21.0, 23.0, 24.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    page.begin_tool("env__step", 7, 3)
    page.end_tool("env__step")
    place = page.begin_beside("ask", 1, 0)  # from 20 to 24
    page.begin("begin_episode")  # from 21 to 23
    page.end()
    assert reader.read().ended_seconds == 2.5
    page.end_beside(place, "ask")
    assert reader.read().ended_seconds == 6.5


def test_only_a_tools_first_call_has_the_budget_of_one(reader, page):
    budgets = []
    for tool in ("env__look", "env__look", "env__step"):
        page.begin_tool(tool, 1, 0)
        budgets.append(reader.read().running[0].budget)
        page.end_tool(tool)
    assert budgets == ["first_call", "call", "first_call"]


def test_an_operation_has_the_budget_that_it_is_begun_with(reader, page):
    page.begin("initialize", 1, budget=0)
    assert reader.read().running[0].budget == "initialize"


def test_calls_beside_the_author_thread_have_places_of_their_own(reader, page):
    places = [page.begin_beside("ask", number, 0) for number in range(3)]
    page.begin_tool("env__step", 9, 0)
    page.end_beside(places[1], "ask")
    assert sorted(call.call_id for call in reader.read().running) == [0, 2, 9]


def test_more_calls_than_places_are_served_unmarked(reader, page):
    places = [page.begin_beside("ask", number, 0) for number in range(PLACES)]
    assert places.count(0) == 1
    page.end_beside(0, "ask")
    assert len(reader.read().running) == PLACES - 1


def test_a_long_name_is_cut(reader, page):
    page.begin_tool("n" * 99, 1, 0)
    assert reader.read().running[0].name == "n" * 32


def test_a_reader_that_closes_leaves_no_file_and_still_reads(reader, page):
    page.begin_tool("env__step", 7, 3)
    reader.close()
    assert not reader.path.exists()
    assert reader.read().running[0].call_id == 7
