"""Draw nodesets: the list of all, and one with its tools and ports.

Knows nothing of how they are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from wayfare.cli.output import Text
from wayfare.fleet.catalogue import NodeSetDescription
from wayfare.fleet.interpreter_state import InterpreterState
from wayfare.fleet.registry import BrokenEntry, GraphEntry


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
    }


def render_nodesets(
    listed: Iterable[Listed], graphs: Sequence[GraphEntry] | None, broken: Sequence[BrokenEntry]
) -> RenderableType:
    """Return the table of `wayfare nodesets`; `graphs` None: nobody asked for them."""
    table = _table("nodeset", "mode", "interpreter", "tools")
    parts: list[RenderableType] = [table]
    for one in listed:
        description = one.description
        declaration, manifest = description.entry.declaration, description.manifest
        tools = ", ".join(tool["name"] for tool in manifest["tools"]) if manifest else "-"
        interpreter = _describe_interpreter(one.interpreter)
        table.add_row(declaration.name, declaration.parallelism, interpreter, tools)
        if manifest is None:
            parts.append(Text(f"\n{declaration.name} is not available: {description.unavailable}"))
    parts += [Text(f"\n{entry.path} can't be used: {entry.reason}") for entry in broken]
    if graphs is not None:
        names = ", ".join(graph.name for graph in graphs) or "none"
        parts.append(Text(f"\ngraphs: {names}"))
    return Group(*parts)


def _describe_interpreter(found: InterpreterState) -> str:
    if found.state != "ready":
        return f"{found.wish}: {found.state}"
    return f"{found.version} ({found.wish})"


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
