"""Two values that differ are told apart at the place where they do."""

import numpy as np
import pytest

from wayfare.evals.comparison_value import Spot, are_equal, locate

NEXT = float(np.nextafter(0.1, 1))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (1, 2, Spot("", "1", "2")),
        (1, 1.0, Spot("", "1", "1.0")),
        (0.1, NEXT, Spot("", "0.1", "0.10000000000000002")),
        ([1, [2, 3]], [1, [2, 4]], Spot("[1][1]", "3", "4")),
        ([1], [1, 2], Spot("", "[1]", "[1, 2]")),
        ({"x": {"y": 1}}, {"x": {"y": 2}}, Spot(".x.y", "1", "2")),
        ({"x": 1}, {"x": 1, "z": 2}, Spot(".z", "nothing", "2")),
        ("go", None, Spot("", "'go'", "None")),
    ],
)
def test_the_first_difference_is_located(a, b, expected):
    assert locate(a, b) == expected


def test_one_bit_of_one_element_is_located_and_counted():
    a = np.full((2, 3), 0.1)
    b = a.copy()
    b[1, 2] = NEXT
    assert locate({"seen": a}, {"seen": b}) == Spot(
        ".seen[1, 2]", "0.1", "0.10000000000000002", "1 of 6 elements of float64 (2, 3) differ"
    )


def test_the_sign_of_zero_differs_and_nan_equals_itself():
    a, b = np.array([np.nan, 0.0]), np.array([np.nan, -0.0])
    assert locate(a, b) == Spot("[1]", "0.0", "-0.0", "1 of 2 elements of float64 (2,) differ")
    assert are_equal(a, a.copy())


def test_arrays_of_another_type_or_shape_are_told_by_it():
    found = locate(np.zeros(3, np.float32), np.zeros(3))
    assert found == Spot("", "float32 (3,)", "float64 (3,)")
    assert locate(np.zeros(3), np.zeros((3, 1))).b == "float64 (3, 1)"


def test_an_array_against_a_list_is_told_as_such():
    assert locate(np.zeros(2), [0.0, 0.0]) == Spot("", "float64 (2,)", "[0.0, 0.0]")
    assert locate(np.array(1.0), np.array(2.0)).place == ""
