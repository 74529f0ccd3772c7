"""Text that comes from anywhere and is stored and printed."""

from __future__ import annotations

from nodeset.errors import AuthorError, UnavailableError, to_payload
from nodeset.text import MAX_TEXT, is_encodable, printable, tidy


def test_only_lone_surrogates_cannot_be_encoded() -> None:
    assert is_encodable("plain, \xfc, \U0001f600")
    assert not is_encodable("a\ud800b")


def test_a_lone_surrogate_becomes_an_escape_and_the_rest_stays() -> None:
    assert tidy("\xfc\ud800 [bold]") == "\xfc\\ud800 [bold]"


def test_of_a_text_that_is_too_long_both_ends_stay() -> None:
    assert (
        tidy("a" * 50 + "b" * 50, 20) == f"{'a' * 10} [... 80 characters left out ...] {'b' * 10}"
    )


def test_what_would_steer_a_terminal_becomes_an_escape_and_lines_stay() -> None:
    assert printable("\xfc\ta\n\x1b[2J\r\x07\x9b\u202e") == "\xfc\ta\n\\x1b[2J\\r\\x07\\x9b\\u202e"


def test_what_an_author_raises_can_be_stored_however_long_and_odd_it_is() -> None:
    try:
        raise ValueError("\ud800" + "x" * 5_000_000)
    except ValueError as raised:
        payload = to_payload(AuthorError.wrap(raised, "tool.forward"))
    assert "raised ValueError: \\ud800xxx" in payload["message"]
    assert payload["traceback"].startswith("Traceback")
    assert all(len(text) < MAX_TEXT + 100 for text in payload.values())
    assert len(to_payload(UnavailableError("y" * 5_000_000))["message"]) < MAX_TEXT + 100
