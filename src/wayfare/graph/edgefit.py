"""Check that what an edge carries fits the port at its end.

Knows nothing of scopes; types and volatility come from the inference.
"""

from __future__ import annotations

from collections.abc import Iterable

from nodeset.errors import PortError
from nodeset.ports import PortDef, accept, is_compatible
from wayfare.graph.anatomy import Edge, Node, Sketch
from wayfare.graph.builtin import AFTER, ConstConfig
from wayfare.graph.fault import Fault
from wayfare.graph.inference import Inference

METRIC_TYPES = ("INT", "FLOAT", "BOOL", "METRICS", "JSON", "ANY")


def edge_faults(sketch: Sketch, inference: Inference) -> Iterable[Fault]:
    """Report type mismatches and volatile values where they may not go."""
    for edge in sketch.edges:
        target = sketch.nodes[edge.target]
        port = target.input(edge.target_port)
        if port is None or port is AFTER:
            continue
        source = sketch.nodes[edge.source]
        if target.type == "graphOut":
            yield from _result_fault(source, edge, inference)
        elif isinstance(source.config, ConstConfig):
            yield from _constant_fault(source, source.config, edge, port)
        else:
            yield from _type_fault(source, edge, port, inference)
        yield from _volatility_fault(target, edge, port, inference)


def _result_fault(source: Node, edge: Edge, inference: Inference) -> Iterable[Fault]:
    kind = inference.type_of(edge)
    if kind not in METRIC_TYPES:
        given = f"{source.path}.{edge.source_port} gives {kind}"
        rule = f"{given}, but a graphOut takes a number, BOOL or METRICS"
        yield Fault("type", edge.place, rule, "Wire a metric.")


def _constant_fault(
    source: Node, config: ConstConfig, edge: Edge, port: PortDef
) -> Iterable[Fault]:
    try:
        accept(port, config.value, f"const {source.path!r} at input")
    except PortError as error:
        yield Fault("type", edge.place, str(error), f"Change the value of {source.path!r}.")


def _type_fault(source: Node, edge: Edge, port: PortDef, inference: Inference) -> Iterable[Fault]:
    kind = inference.type_of(edge)
    if not is_compatible(kind, port.wire_type):
        given = f"{source.path}.{edge.source_port} gives {kind}"
        rule = f"{given}, but input {port.name!r} takes {port.wire_type}"
        yield Fault("type", edge.place, rule, "Wire a port of a type that fits.")


def _volatility_fault(
    target: Node, edge: Edge, port: PortDef, inference: Inference
) -> Iterable[Fault]:
    steady = _steady_end(target, port)
    if steady and inference.is_volatile(edge):
        rule = f"a volatile value reaches {steady}, which must be the same in every attempt"
        yield Fault("volatile", edge.place, rule, "Wire a port that is not volatile.")


def _steady_end(target: Node, port: PortDef) -> str:
    match (target.type, port.name):
        case ("graphOut", _):
            return "a graphOut"
        case ("iterOut", "stop"):
            return "a stop"
        case ("switch", "condition"):
            return "a condition"
    return "an action port" if port.wire_type == "ACTION" else ""
