"""Turn an instruction into the token list that R2R-CE's episodes carry.

Knows the rules of the published tokeniser and of a vocabulary; nothing of networks.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any, Mapping

import numpy as np
import numpy.typing as npt

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

    Raises ValueError for a file that holds neither, or whose first words are not the two marks.
    """
    words = read_words(path)
    if not words or [word.lower() for word in words[:2]] != ["<pad>", "<unk>"]:
        raise ValueError(
            f"vocabulary {str(path)!r} begins with {words[:2]!r}; the first two words must be "
            "'<pad>' and '<unk>': give an R2R-CE episode file or its word list"
        )
    return {word: number for number, word in enumerate(words)}


def read_words(path: Path) -> list[str]:
    if ".json" not in path.suffixes:
        return path.read_text(encoding="utf-8").splitlines()
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        document: Any = json.load(file)
    try:
        return [str(word) for word in document["instruction_vocab"]["word_list"]]
    except (KeyError, TypeError):
        raise ValueError(
            f"vocabulary {str(path)!r} has no 'instruction_vocab' with a 'word_list'; "
            "give an episode file of R2R-CE, which has"
        ) from None
