"""Report everything that is wrong with a graph document, all at once.

Knows nothing of files or processes; tools are known by their manifests only.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from nodeset.ports import PortDef
from wayfare.graph.anatomy import Edge, Manifest, Node, Sketch
from wayfare.graph.builtin import (
    AFTER,
    MAP_IN,
    MAP_OUT,
    GraphInConfig,
    GraphOutConfig,
    IterOutConfig,
)
from wayfare.graph.document import GraphDocument
from wayfare.graph.edgefit import edge_faults
from wayfare.graph.fault import Fault, GraphError, suggest
from wayfare.graph.inference import Inference
from wayfare.graph.scope import ROOT, Loop, Scopes, find_scopes
from wayfare.graph.sketch import draw
from wayfare.graph.tooltype import nodesets_of

__all__ = ["Fault", "GraphError", "validate", "validate_structure"]

NEEDED_BUILTINS = ("const", "episode", "switch", "merge", "collect")


def validate(
    document: GraphDocument, manifests: Mapping[str, Manifest], *, unreadable: Container[str] = ()
) -> list[Fault]:
    """Return all faults; `manifests` go by the nodeset's name in the graph, aliases included.

    Nothing is said of the tools of nodesets that are `unreadable`: whether they exist is not known.
    """
    faults = _check(document, manifests)
    return [fault for fault in faults if fault.missing_nodeset not in unreadable]


def validate_structure(document: GraphDocument) -> list[Fault]:
    """Return the faults that can be seen without a manifest: nothing of a tool's ports."""
    return _check(document, None)


def _check(document: GraphDocument, manifests: Mapping[str, Manifest] | None) -> list[Fault]:
    sketch = draw(document, manifests)
    faults = list(sketch.faults)
    faults.extend(_nodeset_faults(document, sketch, manifests))
    if not any(node.type == "graphOut" for node in sketch.nodes):
        rule = "the graph has no graphOut, so it has no result"
        faults.append(Fault("no-result", "nodes", rule, "Add a graphOut and wire a metric to it."))
    broken = frozenset(fault.place for fault in sketch.faults)
    faults.extend(_graph_faults(sketch, broken, None))
    return faults


def _graph_faults(
    sketch: Sketch, broken: frozenset[str], around: tuple[Inference, Node] | None
) -> Iterable[Fault]:
    """Report what is wrong with a graph as a whole, and with those of its maps.

    `broken` are the places that have a fault of their own; `around` is the map whose graph it is,
    after what is known in that graph from outside.
    """
    yield from _double_edges(sketch)
    yield from _unwired(sketch)
    yield from _without_effect(sketch, broken)
    yield from _name_faults(sketch)
    scopes = find_scopes(sketch)
    loops: Sequence[Loop] = ()
    if isinstance(scopes, Scopes):
        loops = scopes.loops
        yield from scopes.faults
        yield from _placement_faults(sketch, scopes)
        yield from _bound_faults(sketch, scopes, around[1] if around else None)
    else:
        yield from scopes
    inference = around[0] if around else Inference(sketch, loops)
    yield from edge_faults(sketch, inference)
    for node in sketch.nodes:
        within = inference.within(node.index)
        if node.inner is not None and within is not None:
            yield from _graph_faults(node.inner, broken, (within, node))


def _nodeset_faults(
    document: GraphDocument, sketch: Sketch, manifests: Mapping[str, Manifest] | None
) -> Iterable[Fault]:
    used = sketch.nodesets
    names = nodesets_of(document)
    for name, spec in document.nodesets.items():
        place = f"nodesets.{name}"
        if name not in used and name != document.environment:
            rule = f"no node of the graph belongs to a nodeset {name!r}"
            yield Fault("nodeset", place, rule, suggest(name, [n for n in names if n in used]))
        manifest = (manifests or {}).get(name)
        known = (manifest or {}).get("default_config") or {}
        for key in spec.config if manifest is not None else ():
            if key not in known:
                rule = f"nodeset {name!r} knows no config key {key!r}"
                yield Fault("config-key", place, rule, suggest(key, known))
    environment = document.environment
    if environment is not None and environment not in used | set(document.nodesets):
        rule = f"the graph has no nodeset {environment!r}"
        yield Fault("environment", "environment", rule, suggest(environment, used))


def _double_edges(sketch: Sketch) -> Iterable[Fault]:
    first: dict[tuple[int, str], Edge] = {}
    for edge in sketch.edges:
        port = (edge.target, edge.target_port)
        if edge.target_port == AFTER.name:
            continue
        if port in first:
            name = f"{sketch.nodes[edge.target].path}.{edge.target_port}"
            rule = f"input {name!r} already has an edge: {first[port].place}"
            remedy = "Join alternatives with a merge; only 'after' takes several edges."
            yield Fault("double-edge", edge.place, rule, remedy)
        first.setdefault(port, edge)


