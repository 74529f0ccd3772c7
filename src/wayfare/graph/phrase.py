"""Choose how one node is written in builder code: which method, with which arguments.

Knows nothing of the other nodes or of the order of lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from wayfare.graph.builtin import AFTER
from wayfare.graph.document import NodeSpec
from wayfare.graph.inference import FINAL, INIT
from wayfare.graph.literal import is_keyword_argument, literal, mapping, text

Wiring = Mapping[str, Sequence[str]]
"""Input port -> the expressions wired to it; only `after` has several."""
Style = Literal["node", "output", "begin", "end"]
"""What a variable holds: a node, its only output, or a loop, of which two nodes are parts."""

_TAKEN: Mapping[Style, frozenset[str]] = {
    "node": frozenset({"connect"}),
    "output": frozenset(),
    "begin": frozenset({"begin", "end", "final", "carry", "stop", "final_step", "truncated"}),
    "end": frozenset(),
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A call of a builder's method. `ports` are the wired inputs in the order of their edges."""

    method: str
    arguments: tuple[tuple[str, str], ...]
    ports: tuple[str, ...]
    style: Style = "node"


def phrase(node: NodeSpec, id: str | None, wiring: Wiring) -> Phrase:
    """Return the call that makes the node; `id` is None where it gets its own by itself."""
    write = _BUILTINS.get(node.type)
    found = write(node.config, wiring) if write else None
    if found is None:
        return _plain(node, id, wiring)
    named = (("id", text(id)),) if id is not None else ()
    return Phrase(found.method, (*found.arguments, *named), found.ports, found.style)


def loop_phrase(
    begin: NodeSpec, end: NodeSpec, *, ids: tuple[str | None, str | None], wiring: Wiring
) -> Phrase:
    """Return the call that begins a loop; `ids` are None where they come by themselves."""
    named = {"end", "ports", "max_turns", "initial", "after", "id", "self"}
    initial = {port.removeprefix(INIT): wiring[port] for port in wiring if port != AFTER.name}
    inputs, ports = _inputs("initial", initial, named)
    arguments = [("", text(ids[0]))] if ids[0] is not None else []
    if ids[1] is not None:
        arguments.append(("end", text(ids[1])))
    names = begin.config["ports"]
    if list(ports) != names:
        arguments.append(("ports", literal(names)))
    if "max_turns" in end.config:
        arguments.append(("max_turns", literal(end.config["max_turns"])))
    wired = [INIT + port for port in ports]
    if AFTER.name in wiring:
        inputs.append((AFTER.name, _several(wiring[AFTER.name])))
        wired.append(AFTER.name)
    return Phrase("loop", (*arguments, *inputs), tuple(wired))


def wire_phrase(wiring: Wiring) -> Phrase:
    """Return the arguments of a `connect` or a `carry`."""
    wrapped = {port: wiring[port] for port in wiring if not is_keyword_argument(port)}
    keywords = [port for port in wiring if port not in wrapped]
    arguments = [(port, _several(wiring[port])) for port in keywords]
    if wrapped:
        arguments.insert(0, ("", mapping({port: _several(wrapped[port]) for port in wrapped})))
    return Phrase("connect", tuple(arguments), (*wrapped, *keywords))


def refer(variable: str, style: Style, port: str) -> str:
    """Return the expression for an output port."""
    match style:
        case "output":
            return variable
        case "end" if port not in ("final_step", "truncated"):
            return _attribute(f"{variable}.final", port.removeprefix(FINAL), frozenset())
    return _attribute(variable, port, _TAKEN[style])


def refer_node(variable: str, style: Style) -> str:
    """Return the expression for the node itself, which has `connect`."""
    parts = {"node": "", "output": ".node", "begin": ".begin", "end": ".end"}
    return variable + parts[style]


def _attribute(owner: str, name: str, taken: frozenset[str]) -> str:
    if is_keyword_argument(name) and not name.startswith("_") and name not in taken:
        return f"{owner}.{name}"
    return f"{owner}[{text(name)}]"


def _several(expressions: Sequence[str]) -> str:
    return expressions[0] if len(expressions) == 1 else f"[{', '.join(expressions)}]"


