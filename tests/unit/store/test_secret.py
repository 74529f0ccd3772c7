"""What is secret in the environment is told by its name, and stands in no text that is kept."""

from __future__ import annotations

import pytest

from wayfare.store.records import ErrorRecord
from wayfare.store.secret import Secrets, is_secret_name

SECRETS = Secrets.from_environment(
    {
        "OPENAI_API_KEY": "sk-1234567890",
        "LONGER_TOKEN": "sk-1234567890-and-more",
        "DB_PASSWORD": 'two\nlines "quoted"',
        "GITHUB_TOKEN": "",
        "SHORT_KEY": "1",
        "SSH_KEY_PATH": "/etc/ssh/host",
        "PATH": "/usr/bin:/bin",
    }
)


@pytest.mark.parametrize("name", ["API_KEY", "HF_TOKEN", "aws_secret_access_key", "PGPASSWORD"])
def test_these_names_are_secret(name):
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "HOME", "SSH_KEY_PATH", "TOKEN_FILE", "WAYFARE_RUNS"])
def test_these_names_are_not(name):
    assert not is_secret_name(name)


def test_a_secret_becomes_its_variables_name():
    assert SECRETS.mask("401 for sk-1234567890!") == "401 for <OPENAI_API_KEY>!"


def test_of_two_secrets_of_which_one_holds_the_other_the_longer_is_named():
    assert SECRETS.mask("sk-1234567890-and-more") == "<LONGER_TOKEN>"


def test_a_secret_is_found_in_quotes_too():
    value = 'two\nlines "quoted"'
    for text in (value, repr(value), f"{{'password': {value!r}}}", r"two\nlines \"quoted\""):
        assert "lines" not in SECRETS.mask(text)


def test_short_values_and_places_stay():
    text = "1 of 11 in /etc/ssh/host"
    assert SECRETS.mask(text) == text


def test_every_text_of_an_error_is_masked():
    texts = ("type", "message", "traceback", "call", "log_tail")
    error = ErrorRecord(kind="author", **dict.fromkeys(texts, "a sk-1234567890 b"))
    masked = SECRETS.mask_error(error)
    assert {getattr(masked, name) for name in texts} == {"a <OPENAI_API_KEY> b"}


def test_secrets_in_a_graph_are_found_with_their_places():
    graph = {"nodesets": {"llm": {"config": {"keys": ["x", "Bearer sk-1234567890"]}}}, "n": 1}
    assert list(SECRETS.find(graph)) == [("nodesets.llm.config.keys[1]", "OPENAI_API_KEY")]
