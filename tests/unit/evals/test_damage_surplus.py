"""What stands in a file of firings once too often is found; what a killed attempt left is not."""

from dataclasses import replace

import pytest
from tests.unit.store.example import fault, firings, header, key, record

from wayfare.evals.damage_surplus import Span, Surplus, find_surplus_firings, merge_spans
from wayfare.store.firings import pack_firings
from wayfare.store.frames import HEAD_BYTES, FrameWriter, frame
from wayfare.store.truth import FIRINGS_FILE, read_truth
from wayfare.store.writer import RunWriter

KEYS = [key(number) for number in range(4)]


@pytest.fixture
def writer(tmp_path):
    with RunWriter.create(tmp_path, header()) as writer:
        yield writer


def find(writer, *, is_settled=False):
    entries = list(read_truth(writer.folder, KEYS))
    return find_surplus_firings(writer.folder / FIRINGS_FILE, entries, is_settled=is_settled)


def leave(writer, position):
    """Leave firings as a part does that is killed before it has written their record."""
    writer.close()
    file = FrameWriter.open(writer.folder / FIRINGS_FILE)
    (start,) = file.append([pack_firings(position, firings(position))])
    file.close()
    return RunWriter.reopen(writer.folder), Span(start, file.end)


def failed(position, attempts):
    entry = record(position, "error", fault("infrastructure"))
    tries = tuple(replace(entry.attempts[0], number=n + 1) for n in range(attempts))
    return replace(entry, attempts=tries)


def test_what_killed_attempts_left_is_no_surplus(writer):
    writer.append(record(0), firings(0))
    writer, _ = leave(writer, 1)
    assert find(writer) == Surplus()
    writer.append(record(1), firings(1))
    writer.append(failed(2, 1), firings(2))
    writer, _ = leave(writer, 2)
    assert find(writer) == Surplus()
    writer.append(failed(2, 2), firings(2))
    writer, _ = leave(writer, 2)
    assert find(writer) == Surplus()
    writer.close()


def test_firings_of_a_finished_episode_that_stand_again_are_surplus(writer):
    for position in (0, 1):
        writer.append(record(position), firings(position))
    writer, span = leave(writer, 0)
    assert find(writer) == Surplus((span,), frozenset({0}))
    writer.append(record(2), firings(2))
    assert find(writer) == Surplus((span,), frozenset({0}), must_stay=True)
    writer.close()


def test_an_error_s_firings_that_stand_again_are_surplus_where_nothing_was_repeated(writer):
    writer.append(failed(0, 1), firings(0))
    writer, span = leave(writer, 0)
    assert find(writer) == Surplus()
    assert find(writer, is_settled=True) == Surplus((span,), frozenset({0}))
    writer.close()


@pytest.mark.parametrize("before", [0, 1, 3])
@pytest.mark.parametrize("copied", [0, 3])
def test_firings_that_were_put_in_between_are_surplus(writer, before, copied):
    for position in range(4):
        writer.append(record(position), firings(position))
    offsets = [entry.firings_offset for entry in read_truth(writer.folder, KEYS)]
    path = writer.folder / FIRINGS_FILE
    content, packed = path.read_bytes(), frame(pack_firings(copied, firings(copied)))
    at = offsets[before]
    path.write_bytes(content[:at] + packed + packed + content[at:])
    found = find(writer, is_settled=True)
    (span,) = merge_spans(found.spans)
    is_at_end = (before, copied) == (3, 3)
    assert (found.positions, found.is_shifted, found.must_stay) == ({copied}, not is_at_end, False)
    mended = path.read_bytes()
    assert mended[: span.start] + mended[span.end :] == content
    path.write_bytes(content[: offsets[1]] + content[offsets[2] :])
    assert find(writer, is_settled=True) == Surplus()


def test_spans_that_touch_are_one():
    spans = [Span(HEAD_BYTES, 20), Span(20, 30), Span(40, 50)]
    assert merge_spans(spans) == [Span(HEAD_BYTES, 30), Span(40, 50)]
