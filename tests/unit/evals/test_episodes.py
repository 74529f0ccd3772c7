"""Which episodes a selection names, and what is said of one that names none."""

import pytest

from wayfare.evals.episodes import plan_episodes, select
from wayfare.evals.errors import SelectionError


@pytest.mark.parametrize(
    ("selection", "indexes"),
    [("", [0, 1, 2, 3]), ("2", [0, 1]), ("1:3", [1, 2]), ("2:", [2, 3]), ("3,1", [3, 1])],
)
def test_a_selection_is_a_count_a_range_or_a_list_in_its_own_order(selection, indexes):
    assert list(select(selection, 4, "split 'val'")) == indexes


@pytest.mark.parametrize(
    ("selection", "rule"),
    [
        ("-2:", "counts from the end"),
        ("9999999999999999999999", "asks for more than there is"),
        ("0:5", "asks for more than there is"),
        ("1,7", "asks for more than there is"),
        ("4:", "selects nothing"),
        ("0", "selects nothing"),
    ],
)
def test_a_selection_that_does_not_fit_is_told_how_many_episodes_there_are(selection, rule):
    with pytest.raises(SelectionError) as caught:
        select(selection, 4, "split 'val'")
    assert f"--episodes {selection!r} {rule}" in str(caught.value)
    assert "split 'val' has 4 episodes, with indexes 0 to 3." in str(caught.value)


def test_an_episode_is_not_named_twice():
    with pytest.raises(SelectionError, match="names episode 1 twice"):
        select("1,2,1", 4, "split 'val'")


def test_more_episodes_than_a_run_can_list_are_refused_before_they_are_listed():
    listed = [{"id": str(n), "scene_id": "", "group": ""} for n in range(4)]
    with pytest.raises(SelectionError, match=r"repeats is 9+, of 2 episodes; .* 1,000,000"):
        plan_episodes("env_line", "val", listed, selection="2", repeats=99999999999)
