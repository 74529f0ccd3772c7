"""Draw what a check came to for people.

Knows nothing of how it was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from wayfare.cli.live import describe_count
from wayfare.cli.output import Text
from wayfare.evals.check.verdict import CounterExample, GraphCheck, NodesetCheck, Property

_STYLES = {"fail": "bold red", "warning": "yellow", "pass": "green", "hint": "cyan"}


def render_check(check: NodesetCheck | GraphCheck) -> RenderableType:
    """Return what `wayfare check` prints."""
    lines = _graph_lines(check) if isinstance(check, GraphCheck) else _nodeset_lines(check)
    parts: list[RenderableType] = [Text("\n".join(lines)), Text(), _table(check.properties)]
    for found in check.properties:
        for example in found.examples:
            parts += [Text(), Text("\n".join(_example_lines(found, example)))]
    failing = sum(found.verdict == "fail" for found in check.properties)
    noun = "property fails" if failing == 1 else "properties fail"
    verdict = f"{failing} {noun}" if failing else "passed"
    return Group(*parts, Text(), Text(f"{check.name}: {verdict}"))


def _nodeset_lines(check: NodesetCheck) -> Iterator[str]:
    yield f"{check.name} ({check.parallelism}), {check.file}"
    seeds = f"{check.copies} copies, hash seeds {', '.join(map(str, check.hash_seeds))}"
    yield f"Python {check.python}, threads: {check.threads}, {seeds}"
    yield f"inputs: {'; '.join(check.inputs) or 'none'}"
    calls = ", ".join(f"{tool.name} {tool.calls}" for tool in check.tools)
    yield f"calls: {calls}"


def _graph_lines(check: GraphCheck) -> Iterator[str]:
    yield f"{check.name}: {describe_count(check.episodes, 'episode')}"
    yield "threads: " + ", ".join(f"{name} {count}" for name, count in check.threads.items())
    for variant in check.variants:
        same = "equal" if variant.is_equal else "DIFFERENT"
        yield f"  {variant.digest}  {same}  {variant.name}"


def _table(properties: Sequence[Property]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("property", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("what that rests on", overflow="fold")
    for found in properties:
        verdict = Text(found.verdict, style=_STYLES.get(found.verdict, "dim"))
        table.add_row(Text(found.name), verdict, Text(found.says))
    return table


def _example_lines(found: Property, example: CounterExample) -> Iterator[str]:
    port = f", output {example.port!r}" if example.port else ""
    if found.name == "inputs":
        port = f", input {example.port!r}"
    place = f" at {example.place}" if example.place else ""
    yield f"{found.name}: {example.tool}{port}{place}"
    yield from (f"  {number}. {call}" for number, call in enumerate(example.calls, 1))
    if example.a or example.b:
        note = f" ({example.note})" if example.note else ""
        yield f"  a: {example.a}"
        yield f"  b: {example.b}{note}"
    elif example.note:
        yield f"  {example.note}"
    yield from (f"  kept: {path}" for path in example.state)
    yield f"  {example.meaning}"
    yield f"  Usual cause: {example.cause}"