def _inputs(
    wrapper: str, wiring: Wiring, named: set[str]
) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return the arguments that wire inputs, and the ports in the order in which that happens."""
    wrapped = {p: wiring[p] for p in wiring if not is_keyword_argument(p) or p in named}
    keywords = [port for port in wiring if port not in wrapped]
    arguments = [(port, _several(wiring[port])) for port in keywords]
    if wrapped:
        value = mapping({port: _several(wrapped[port]) for port in wrapped})
        arguments.insert(0, (wrapper, value))
    return arguments, (*wrapped, *keywords)


def _plain(node: NodeSpec, id: str | None, wiring: Wiring) -> Phrase:
    named = {"id", "config", "inputs"}
    arguments = [("", text(node.type))]
    if id is not None:
        arguments.append(("", text(id)))
    unclear = named | set(wiring)
    keys = node.config
    wrapped = {k: keys[k] for k in keys if not is_keyword_argument(k) or k in unclear}
    if wrapped:
        arguments.append(("config", literal(wrapped)))
    arguments += [(key, literal(keys[key])) for key in keys if key not in wrapped]
    inputs, ports = _inputs("inputs", wiring, named)
    return Phrase("add", (*arguments, *inputs), ports)


Config = Mapping[str, JsonValue]


def _episode(config: Config, wiring: Wiring) -> Phrase | None:
    return None if config or wiring else Phrase("episode", (), ())


def _const(config: Config, wiring: Wiring) -> Phrase | None:
    if set(config) != {"value"} or wiring:
        return None
    return Phrase("const", (("", literal(config["value"])),), (), "output")


def _switch(config: Config, wiring: Wiring) -> Phrase | None:
    ports = ("value", "condition")
    if config or set(wiring) != set(ports):
        return None
    return Phrase("switch", tuple(("", wiring[port][0]) for port in ports), ports)


def _merge(config: Config, wiring: Wiring) -> Phrase | None:
    names = config.get("ports")
    if set(config) != {"ports"} or not isinstance(names, list) or set(wiring) != set(names):
        return None
    ordered = {str(name): wiring[str(name)] for name in names}
    inputs, ports = _inputs("inputs", ordered, {"id", "inputs"})
    return Phrase("merge", tuple(inputs), ports, "output") if list(ports) == names else None


def _collect(config: Config, wiring: Wiring) -> Phrase | None:
    if config or set(wiring) != {"value"}:
        return None
    return Phrase("collect", (("", wiring["value"][0]),), ("value",), "output")


def _graph_in(config: Config, wiring: Wiring) -> Phrase | None:
    wire_type, optional = config.get("type"), config.get("optional")
    known = {"portName", "type", "optional"}
    if wiring or not known.issuperset(config) or wire_type == "ANY" or optional is False:
        return None
    arguments = [("", literal(config["portName"]))]
    if wire_type is not None:
        arguments.append(("", literal(wire_type)))
    if optional is not None:
        arguments.append(("optional", literal(optional)))
    return Phrase("input", tuple(arguments), (), "output")


def _graph_out(config: Config, wiring: Wiring) -> Phrase | None:
    if set(config) != {"portName"} or set(wiring) != {"value"}:
        return None
    arguments = (("", literal(config["portName"])), ("", wiring["value"][0]))
    return Phrase("output", arguments, ("value",))


def _inner(method: str) -> Callable[[Config, Wiring], Phrase | None]:
    def write(config: Config, wiring: Wiring) -> Phrase | None:
        if set(config) != {"graph"}:
            return None
        inputs, ports = _inputs("inputs", wiring, {"id", "inputs"})
        return Phrase(method, (("", literal(config["graph"])), *inputs), ports)

    return write


_BUILTINS: Mapping[str, Callable[[Config, Wiring], Phrase | None]] = {
    "episode": _episode,
    "const": _const,
    "switch": _switch,
    "merge": _merge,
    "collect": _collect,
    "graphIn": _graph_in,
    "graphOut": _graph_out,
    "subgraph": _inner("subgraph"),
    "map": _inner("map"),
}
