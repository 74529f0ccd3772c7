"""Read the fields of a request, and build its replies.

Knows nothing of what the operations do.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from nodeset.array_wire import Body
from nodeset.caller import Call, Caller
from nodeset.context import EpisodeContext, episode_from_wire
from nodeset.contract import BaseCanvasNode
from nodeset.errors import UnknownToolError, WireError, to_payload
from nodeset.passive import describe

Message = Dict[str, Any]
Sent = Optional[Body]
"""The copies of a reply's arrays that were sent, to be released; None where there are none."""
Reply = Callable[[Message], Sent]
"""Sends one reply. Raises WireError if that cannot be encoded; nothing was sent then."""

_KINDS = {str: "text", int: "a whole number", float: "a float", dict: "a map", list: "a list"}
_MAX_SEED = 2**64 - 1
_MAX_ID = 2**63 - 1


def read_id(request: Mapping[str, Any]) -> int:
    """Return the request's id; raises WireError, after which no reply can be matched."""
    value: Any = request.get("id")
    if not is_id(value):
        raise WireError(
            f"a request has id={describe(value)}; it must be a whole number from 0 to 2**63 - 1"
        )
    return int(value)


def is_id(value: Any) -> bool:
    """Say whether a reply can carry the value as the id of its request."""
    return type(value) is int and 0 <= value <= _MAX_ID


def read_op(request: Mapping[str, Any]) -> str:
    """Return what the request asks for; "" if that is not text, which no operation is called."""
    op = request.get("op")
    return op if isinstance(op, str) else ""


def read(request: Mapping[str, Any], name: str, kind: type, *, default: Any = None) -> Any:
    """Return a field that must be a `kind`; without a default it must be there."""
    value = request.get(name, default)
    if type(value) is not kind:
        raise WireError(
            f"a request {read_op(request)!r} has {name}={describe(value)}; "
            f"it must be {_KINDS[kind]}"
        )
    return value


def read_episode(request: Mapping[str, Any]) -> EpisodeContext:
    """Return the episode of an `open_episode` request."""
    fields = read(request, "episode", dict)
    try:
        episode = episode_from_wire(fields)
    except TypeError as error:
        raise WireError(f"an episode cannot be read from {describe(fields)}: {error}") from error
    for name, kind in _EPISODE_KINDS.items():
        value = getattr(episode, name)
        if type(value) is not kind:
            raise WireError(f"an episode has {name}={describe(value)}; it must be {_KINDS[kind]}")
    return episode


_EPISODE_KINDS = {
    "index": int,
    "id": str,
    "scene_id": str,
    "split": str,
    "repeat": int,
    "group": str,
    "seed": int,
    "info": dict,
}


_CALL_DEFAULTS: List[Tuple[str, Any]] = [
    ("tool", None),
    ("path", ""),
    ("config", {}),
    ("inputs", None),
    ("step", 0),
    ("turns", []),
    ("seed", 0),
]
_CALL_KINDS = [str, str, dict, dict, int, list, int]
_ARE_NUMBERS = frozenset({int}).issuperset


def read_call(
    request: Mapping[str, Any],
    caller: Caller,
    tools: Mapping[str, BaseCanvasNode],
    *,
    answer: Callable[..., None],
) -> Call:
    """Return the call that a request asks for, whose id was read before.

    Raises WireError or UnknownToolError.
    """
    fields = [request.get(name, default) for name, default in _CALL_DEFAULTS]
    if list(map(type, fields)) != _CALL_KINDS:
        for (name, default), kind in zip(_CALL_DEFAULTS, _CALL_KINDS):
            read(request, name, kind, default=default)
    name, path, config, inputs, step, turns, seed = fields
    tool = tools.get(name)
    if tool is None:
        known = ", ".join(tools)
        raise UnknownToolError(f"there is no tool {describe(name)}; the tools are: {known}")
    if not _ARE_NUMBERS(map(type, turns)) or not 0 <= seed <= _MAX_SEED:
        raise WireError(
            f"a call has turns={describe(turns)}, seed={seed!r}; they must be whole numbers from 0"
        )
    return Call(
        caller=caller,
        id=request["id"],
        tool=name,
        path=path,
        config={**tool.default_config, **config},
        inputs=inputs,
        answer=answer,
        step=step,
        turns=tuple(turns),
        seed=seed,
        episode=caller.episode,
    )


def ok(request_id: int, **fields: Any) -> Message:
    """Return the reply to a request that was served."""
    return {"id": request_id, "ok": fields}


def failed(request_id: int, error: BaseException) -> Message:
    """Return the reply to a request that was not."""
    return {"id": request_id, "error": to_payload(error)}


def send(reply: Reply, message: Message) -> None:
    """Send a reply, or why it cannot be encoded."""
    try:
        sent = reply(message)
    except WireError as error:
        sent = reply(failed(message["id"], error))
    if sent is not None:
        sent.release_kept()
