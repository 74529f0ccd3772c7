"""VLN-CE's tokeniser, on sentences by hand and on the published episodes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from nodesets.policy_cma import tokens

from nodeset import UnavailableError

VOCABULARY = {"<pad>": 0, "<unk>": 1, "walk": 2, "past": 3, "the": 4, "sofa": 5, "'s": 6, ".": 7}


def test_a_sentence_is_split_in_lower_case_without_commas_and_question_marks() -> None:
    assert tokens.split("Walk past, the SOFA. Why?") == ["walk", "past", "the", "sofa", ".", "why"]


def test_a_genitive_comes_apart_and_a_hyphen_joins() -> None:
    assert tokens.split("the sofa's end-table") == ["the", "sofa", "'", "s", "end-table"]


def test_marks_that_stand_together_are_one_word() -> None:
    assert tokens.split('stop... "here".') == ["stop", '... "', "here", '".']


def test_numbers_fill_200_places_and_a_longer_text_is_cut() -> None:
    row = tokens.encode("Walk past the lamp.", VOCABULARY)
    long = tokens.encode("walk " * 300, VOCABULARY)

    assert row.shape == (200,)
    assert row[:6].tolist() == [2, 3, 4, 1, 7, 0]
    assert long.tolist() == [2] * 200


def test_a_word_list_is_read_and_one_without_its_marks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("\n".join(VOCABULARY))
    (tmp_path / "bare.txt").write_text("walk\npast\n")

    assert tokens.read_vocabulary(tmp_path / "words.txt") == VOCABULARY
    with pytest.raises(UnavailableError, match=r"begins with \['walk', 'past'\].*'<unk>'"):
        tokens.read_vocabulary(tmp_path / "bare.txt")


def test_a_document_without_a_vocabulary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "episodes.json").write_text('{"episodes": []}')

    with pytest.raises(UnavailableError, match="has no 'instruction_vocab'"):
        tokens.read_vocabulary(tmp_path / "episodes.json")


def test_every_published_episode_has_the_tokens_that_its_text_gives(
    data_file: Callable[[str], Path],
) -> None:
    path = data_file("r2r_ce/val_unseen.json.gz")
    with gzip.open(path, "rt") as file:
        episodes = json.load(file)["episodes"]
    vocabulary = tokens.read_vocabulary(path)

    instructions = [episode["instruction"] for episode in episodes]
    differing = [
        instruction["instruction_text"]
        for instruction in instructions
        if tokens.encode(instruction["instruction_text"], vocabulary).tolist()
        != instruction["instruction_tokens"]
    ]

    assert (len(vocabulary), len(instructions), differing) == (2504, 1839, [])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("absent.txt", None),
        ("words.json.gz", b"no gzip"),
        ("words.json", b"{"),
        ("words.json", b"[]"),
        ("words.json", b'{"instruction_vocab": {"word_list": {"<pad>": 0}}}'),
        ("words.txt", b"\xff\xfe"),
    ],
)
def test_a_file_that_is_no_vocabulary_is_refused_by_name(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(UnavailableError, match=f"vocabulary .*{name}"):
        tokens.read_vocabulary(tmp_path / name)


def test_a_vocabulary_larger_than_the_embedding_table_is_refused() -> None:
    tokens.check_fits({"<pad>": 0, "<unk>": 1}, 2)
    with pytest.raises(UnavailableError, match=r"has 2 words, .* table 1 rows"):
        tokens.check_fits({"<pad>": 0, "<unk>": 1}, 1)
