"""What author code raises is told in words, even an exception that has none."""

from __future__ import annotations

import pytest

from nodeset.errors import AuthorError


class MuteError(Exception):
    """An exception whose text can't be had."""

    def __str__(self) -> str:
        raise ValueError("no text")


class NumberedError(Exception):
    """An exception whose text is no text."""

    def __str__(self) -> str:
        return 7  # type: ignore[return-value]  # noqa: PLE0307


@pytest.mark.parametrize("kind", [MuteError, NumberedError])
def test_an_exception_that_cannot_be_printed_is_named(kind: type[Exception]) -> None:
    try:
        raise kind
    except (MuteError, NumberedError) as raised:
        error = AuthorError.wrap(raised, "tool.forward")
    assert isinstance(error, AuthorError)
    assert error.message == f"tool.forward raised {kind.__name__}: <unprintable {kind.__name__}>"
    assert error.type_name == kind.__name__
    assert "test_errors.py" in error.traceback_text


def test_a_printable_cause_of_an_unprintable_exception_stays_in_the_traceback() -> None:
    try:
        raise MuteError from KeyError("the cause")
    except MuteError as raised:
        error = AuthorError.wrap(raised, "tool.forward")
    assert isinstance(error, AuthorError)
    assert "KeyError: 'the cause'" in error.traceback_text