def _unwired(sketch: Sketch) -> Iterable[Fault]:
    wired = {(edge.target, edge.target_port) for edge in sketch.edges} | sketch.claimed
    touched = _touched(sketch)
    for node in sketch.nodes:
        is_input = isinstance(node.config, GraphInConfig)
        if node.signature is None or not (is_input or node.index in touched):
            continue
        for port in node.signature.inputs.values():
            if not port.optional and (node.index, port.name) not in wired:
                rule = f"required input {_name_of(node, port)} is not wired"
                yield Fault("unwired", node.place, rule, "Wire it.")


def _without_effect(sketch: Sketch, broken: frozenset[str]) -> Iterable[Fault]:
    """Report nodes that no edge touches and built-ins whose outputs lead nowhere.

    A node that is broken in itself is left out: its edges may be missing for that reason.
    """
    touched = _touched(sketch)
    sources = {edge.source for edge in sketch.edges} | sketch.touched
    for node in sketch.nodes:
        if node.place in broken:
            continue
        if isinstance(node.config, GraphInConfig):
            continue
        if node.type == "iterIn" and node.index not in sources:
            rule = f"loop {node.path!r} is empty: no edge leads out of its iterIn"
            yield Fault("unreachable", node.place, rule, "Wire one of its outputs, such as 'step'.")
        elif node.index not in touched:
            required = [port.name for port in _inputs(node) if not port.optional]
            lacking = f" (its required inputs: {', '.join(required)})" if required else ""
            rule = f"node {node.path!r} is unreachable: no edge leads to it or from it{lacking}"
            yield Fault("unreachable", node.place, rule, "Wire it or remove it.")
        elif node.type in NEEDED_BUILTINS and node.index not in sources:
            rule = f"{node.type} {node.path!r} leads nowhere: no edge takes its output"
            yield Fault("unreachable", node.place, rule, "Wire an output or remove it.")


def _name_of(node: Node, port: PortDef) -> str:
    """Name an input as the person knows it: a relay is the port of a subgraph."""
    if isinstance(node.config, GraphInConfig):
        subgraph = node.path.rpartition("/")[0]
        return f"{node.config.port_name!r} ({port.wire_type}) of subgraph {subgraph!r}"
    kind = "graphOut" if isinstance(node.config, GraphOutConfig) else node.type
    return f"{port.name!r} ({port.wire_type}) of {kind}"


def _touched(sketch: Sketch) -> frozenset[int]:
    ends = {index for edge in sketch.edges for index in (edge.source, edge.target)}
    return sketch.touched | ends


def _inputs(node: Node) -> Iterable[PortDef]:
    return node.signature.inputs.values() if node.signature else ()


def _name_faults(sketch: Sketch) -> Iterable[Fault]:
    """Report results, or inputs of a map's graph, that share a name."""
    first: dict[tuple[str, str], Node] = {}
    for node in sketch.nodes:
        match node.config:
            case GraphOutConfig(port_name=name):
                word, kind = "result", "graphOut"
            case GraphInConfig(port_name=name) if node.type == MAP_IN:
                word, kind = "input", "graphIn"
            case _:
                continue
        # Within a subgraph too every output has a name of its own.
        path = node.path[: node.path.rfind("/") + 1] + name
        if (kind, path) in first:
            rule = f"{word} {path!r} is already that of {kind} {first[kind, path].path!r}"
            place = f"{node.place} config.portName"
            remedy = f"Every {kind} needs its own portName."
            yield Fault(f"duplicate-{word}", place, rule, remedy)
        first.setdefault((kind, path), node)


def _placement_faults(sketch: Sketch, scopes: Scopes) -> Iterable[Fault]:
    unsure = sketch.find_unsure()
    for node in sketch.nodes:
        scope = scopes.scope_of[node.index]
        loop = sketch.nodes[scope].path if scope != ROOT else ""
        if node.type in ("graphOut", MAP_OUT) and loop:
            rule = f"graphOut {node.path!r} stands inside loop {loop!r}"
            remedy = "Wire it to a final_* port of the loop's iterOut, or to a collect."
            yield Fault("loop-escape", node.place, rule, remedy)
        is_stray = node.index in _touched(sketch) and node.index not in unsure
        if node.type == "collect" and not loop and is_stray:
            rule = f"collect {node.path!r} stands outside loops: nothing in a loop leads to it"
            yield Fault("loop", node.place, rule, "Wire it to a value that is made in a loop.")


def _bound_faults(sketch: Sketch, scopes: Scopes, outer: Node | None) -> Iterable[Fault]:
    """Report inner loops without a bound: the step budget is for the outermost loop alone."""
    for loop in scopes.loops:
        config = sketch.nodes[loop.exit].config
        if not isinstance(config, IterOutConfig) or config.max_turns is not None:
            continue
        parent = scopes.parent_of[loop.entry]
        around = f"loop {sketch.nodes[parent].path!r}" if parent != ROOT else ""
        if outer is not None and not around:
            around = f"map {outer.path!r}"
        if around:
            rule = f"loop {sketch.nodes[loop.entry].path!r} is inside {around}"
            place = f"{sketch.nodes[loop.exit].place} config.max_turns"
            remedy = "Add 'max_turns' to the iterOut's config."
            yield Fault("config", place, f"{rule} and must have max_turns", remedy)
