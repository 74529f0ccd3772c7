"""Turn an instruction into the token list that R2R-CE's episodes carry.

Knows the rules of the published tokeniser and of a vocabulary; nothing of networks.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from pathlib import Path
from typing import Any, Mapping

import numpy as np
import numpy.typing as npt

from nodeset import UnavailableError

PAD, UNKNOWN = 0, 1
LENGTH = 200
# As habitat-lab's `datasets/utils.py` has them: what separates words, stays apart, or goes.
SEPARATOR = re.compile(r"([^\w-]+)")
KEPT = "'s"
DROPPED = (",", "?")


def split(sentence: str) -> list[str]:
    """Return a sentence's words and marks in lower case; commas and question marks go."""
    text = sentence.lower().replace(KEPT, " " + KEPT)
    for mark in DROPPED:
        text = text.replace(mark, "")
    return [word.strip() for word in SEPARATOR.split(text) if word.strip()]


def encode(
    sentence: str, vocabulary: Mapping[str, int], length: int = LENGTH
) -> npt.NDArray[np.int64]:
    """Return `length` word numbers: 1 for an unknown word, 0 after the last; more are cut."""
    numbers = [vocabulary.get(word, UNKNOWN) for word in split(sentence)][:length]
    row = np.full(length, PAD, np.int64)
    row[: len(numbers)] = numbers
    return row


def read_vocabulary(path: Path) -> dict[str, int]:
    """Read a vocabulary: one word a line, or an R2R-CE file's `instruction_vocab` (also gzipped).

    Raises UnavailableError for a file that holds neither, or whose first words are not the two
    marks.
    """
    words = read_words(path)
    if not words or [word.lower() for word in words[:2]] != ["<pad>", "<unk>"]:
        raise UnavailableError(
            f"vocabulary {str(path)!r} begins with {words[:2]!r}; the first two words must be "
            "'<pad>' and '<unk>': give an R2R-CE episode file or its word list"
        )
    return {word: number for number, word in enumerate(words)}


def read_words(path: Path) -> list[str]:
    """Return a file's words in their order. Raises UnavailableError."""
    try:
        document = read_document(path)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UnavailableError(
            f"vocabulary {str(path)!r} cannot be read ({error}); it must be an episode file of "
            "R2R-CE (.json or .json.gz) or UTF-8 text with one word a line: set "
            "--set nodesets.policy_cma.vocabulary=PATH"
        ) from error
    if isinstance(document, str):
        return document.splitlines()
    entry = document.get("instruction_vocab") if isinstance(document, dict) else None
    words = entry.get("word_list") if isinstance(entry, dict) else None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise UnavailableError(
            f"vocabulary {str(path)!r} has no 'instruction_vocab' with a 'word_list' of words; "
            "give an episode file of R2R-CE, which has"
        )
    return words


def read_document(path: Path) -> Any:
    """Return a text file's text, or a JSON file's document, unless that is mere text."""
    if ".json" not in path.suffixes:
        return path.read_text(encoding="utf-8")
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        document: Any = json.load(file)
    return None if isinstance(document, str) else document


def check_fits(vocabulary: Mapping[str, int], table: int) -> None:
    """Raise UnavailableError for more words than the network's embedding table has rows."""
    if len(vocabulary) > table:
        raise UnavailableError(
            f"the vocabulary has {len(vocabulary)} words, and the network's embedding table "
            f"{table} rows; every word must have one: set 'vocabulary' to the list that the "
            "checkpoint was trained with"
        )
