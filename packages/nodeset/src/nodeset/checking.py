"""The rules that a nodeset's tools, metadata and controller must keep, checked when it is loaded.

Knows nothing of how a nodeset is found or run.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, Mapping, NoReturn, Optional, Sequence

from nodeset.contract import (
    FIELD_KINDS,
    Action,
    BaseCanvasNode,
    BaseController,
    BaseNodeSet,
    EpisodeController,
    Field,
)
from nodeset.errors import ContractError, PortError
from nodeset.ports import PortDef, accept, parse_wire_type
from nodeset.source import Declaration
from nodeset.submission import FORMATS

RESERVED_INPUT = "after"
"""The ordering-only input that every node has in a graph."""


def check_mode(nodeset: BaseNodeSet, declaration: Declaration, place: str) -> None:
    """Refuse a nodeset that says or does something else than its declared parallelism means."""
    at = f"{place}, class {type(nodeset).__name__},"
    for key in ("name", "parallelism"):
        declared, actual = getattr(declaration, key), getattr(nodeset, key)
        if declared != actual:
            rule = "it is read from the class body before anything runs: declare it there"
            _refuse(at, f"declares {key}={declared!r} but sets {actual!r} on the instance; {rule}")
    if declaration.parallelism != "shared":
        return
    if getattr(type(nodeset), "begin_episode", None) is not BaseNodeSet.begin_episode:
        _refuse(
            at,
            "is shared and defines begin_episode, which is called on replicated nodesets only; "
            'declare parallelism = "replicated", or keep no state (a tool reads ctx.episode) and '
            "drop begin_episode",
        )


def check_tools(tools: Any, name: str, place: str) -> Dict[str, BaseCanvasNode]:
    """Return {short name: tool}; raises ContractError for the first rule that is broken."""
    if not isinstance(tools, (list, tuple)) or not tools:
        _refuse(place, f"returns {tools!r} from get_tools(); it must be a list of tools")
    result: Dict[str, BaseCanvasNode] = {}
    for tool in tools:
        if not isinstance(tool, BaseCanvasNode):
            rule = "every tool must be an instance of a BaseCanvasNode subclass"
            _refuse(place, f"returns {tool!r} from get_tools(); {rule}")
        at = f"{place}, tool class {type(tool).__name__},"
        short = _short_name(tool, name, at)
        if short in result:
            _refuse(at, f"repeats node_type {tool.node_type!r}; every tool needs its own")
        _check_tool(tool, at)
        result[short] = tool
    return result


def _short_name(tool: BaseCanvasNode, name: str, at: str) -> str:
    prefix = f"{name}__"
    node_type: Any = tool.node_type
    short = node_type[len(prefix) :] if isinstance(node_type, str) else ""
    if not short or not node_type.startswith(prefix) or not short.isidentifier():
        rule = f"it must be {prefix!r} and the tool's name in letters, digits and underscores"
        _refuse(at, f"declares node_type={node_type!r}; {rule}")
    return short


def _check_tool(tool: BaseCanvasNode, at: str) -> None:
    if type(tool).forward is BaseCanvasNode.forward:
        _refuse(at, "has no forward(inputs, ctx); define it")
    inputs = _check_ports(tool.input_ports, "input_ports", at)
    _check_ports(tool.output_ports, "output_ports", at)
    if RESERVED_INPUT in inputs:
        _refuse(at, f"has an input port {RESERVED_INPUT!r}, which every node has for ordering")
    _check_batching(tool, inputs, at)
    default_config: Any = tool.default_config
    if not isinstance(default_config, Mapping):
        _refuse(at, f"declares default_config={default_config!r}; it must be a dict")
    try:
        accept(PortDef("default_config", "ANY"), dict(default_config), "value of")
    except PortError as error:
        _refuse(at, f"has a default_config that cannot cross between processes: {error}")


def _check_ports(ports: Any, key: str, at: str) -> Dict[str, PortDef]:
    if not isinstance(ports, (list, tuple)):
        _refuse(at, f"declares {key}={ports!r}; it must be a list of PortDef")
    known: Dict[str, PortDef] = {}
    for port in ports:
        if not isinstance(port, PortDef):
            _refuse(at, f"has {port!r} in {key}; it must be a PortDef")
        if not str(port.name).isidentifier():
            rule = "a port's name must be letters, digits and underscores"
            _refuse(at, f"has a port named {port.name!r} in {key}; {rule}")
        if port.name in known:
            _refuse(at, f"repeats port {port.name!r} in {key}")
        try:
            parse_wire_type(port.wire_type)
        except ValueError as error:
            _refuse(at, f"declares port {port.name!r}: {error}")
        known[port.name] = port
    return known


def _check_batching(tool: BaseCanvasNode, inputs: Mapping[str, PortDef], at: str) -> None:
    batched: Any = tool.batched
    if not isinstance(batched, bool):
        _refuse(at, f"declares batched={batched!r}; it must be True or False")
    _check_batch_numbers(tool, at)
    if not batched:
        if tool.batch_dim or tool.max_batch or tool.pad_batch:
            _refuse(at, "sets batch_dim, max_batch or pad_batch but not batched = True")
        return
    if tool.batch_dim not in inputs:
        rule = f"it must name one of its input ports: {', '.join(inputs) or 'it has none'}"
        _refuse(at, f"declares batch_dim={tool.batch_dim!r}; {rule}")
    if inputs[tool.batch_dim].optional:
        _refuse(at, f"declares batch_dim={tool.batch_dim!r}, an optional port; it must be required")


def _check_batch_numbers(tool: BaseCanvasNode, at: str) -> None:
    for key in ("max_batch", "pad_batch"):
        value = getattr(tool, key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            _refuse(at, f"declares {key}={value!r}; it must be a whole number from 0 (off)")
    tolerance: Any = tool.batch_tolerance
    if not isinstance(tolerance, (int, float)) or not tolerance >= 0:
        _refuse(at, f"declares batch_tolerance={tolerance!r}; it must be 0 or more")
    if tool.max_batch and tool.pad_batch > tool.max_batch:
        _refuse(at, f"declares pad_batch={tool.pad_batch} above max_batch={tool.max_batch}")


def check_metadata(metadata: Any, place: str) -> None:
    """Refuse evaluation metadata that misses a key or cannot be used."""
    if metadata is None:
        return
    if not isinstance(metadata, dict):
        _refuse(place, f"returns {metadata!r} from get_eval_metadata(); it must be a dict")
    splits = metadata.get("splits")
    if not _is_names(splits) or not splits:
        _refuse(place, f"has metadata splits={splits!r}; it must be a list of one or more names")
    if metadata.get("default_split") not in splits:
        value = metadata.get("default_split")
        _refuse(place, f"has metadata default_split={value!r}; it must be one of {splits!r}")
    if not _is_names(metadata.get("metrics")):
        value = metadata.get("metrics")
        _refuse(place, f"has metadata metrics={value!r}; it must be a list of names")
    budget = metadata.get("step_budget")
    if budget is not None and (not isinstance(budget, int) or budget < 1):
        _refuse(place, f"has metadata step_budget={budget!r}; it must be a whole number from 1")
    try:
        accept(PortDef("get_eval_metadata()", "JSON"), metadata, "value of")
    except PortError as error:
        _refuse(place, f"has metadata that is no JSON: {error}")


def check_scoring(metadata: Any, tools: Mapping[str, BaseCanvasNode], place: str) -> None:
    """Refuse metadata whose metrics' definitions or submission can't be used."""
    if metadata is None:
        return
    definitions = metadata.get("metric_definitions", {})
    if not isinstance(definitions, Mapping) or not all(
        isinstance(facts, Mapping) for facts in definitions.values()
    ):
        rule = "it must be a dict of a metric's name to a dict of facts, as distance, threshold_m"
        _refuse(place, f"has metadata metric_definitions={definitions!r}; {rule}")
    submission = metadata.get("submission")
    if submission is not None:
        _check_submission(submission, tools, place)


def _check_submission(submission: Any, tools: Mapping[str, BaseCanvasNode], place: str) -> None:
    is_complete = isinstance(submission, Mapping) and set(submission) == {"format", "poses"}
    if not is_complete or submission["format"] not in FORMATS:
        rule = f"it must be a dict of format ({', '.join(FORMATS)}) and poses"
        _refuse(place, f"has metadata submission={submission!r}; {rule}")
    outputs = [f"{name}.{port.name}" for name, tool in tools.items() for port in tool.output_ports]
    poses = submission["poses"]
    if not _is_names(poses) or not poses or not set(poses) <= set(outputs):
        rule = "each must be an output port of the nodeset's tools, written TOOL.PORT"
        _refuse(place, f"has metadata submission with poses={poses!r}; {rule}")


def _is_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def check_controller(
    controller: Optional[BaseController], place: str, *, brings_episodes: bool
) -> None:
    """Refuse a controller whose declaration cannot be drawn or lacks what a run needs."""
    if controller is None:
        return
    at = f"{place}, controller class {type(controller).__name__},"
    fields = _named(controller.fields, Field, "fields", at)
    actions = _named(controller.actions, Action, "actions", at)
    for field in controller.fields:
        if field.kind not in FIELD_KINDS:
            rule = f"it must be one of {', '.join(FIELD_KINDS)}"
            _refuse(at, f"declares field {field.name!r} of kind {field.kind!r}; {rule}")
    if isinstance(controller, EpisodeController):
        _check_episode_controller(controller, at, brings_episodes=brings_episodes)
    if brings_episodes:
        _check_known(("split", "episode_index"), fields, "field", at)
        _check_known(("play",), actions, "action", at)


def _check_episode_controller(
    controller: EpisodeController, at: str, *, brings_episodes: bool
) -> None:
    if type(controller).start is EpisodeController.start:
        _refuse(at, "has no start(split, index); define it")
    if not brings_episodes:
        _refuse(
            at,
            "is an EpisodeController of a nodeset that brings no episodes; derive it from "
            "BaseController, or define get_eval_metadata() and get_episodes(split)",
        )


def _named(items: Any, kind: type, key: str, at: str) -> Sequence[str]:
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, kind) for item in items):
        _refuse(at, f"declares {key}={items!r}; it must be a list of {kind.__name__}")
    names = [item.name for item in items]
    for name in names:
        if not isinstance(name, str) or not name or names.count(name) > 1:
            _refuse(at, f"declares {name!r} in {key}; each needs a name of its own")
    return names


def _check_known(due: Iterable[str], have: Sequence[str], kind: str, at: str) -> None:
    for name in due:
        if name not in have:
            rule = "the controller of a nodeset that brings episodes must know it"
            _refuse(at, f"has no {kind} {name!r}; {rule}")


def _refuse(place: str, message: str) -> NoReturn:
    raise ContractError(f"{place} {message}.")
