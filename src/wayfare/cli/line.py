"""Take the words of `wayfare call` apart and hold them against the tools that they name.

Knows nothing of processes: tools are known by their manifests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeset.errors import PortError
from nodeset.ports import PortDef, accept, is_compatible
from wayfare.cli.value import FILE_SUFFIX, ValueTextError, read_value
from wayfare.evals.errors import SetupError
from wayfare.graph.fault import suggest
from wayfare.graph.setting import value_faults
from wayfare.graph.tooltype import SEPARATOR, split_type

THEN = "then"
"""The word between two calls."""
_REFERENCE = re.compile(r"@(\w+)\.(\w+)")


class CallLineError(SetupError):
    """The line does not say a call that could be made."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """One call as it was typed."""

    nodeset: str
    tool: str
    inputs: Mapping[str, str]

    @property
    def node_type(self) -> str:
        """Return the tool's full name."""
        return f"{self.nodeset}{SEPARATOR}{self.tool}"


@dataclass(frozen=True, slots=True)
class Reference:
    """The output of an earlier call of the line, which becomes an input."""

    position: int
    port: str


@dataclass(frozen=True, slots=True)
class BoundCall:
    """One call that its tool takes: values and references, each of a known port."""

    nodeset: str
    tool: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, PortDef]
    config: Mapping[str, Any]

    @property
    def node_type(self) -> str:
        """Return the tool's full name."""
        return f"{self.nodeset}{SEPARATOR}{self.tool}"


def read_line(words: Sequence[str]) -> list[WrittenCall]:
    """Return the calls: each a tool and its `port=value` words, `then` between two."""
    return [_read_call(part) for part in _split(words)]


def bind_calls(
    calls: Sequence[WrittenCall],
    manifests: Mapping[str, Mapping[str, Any]],
    node_config: Mapping[str, Any],
) -> list[BoundCall]:
    """Return the calls with values of their ports' types; `node_config` goes to who knows the key.

    Raises CallLineError naming tool, port or key, what came and what was due.
    """
    tools = [_find_tool(call, manifests[call.nodeset]) for call in calls]
    for key in node_config:
        known = {name for tool in tools for name in tool["default_config"]}
        if key not in known:
            raise CallLineError(f"--node-config {key}: no called tool knows it. {_list(known)}")
    for call, tool in zip(calls, tools, strict=True):
        _check_values(call, node_config, tool["default_config"])
    bound: list[BoundCall] = []
    for call, tool in zip(calls, tools, strict=True):
        ports = {port["name"]: PortDef(**port) for port in tool["inputs"]}
        bound.append(
            BoundCall(
                nodeset=call.nodeset,
                tool=call.tool,
                inputs=_bind_inputs(call, ports, bound),
                outputs={port["name"]: PortDef(**port) for port in tool["outputs"]},
                config={k: v for k, v in node_config.items() if k in tool["default_config"]},
            )
        )
    return bound


def _split(words: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for word in [*words, THEN]:
        if word != THEN:
            part.append(word)
            continue
        if not part:
            raise CallLineError(f"a call is missing: `{THEN}` stands between two calls.")
        yield part
        part = []


def _read_call(words: Sequence[str]) -> WrittenCall:
    parts = split_type(words[0])
    if parts is None or "=" in words[0]:
        raise CallLineError(
            f"{words[0]!r} is no tool; a call begins with one, as <nodeset>__<tool> "
            f"(`wayfare describe NODESET` lists them)."
        )
    inputs: dict[str, str] = {}
    for word in words[1:]:
        port, equals, text = word.partition("=")
        if not equals or not port:
            raise CallLineError(
                f"{words[0]}: {word!r} must read port=value; the next call begins after `{THEN}`."
            )
        if port in inputs:
            raise CallLineError(f"{words[0]}: port {port!r} is given twice.")
        inputs[port] = text
    return WrittenCall(*parts, inputs)


def _find_tool(call: WrittenCall, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    tools: dict[str, Mapping[str, Any]] = {tool["name"]: tool for tool in manifest["tools"]}
    if call.tool not in tools:
        raise CallLineError(
            f"nodeset {call.nodeset!r} has no tool {call.tool!r}. {suggest(call.tool, tools)}"
        )
    return tools[call.tool]


def _check_values(
    call: WrittenCall, config: Mapping[str, Any], defaults: Mapping[str, Any]
) -> None:
    option = "--node-config "
    for fault in value_faults(call.node_type, config, defaults, place=option, option=option):
        raise CallLineError(str(fault))


def _bind_inputs(
    call: WrittenCall, ports: Mapping[str, PortDef], earlier: Sequence[BoundCall]
) -> dict[str, Any]:
    where = f"{call.node_type} input"
    for name in call.inputs:
        if name not in ports:
            rule = f"{where} {name!r}: there is no such port."
            raise CallLineError(f"{rule} {describe_ports(ports)}")
    inputs = {}
    for name, port in ports.items():
        if name not in call.inputs:
            if port.optional:
                continue
            rule = f"{where} {name!r} ({port.wire_type}): got nothing, due a value."
            raise CallLineError(f"{rule} {describe_ports(ports)}")
        text = call.inputs[name]
        try:
            inputs[name] = _bind(port, text, where, earlier)
        except ValueTextError as error:
            at = f"{where} {name!r} ({port.wire_type}): got {_shorten(text)}"
            reason = str(error).rstrip(".")
            raise CallLineError(f"{at}: {reason}. {describe_ports(ports)}") from error
        except PortError as error:
            raise CallLineError(f"{error}. {describe_ports(ports)}") from error
    return inputs


def _bind(port: PortDef, text: str, where: str, earlier: Sequence[BoundCall]) -> Any:
    named = None if text.endswith(FILE_SUFFIX) else _REFERENCE.fullmatch(text)
    if named is None:
        return accept(port, read_value(port, text), where)
    tool, output = named.groups()
    for position, call in reversed(list(enumerate(earlier))):
        if tool in (call.tool, call.node_type):
            _check_reference(port, output, call)
            return Reference(position, output)
    made = ", ".join(call.tool for call in earlier) or "none"
    raise ValueTextError(f"no earlier call of the line is one of {tool!r}; there are: {made}")


def _check_reference(port: PortDef, output: str, call: BoundCall) -> None:
    source = call.outputs.get(output)
    if source is None:
        raise ValueTextError(
            f"{call.node_type} has no output {output!r}; {suggest(output, call.outputs)}"
        )
    if not is_compatible(source.wire_type, port.wire_type):
        raise ValueTextError(
            f"{call.node_type} output {output!r} is {source.wire_type}, which does not fit"
        )


def describe_ports(ports: Mapping[str, PortDef]) -> str:
    """Return the ports in one sentence, with how arrays are written if there are any."""
    texts = [
        f"{p.name} ({p.wire_type}{', optional' if p.optional else ''})" for p in ports.values()
    ]
    kinds = {port.wire_type for port in ports.values()}
    arrays = kinds & {"ARRAY", "IMAGE", "DEPTH", "POSE"}
    hint = f" An array is written as a JSON list or as @file{FILE_SUFFIX}." if arrays else ""
    return f"The ports are: {', '.join(texts) or 'none'}.{hint}"


def _list(names: set[str]) -> str:
    return f"The keys are: {', '.join(sorted(names)) or 'none'}."


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
