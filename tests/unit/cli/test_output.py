"""How commands write to what is no terminal, or refuses."""

import io
import signal
import sys
from pathlib import Path

import pytest
from rich.table import Table

from wayfare import cli
from wayfare.cli.output import OutputError, prepare_streams, print_json, print_table, print_text


class Loading:
    """An import that takes so long that somebody interrupts it."""

    def find_spec(self, name, *_):
        if name == "wayfare.cli.app":
            raise KeyboardInterrupt


def test_a_table_in_a_pipe_has_whole_lines_without_spaces_at_their_ends(capsys):
    table = Table("name", "what", box=None)
    table.add_row("a", "word " * 60)
    table.add_row("b", "")
    print_table(table)
    lines = capsys.readouterr().out.splitlines()
    assert [len(line.split()) for line in lines] == [2, 61, 1]
    assert all(line == line.rstrip() for line in lines)


def test_a_full_disk_is_one_sentence(monkeypatch):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(OutputError, match="can't be written: No space left on device"):
            print_json({"a": 1})


def test_a_reader_that_has_gone_is_no_error(monkeypatch):
    class Gone(io.StringIO):
        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Gone())
    print_text("nobody reads this")


def test_what_an_encoding_lacks_is_written_in_ascii(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    prepare_streams()
    print_text("1 \xb7 2 \u2026 \xfc")
    assert raw.getvalue() == b"1 - 2 ... \\xfc\n"


@pytest.fixture
def own_handler():
    """Put back the handler that the command replaces."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("own_handler")
def test_an_interrupt_while_the_command_loads_is_one_line(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "wayfare.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Loading(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "wayfare: interrupted.\n"
