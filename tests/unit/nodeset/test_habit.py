"""What callers usually do next, and how soon: learnt from their last calls."""

from __future__ import annotations

import pytest

from nodeset.habit import Itinerary, ServeTime, Wave, Window


def travel(itinerary, now, key, pause):
    """Be answered at `key` at `now` and call there again after `pause`; return when."""
    itinerary.leave(key, now)
    itinerary.arrive(key, now + pause)
    return now + pause


def test_nothing_is_expected_of_a_caller_that_is_new():
    itinerary = Itinerary()
    assert itinerary.expect(1.0) is None
    itinerary.leave("a", 1.0)
    assert itinerary.expect(2.0) is None


def test_a_caller_is_expected_where_it_went_before():
    itinerary = Itinerary()
    itinerary.leave("a", 1.0)
    itinerary.arrive("b", 1.5)
    itinerary.leave("a", 2.0)
    expected = itinerary.expect(2.1)
    assert expected is not None
    assert expected[0] == "b"
    assert expected[1] == pytest.approx(0.4)
    assert itinerary.usual_next("a") == ("b", 0.5)


def test_one_exception_does_not_change_a_habit_but_two_do():
    itinerary = Itinerary()
    for next_key, expected in [("b", "b"), ("end", "b"), ("b", "b"), ("c", "b"), ("c", "c")]:
        itinerary.leave("a", 1.0)
        itinerary.arrive(next_key, 2.0)
        assert itinerary.usual_next("a")[0] == expected


def test_the_first_call_of_an_episode_is_a_habit_too():
    itinerary = Itinerary()
    for start in (1.0, 11.0):
        itinerary.start(start)
        itinerary.arrive("reset", start + 0.25)
    itinerary.start(21.0)
    assert itinerary.expect(21.0) == ("reset", 0.25)


def test_a_caller_whose_episode_usually_ends_here_is_expected_nowhere():
    itinerary = Itinerary()
    itinerary.leave("evaluate", 1.0)
    itinerary.start(2.0)
    itinerary.leave("evaluate", 3.0)
    assert itinerary.expect(3.0) == (None, float("inf"))


def test_pauses_that_are_over_do_not_count():
    pauses = Window()
    for pause in (1.0, 2.0, 3.0, 10.0):
        pauses.add(pause)
    assert pauses.remaining(0.0) == 3.0
    assert pauses.remaining(2.5) == 7.5


def test_who_is_late_is_expected_ever_later():
    pauses = Window()
    pauses.add(1.0)
    assert pauses.remaining(1.5) == 0.5
    assert pauses.remaining(3.0) == 2.0


def test_old_pauses_are_forgotten():
    itinerary, now = Itinerary(), 0.0
    for pause in [9.0] * 20 + [1.0] * 8:
        now = travel(itinerary, now, "a", pause)
    assert itinerary.usual_next("a") == ("a", 1.0)


def test_habits_are_bounded_where_keys_never_repeat():
    itinerary = Itinerary()
    for key in range(1000):
        itinerary.leave(key, 1.0)
        itinerary.arrive(key + 1, 2.0)
    assert len(itinerary._habits) <= 256


def test_a_wave_tells_its_spacing_when_the_last_one_is_back():
    wave = Wave(3)
    assert [wave.note_return(now) for now in (1.0, 1.5, 3.0)] == [None, None, 1.0]


def test_who_ends_its_episode_is_not_waited_for_by_its_wave():
    wave = Wave(3)
    wave.note_end()
    assert [wave.note_return(now) for now in (1.0, 1.5)] == [None, 0.5]


def test_serving_is_split_into_a_fixed_time_and_a_time_per_row():
    serving = ServeTime()
    assert serving.estimate() == (0.0, 0.0)
    for rows in (1, 4, 2, 8) * 20:
        serving.observe(rows, 0.5 + 0.25 * rows)
    assert serving.estimate() == pytest.approx((0.5, 0.25), rel=0.05)


def test_a_process_that_was_stopped_once_does_not_spoil_the_estimate():
    serving = ServeTime()
    for seconds in [1.0] * 16 + [500.0]:
        serving.observe(2, seconds)
    fixed, per_row = serving.estimate()
    assert fixed + 2 * per_row < 1.3
