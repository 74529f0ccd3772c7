"""Keys are ordered and readable; firings survive their columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from wayfare.store.firings import pack_firings, sort_firings, unpack_firings
from wayfare.store.records import EpisodeKey, EpisodeRecord, ErrorRecord, Firing


def test_a_keys_text_quotes_what_would_mislead():
    key = EpisodeKey("env_r2r", "0123456789abcdef", "val/unseen", "scene 1", "a/b", 2)
    assert key.text == "env_r2r@01234567/val%2Funseen/scene%201/a%2Fb/2"


def test_keys_are_ordered_field_by_field():
    first = EpisodeKey("e", "h", "s", "a", "9")
    second = EpisodeKey("e", "h", "s", "b", "1")
    assert sorted([second, first]) == [first, second]
    assert first < EpisodeKey("e", "h", "s", "a", "9", 1)


def test_metrics_keep_their_kind():
    key = EpisodeKey("e", "h", "s", "a", "9")
    record = EpisodeRecord(
        key=key, index=0, outcome="completed", worker=0, metrics={"b": True, "i": 1, "f": 1.0}
    )
    adapter = TypeAdapter(EpisodeRecord)
    again = adapter.validate_json(adapter.dump_json(record))
    assert again == record
    assert [type(value) for value in again.metrics.values()] == [bool, int, float]


def test_unknown_fields_are_refused():
    with pytest.raises(ValidationError, match="extra"):
        TypeAdapter(ErrorRecord).validate_python(
            {"kind": "author", "type": "ValueError", "message": "", "extra": 1}
        )


@pytest.mark.parametrize(("kind", "final"), [("author", True), ("infrastructure", False)])
def test_only_faults_of_infrastructure_are_tried_again(kind, final):
    assert ErrorRecord(kind=kind, type="X", message="").is_final is final


firing = st.builds(
    Firing,
    st.sampled_from(["a", "b", "sub/inner", "ü"]),
    st.lists(st.integers(0, 2**32 - 1), max_size=3).map(tuple),
    st.binary(min_size=16, max_size=16),
)


@given(st.lists(firing, max_size=30))
def test_firings_come_back_sorted(firings):
    assert unpack_firings(pack_firings(7, firings)) == (7, sort_firings(firings))


def test_a_digest_of_another_length_is_refused():
    with pytest.raises(ValueError, match="digest of 'a' at turns \\(0,\\) has 8 bytes"):
        pack_firings(0, [Firing("a", (0,), b"12345678")])
