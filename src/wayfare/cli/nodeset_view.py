"""Draw nodesets and graphs: the lists of all, and one nodeset with its tools and ports.

Knows nothing of how they are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from wayfare.cli.output import Text
from wayfare.fleet.catalogue import NodeSetDescription
from wayfare.fleet.graph_state import GraphState
from wayfare.fleet.interpreter_state import InterpreterState
from wayfare.fleet.registry import BrokenEntry

MAX_CELL = 80


@dataclass(frozen=True, slots=True)
class Listed:
    """One nodeset of the list: what it is, and what it runs in."""

    description: NodeSetDescription
    interpreter: InterpreterState


def nodeset_document(
    description: NodeSetDescription, interpreter: InterpreterState | None = None
) -> dict[str, Any]:
    """Return what `--json` prints of one nodeset."""
    declaration, manifest = description.entry.declaration, description.manifest
    return {
        "name": declaration.name,
        "description": declaration.description,
        "parallelism": declaration.parallelism,
        "file": str(declaration.path),
        "shipped": description.entry.is_shipped,
        "interpreter": _interpreter_document(interpreter),
        "asks_for": declaration.deployment.python,
        "python": manifest["python"] if manifest else None,
        "available": manifest is not None,
        "unavailable": description.unavailable,
        "need": description.need,
        "config": manifest["config"] if manifest else None,
        "tools": manifest["tools"] if manifest else [],
        "controller": manifest["controller"] if manifest else None,
        "metadata": manifest["metadata"] if manifest else None,
    }


def _interpreter_document(found: InterpreterState | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "wish": found.wish,
        "state": found.state,
        "path": str(found.path) if found.path else None,
        "version": found.version,
        "reason": found.reason,
        "need": found.need,
    }


def graph_document(graph: GraphState) -> dict[str, Any]:
    """Return what `--json` prints of one graph."""
    return {
        "name": graph.entry.name,
        "file": str(graph.entry.path),
        "shipped": graph.entry.is_shipped,
        "nodesets": list(graph.nodesets),
        "can_run": graph.can_run,
        "lacks": dict(graph.lacks),
        "fault": graph.fault,
    }


def render_nodesets(
    listed: Sequence[Listed], graphs: Sequence[GraphState] | None, broken: Sequence[BrokenEntry]
) -> RenderableType:
    """Return the tables of `wayfare nodesets`; `graphs` None: nobody asked for them."""
    here = _table("nodeset", "mode", "interpreter")
    # What the others leave: a line for each nodeset, at a glance.
    here.add_column("what it is", no_wrap=True, overflow="ellipsis", ratio=1)
    here.expand = True
    lacking = _table("nodeset", "mode", "lacks")
    for one in listed:
        declaration, found = one.description.entry.declaration, one.interpreter
        if one.description.manifest is not None:
            interpreter = f"{found.version} ({found.wish})"
            texts = (interpreter, _clip(declaration.description))
            here.add_row(declaration.name, declaration.parallelism, *texts)
        else:
            need = _clip(one.description.need)
            lacking.add_row(declaration.name, declaration.parallelism, need)
    parts = [*_group(here, lacking), *_render_broken(broken)]
    parts.append(Text("`wayfare describe NAME` shows a nodeset's tools, or all that it lacks."))
    if any(one.interpreter.state == "not built" for one in listed):
        rule = "The first use of a nodeset builds its environment, too."
        parts.append(Text(rule))
    if graphs is not None:
        ready = sum(graph.can_run for graph in graphs)
        which = "`wayfare nodesets --graphs` lists them."
        parts.append(Text(f"{ready} of {len(graphs)} graphs can run here; {which}"))
    return Group(*parts)


def render_reasons(listed: Iterable[Listed]) -> RenderableType:
    """Return in full why nodesets are not available."""
    reasons = ((one.description.entry.name, one.description.unavailable) for one in listed)
    lines = [Text(f"\n{name} is not available: {reason}") for name, reason in reasons if reason]
    return Group(*lines)


def render_graphs(
    graphs: Iterable[GraphState], broken: Sequence[BrokenEntry] = ()
) -> RenderableType:
    """Return the tables of `wayfare nodesets --graphs`."""
    here, lacking = _table("graph", "nodesets"), _table("graph", "lacks")
    for graph in graphs:
        if graph.can_run:
            here.add_row(graph.entry.name, Text(", ".join(graph.nodesets)))
        else:
            lacks = [f"{name}: {_clip(need)}" for name, need in graph.lacks.items()]
            fault = [_clip(graph.fault)] if graph.fault else []
            lacking.add_row(graph.entry.name, Text("\n".join([*lacks, *fault])))
    parts = [*_group(here, lacking), *_render_broken(broken)]
    rule = "Data, checkpoints and graphics that a graph needs are looked for when its run begins."
    return Group(*parts, Text(f"`wayfare eval GRAPH` runs one. {rule}"))


def _group(here: Table, lacking: Table) -> Iterator[RenderableType]:
    if here.row_count:
        yield from (Text("These can run here now:\n"), here, Text())
    if lacking.row_count:
        yield from (Text("These lack something:\n"), lacking, Text())


def _render_broken(broken: Sequence[BrokenEntry]) -> Iterator[RenderableType]:
    if broken:
        reasons = (Text(f"  {entry.reason}") for entry in broken)
        yield from (Text("These can't be read:\n"), *reasons, Text())


def _clip(text: str) -> str:
    """Return the first line of a text, cut where it gets too long for a table."""
    line = text.partition("\n")[0]
    return line if len(line) <= MAX_CELL else f"{line[: MAX_CELL - 1]}…"


def render_nodeset(description: NodeSetDescription) -> RenderableType:
    """Return what `wayfare describe` prints."""
    declaration, manifest = description.entry.declaration, description.manifest
    head = [
        Text(f"{declaration.name} ({declaration.parallelism}) {declaration.description}".rstrip()),
        Text(f"file: {declaration.path}:{declaration.line}"),
    ]
    if manifest is None:
        return Group(*head, Text(f"not available: {description.unavailable}"))
    head.append(Text(f"python: {manifest['python']}"))
    for key, value in manifest["config"].items():
        head.append(Text(f"config {key} = {value!r}"))
    if manifest["metadata"]:
        metadata = manifest["metadata"]
        splits, metrics = ", ".join(metadata["splits"]), ", ".join(metadata["metrics"])
        budget = metadata.get("step_budget")
        head.append(Text(f"brings episodes: splits {splits}; metrics {metrics}; budget {budget}"))
    return Group(*head, *(_render_tool(tool) for tool in manifest["tools"]))


def _render_tool(tool: dict[str, Any]) -> RenderableType:
    batch = f", batched along {tool['batch_dim']}" if tool["batched"] else ""
    title = Text(f"\n{tool['node_type']}{batch}  {tool['description']}", style="bold")
    table = _table("", "port", "type", "")
    for side, ports in (("in", tool["inputs"]), ("out", tool["outputs"])):
        for port in ports:
            flags = [word for word in ("optional", "volatile") if port[word]]
            note = "; ".join(filter(None, [", ".join(flags), port["description"]]))
            table.add_row(side, port["name"], port["wire_type"], Text(note))
    parts: list[RenderableType] = [title, table]
    parts += [Text(f"config {key} = {value!r}") for key, value in tool["default_config"].items()]
    return Group(*parts)


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold")
    return table
