"""A document is whole, or what is wrong with it is told."""

import os

import pytest

from wayfare.store.document import read_document, write_document
from wayfare.store.errors import CorruptFileError


def test_a_document_comes_back_as_it_was_written(tmp_path):
    write_document(tmp_path / "a.json", {"n": 1, "text": "é"})
    assert read_document(tmp_path / "a.json") == {"n": 1, "text": "é"}


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path, make):
    make(tmp_path / "a.json")
    with pytest.raises(CorruptFileError, match="is no plain file"):
        read_document(tmp_path / "a.json")
