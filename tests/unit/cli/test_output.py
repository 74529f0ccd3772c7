"""How commands write to what is no terminal, or refuses."""

import ast
import io
import signal
import sys
from pathlib import Path

import pytest
from rich.table import Table

from wayfare import cli
from wayfare.cli.output import (
    OutputError,
    Text,
    open_errors,
    prepare_streams,
    print_data,
    print_json,
    print_table,
    print_text,
    tell_progress,
)


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
def own_handlers():
    """Put back the handlers that the command replaces."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR2)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("own_handlers")
def test_an_interrupt_while_the_command_loads_is_one_line(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "wayfare.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Loading(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "wayfare: interrupted.\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


STEERING = "a\x1b[31mred\x9b2J\u202eb"
SHOWN = "a\\x1b[31mred\\x9b2J\\u202eb"


def test_text_of_others_steers_no_terminal(capsys):
    table = Table("name", box=None, pad_edge=False)
    table.add_row(Text(STEERING))
    print_text(STEERING)
    print_table(table, Text(STEERING))
    tell_progress(STEERING)
    open_errors().print(STEERING)
    told = capsys.readouterr()
    assert told.out.splitlines() == [SHOWN, "name", SHOWN, SHOWN]
    assert told.err.splitlines() == [SHOWN, SHOWN]


def test_a_terminal_gets_the_commands_own_colours(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", Terminal())
    print_table(Text(STEERING, style="bold"))
    assert sys.stdout.getvalue() == f"\x1b[1m{SHOWN}\x1b[0m\n"


def test_data_is_as_it_is_but_on_a_terminal(monkeypatch, capsys):
    print_data(STEERING)
    assert capsys.readouterr().out == f"{STEERING}\n"
    monkeypatch.setattr(sys, "stdout", Terminal())
    print_data(STEERING)
    assert sys.stdout.getvalue() == f"{SHOWN}\n"


def test_only_one_module_of_the_commands_prints():
    folder = Path(cli.__file__).parent
    apart = {"output.py", "doctor_egl.py"}  # the latter is a program that a process of its own runs
    printing = [
        f"{path.name}:{call.lineno}"
        for path in sorted(folder.glob("*.py"))
        if path.name not in apart
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("print", "Console")
    ]
    assert printing == []
    laying_out = [path.name for path in folder.glob("*.py") if "rich.text" in path.read_text()]
    assert laying_out == ["output.py"]
