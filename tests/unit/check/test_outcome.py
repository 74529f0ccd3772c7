"""Two answers are held side by side, port by port and element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nodeset.errors import AuthorError, PortError
from wayfare.evals.check.outcome import Outcome, find_difference, measure, measure_outcomes

NONE_VOLATILE: frozenset[str] = frozenset()


def answer(**outputs: Any) -> Outcome:
    return Outcome(outputs)


def test_the_first_differing_element_is_named_with_both_values() -> None:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.5, 3.5])

    found = find_difference(answer(x=a), answer(x=b), NONE_VOLATILE)

    assert found is not None
    assert (found.port, found.place, found.a, found.b) == ("x", "[1]", "2.0", "2.5")


def test_one_bit_is_a_difference() -> None:
    a = np.array([1.0])
    assert find_difference(answer(x=a), answer(x=np.nextafter(a, 2)), NONE_VOLATILE) is not None


def test_volatile_ports_and_equal_nans_are_none() -> None:
    a, b = answer(x=math.nan, pid=1), answer(x=math.nan, pid=2)
    assert find_difference(a, b, frozenset({"pid"})) is None


def test_a_port_that_one_answer_lacks_is_a_difference() -> None:
    found = find_difference(answer(x=1, y=2), answer(x=1), NONE_VOLATILE)
    assert found is not None
    assert (found.port, found.a, found.b) == ("y", "2", "nothing: the port was left out")


def test_errors_agree_by_their_type_and_differ_from_answers() -> None:
    first = Outcome(None, AuthorError("row 3", "ValueError"))
    other = Outcome(None, AuthorError("row 4", "ValueError"))
    assert find_difference(first, other, NONE_VOLATILE) is None
    assert find_difference(first, Outcome(None, PortError("x")), NONE_VOLATILE) is not None
    assert find_difference(first, answer(x=1), NONE_VOLATILE) is not None


def test_a_tolerance_holds_for_floats_alone() -> None:
    near = answer(x=np.float32([1.0]), y=[2.0]), answer(x=np.float32([1.001]), y=[2.001])
    assert find_difference(*near, NONE_VOLATILE, tolerance=0.01) is None
    assert find_difference(*near, NONE_VOLATILE, tolerance=0.0001) is not None
    assert find_difference(answer(n=1), answer(n=2), NONE_VOLATILE, tolerance=5.0) is not None


def test_the_largest_difference_is_measured_through_lists_dicts_and_arrays() -> None:
    assert measure({"a": [1.0, {"b": 2.0}]}, {"a": [1.5, {"b": 2.1}]}) == 0.5
    assert measure(np.array([1.0, np.nan]), np.array([1.25, np.nan])) == 0.25
    assert measure(np.array([np.inf]), np.array([np.inf])) == 0.0


def test_what_differs_in_kind_is_infinitely_far() -> None:
    pairs = [(1, 2), ("a", "b"), ([1.0], [1.0, 2.0]), ({"a": 1.0}, {"b": 1.0}), (1.0, math.nan)]
    arrays = (np.zeros(2), np.zeros(3))
    assert all(measure(a, b) == math.inf for a, b in [*pairs, arrays])
    assert measure_outcomes(answer(x=1.0), answer(), NONE_VOLATILE) == math.inf
