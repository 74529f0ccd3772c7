"""A setting that breaks its rule is refused with name, value, rule and remedy."""

from __future__ import annotations

import math

import pytest

from nodeset import SettingError, Settings, UnavailableError
from nodeset.errors import AuthorError


def read(value, owner="env_hall"):
    return Settings({"key": value}, owner)


@pytest.mark.parametrize("value", [True, 1.0, "1", None, [], -1, 11, 10**400, math.nan])
def test_a_whole_number_is_an_integer_within_bounds(value):
    with pytest.raises(SettingError, match=r"setting 'key' is .*; it must be a whole number"):
        read(value).whole("key", 0, 10)
    assert read(10).whole("key", 0, 10) == 10


@pytest.mark.parametrize("value", [True, "1", None, math.nan, math.inf, -math.inf, 10**400, -0.1])
def test_a_number_is_finite_and_within_bounds(value):
    with pytest.raises(SettingError, match="it must be a finite number from 0"):
        read(value).number("key", 0)
    assert read(3).number("key", 0) == 3.0


def test_a_number_may_have_to_lie_above_its_bound():
    with pytest.raises(SettingError, match="it must be a finite number above 0 to 5"):
        read(0).number("key", 0, 5, is_above=True)
    with pytest.raises(SettingError, match="it must be a finite number:"):
        read(math.nan).number("key")


@pytest.mark.parametrize("value", [None, 1, True, "", "  ", []])
def test_a_text_is_one_that_says_something(value):
    with pytest.raises(SettingError, match="it must be a text that is not empty"):
        read(value).text("key")


def test_an_empty_text_is_one_only_where_it_may_be():
    assert read("").text("key", may_be_empty=True) == ""
    with pytest.raises(SettingError):
        read(" ").text("key", may_be_empty=True)


@pytest.mark.parametrize("value", ["a\0b", "x" * 300, "x/" * 3000, "~nobody-here/x", "\ud800"])
def test_what_no_file_can_be_called_is_no_path(value):
    with pytest.raises(SettingError, match="it must be the path of a file or folder, and"):
        read(value).path("key")
    assert read("a/b").path("key") == "a/b"


@pytest.mark.parametrize("value", [None, [], "x", {1: 2}])
def test_a_mapping_has_texts_as_keys(value):
    with pytest.raises(SettingError, match="it must be an object"):
        read(value).mapping("key")
    assert read({"a": 1}).mapping("key") == {"a": 1}


@pytest.mark.parametrize("value", [None, "x", {}, [1], [""]])
def test_texts_are_a_list_of_them(value):
    with pytest.raises(SettingError, match="it must be a list of texts"):
        read(value).texts("key")
    assert read(["a"]).texts("key") == ("a",)


@pytest.mark.parametrize("value", [0, "true", None])
def test_a_flag_is_true_or_false(value):
    with pytest.raises(SettingError, match="it must be true or false"):
        read(value).flag("key")


@pytest.mark.parametrize("value", ["c", None, ["a"], {}])
def test_a_choice_is_one_of_its_options(value):
    with pytest.raises(SettingError, match="it must be one of a, b"):
        read(value).choice("key", ("a", "b"))


def test_the_remedy_names_where_a_nodeset_or_a_node_is_set():
    with pytest.raises(SettingError, match=r"env_hall: .* --set nodesets\.env_hall\.key=VALUE"):
        read(1).flag("key")
    with pytest.raises(SettingError, match=r"env_hall__step: .* --set nodes\.ID\.key=VALUE"):
        read(1, "env_hall__step").flag("key")


def test_a_long_value_is_cut_and_a_cause_is_told():
    with pytest.raises(SettingError, match=r"\.\.\.; it must be short \(KeyError: 'x'\)") as caught:
        read("y" * 500).refuse("key", "short", KeyError("x"))
    assert len(str(caught.value)) < 250


def test_it_is_shown_without_a_traceback():
    error = SettingError("a sentence")
    assert isinstance(error, UnavailableError)
    assert AuthorError.wrap(error, "loading") is error
