"""Copies are spread over GPUs, and what does not fit is refused with what is left."""

from pathlib import Path

import pytest

from nodeset.contract import Deployment
from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.gpu import VISIBLE, Gpus, check_cpus, list_gpus
from wayfare.fleet.launcher import CopySpec


def make_spec(tag="policy", **deployment):
    return CopySpec("policy", "policy", tag, Path("policy.py"), {}, Deployment(**deployment), 1)


def test_copies_go_to_the_gpu_that_has_most_left():
    gpus, spec = Gpus(["0", "1"]), make_spec(gpus=0.5)
    taken = [gpus.take(number, spec)[VISIBLE] for number in range(4)]
    assert taken == ["0", "1", "0", "1"]


def test_a_copy_may_have_several_whole_gpus():
    assert Gpus(["3", "5", "7"]).take(0, make_spec(gpus=2)) == {VISIBLE: "3,5"}


def test_a_copy_that_asks_for_no_gpu_sees_what_its_parent_sees():
    assert Gpus(["0"]).take(0, make_spec()) == {}


def test_what_a_copy_gave_back_can_be_taken_again():
    gpus, spec = Gpus(["0"]), make_spec(gpus=1)
    gpus.take(0, spec)
    gpus.give_back(0)
    assert gpus.take(1, spec) == {VISIBLE: "0"}


def test_a_copy_that_does_not_fit_is_refused_with_what_is_left():
    gpus = Gpus(["0"])
    gpus.take(0, make_spec(gpus=0.75))
    with pytest.raises(FleetSetupError, match=r"'policy#1' asks for gpus=0.5.*0.25 of 0.*fewer"):
        gpus.take(1, make_spec("policy#1", gpus=0.5))


def test_ten_tenths_fit_on_one_gpu():
    gpus = Gpus(["0"])
    for number in range(10):
        gpus.take(number, make_spec(gpus=0.1))


@pytest.mark.parametrize(("gpus", "match"), [(1, "there is no GPU here"), (1.5, "whole number")])
def test_a_machine_without_gpus_and_an_odd_number_are_refused(gpus, match):
    with pytest.raises(FleetSetupError, match=match):
        Gpus([]).take(0, make_spec(gpus=gpus))


@pytest.mark.parametrize(
    ("visible", "names"), [("", []), ("2, 3", ["2", "3"]), ("GPU-a", ["GPU-a"])]
)
def test_only_gpus_that_cuda_may_see_count(visible, names):
    assert list_gpus({VISIBLE: visible}) == names


def test_else_the_driver_says_how_many_there_are(tmp_path):
    for name in ("0000:01:00.0", "0000:02:00.0"):
        (tmp_path / name).mkdir()
    assert list_gpus({}, tmp_path) == ["0", "1"]
    assert list_gpus({}, tmp_path / "none") == []


def test_a_copy_that_asks_for_more_processors_than_there_are_is_refused():
    check_cpus(make_spec(cpus=2), 2)
    with pytest.raises(FleetSetupError, match=r"cpus=3 .*may use 2"):
        check_cpus(make_spec(cpus=3), 2)
