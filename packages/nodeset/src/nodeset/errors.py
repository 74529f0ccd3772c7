"""The errors of the author's contract, and their form on the wire.

Knows nothing of who shows them: a command prints the message, a run records the payload.
"""

from __future__ import annotations

import traceback as traceback_module
from types import TracebackType
from typing import Any, Dict, Mapping, Optional, Type

from nodeset.text import tidy


class NodeSetError(Exception):
    """Base of every error that this package raises on purpose."""

    kind = "nodeset"


class ContractError(NodeSetError):
    """A nodeset's file or class breaks the contract; raised when it is read or loaded."""

    kind = "contract"


class PortError(NodeSetError):
    """A value at a port is not what the port declares."""

    kind = "port"


class WireError(NodeSetError):
    """A frame is malformed or out of bounds, or a value cannot cross between processes."""

    kind = "wire"


class UnknownToolError(NodeSetError):
    """A call names a tool that the nodeset does not have."""

    kind = "unknown_tool"


class UnavailableError(NodeSetError):
    """What a nodeset needs is not here: data, a device, a licence.

    An author raises it with a sentence that says what is missing, where it was looked for and how
    to get it; whoever set the run up sees that sentence, without a traceback.
    """

    kind = "unavailable"


class SettingError(UnavailableError):
    """A setting of a nodeset or node is not what it must be; `nodeset.Settings` raises it."""


class AuthorError(NodeSetError):
    """The author's code raised, or returned something that its declaration rules out.

    `type_name` is the class of the author's exception, `traceback_text` its traceback as text.
    """

    kind = "author"

    def __init__(self, message: str, type_name: str = "", traceback_text: str = "") -> None:
        self.message = tidy(message)
        super().__init__(self.message)
        self.type_name = tidy(type_name or type(self).__name__)
        self.traceback_text = tidy(traceback_text)

    @classmethod
    def wrap(cls, error: BaseException, where: str, *, skip_frames: int = 0) -> NodeSetError:
        """Return `error`, raised by author code at `where`, with its traceback as text.

        `skip_frames` leaves out that many outermost frames: those of the framework. What says by
        itself that something is unavailable is returned as it is.
        """
        if isinstance(error, UnavailableError):
            return error
        trace = error.__traceback__
        for _ in range(skip_frames):
            if trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
        name = type(error).__name__
        return cls(f"{where} raised {name}: {_text_of(error)}", name, _format(error, trace))


def _text_of(error: BaseException) -> str:
    """Return `str(error)`, which is the author's code and may raise itself."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  the author's `__str__`
        return f"<unprintable {type(error).__name__}>"


def _format(error: BaseException, trace: Optional[TracebackType]) -> str:
    try:
        return "".join(traceback_module.format_exception(type(error), error, trace))
    except Exception:  # noqa: BLE001  the author's `__str__`, of this one or one it came from
        frames = "".join(traceback_module.format_tb(trace))
        last = f"{type(error).__name__}: {_text_of(error)}"
        return f"Traceback (most recent call last):\n{frames}{last}\n"


_KINDS: Dict[str, Type[NodeSetError]] = {
    cls.kind: cls
    for cls in (
        NodeSetError,
        ContractError,
        PortError,
        WireError,
        UnknownToolError,
        UnavailableError,
    )
}


def to_payload(error: BaseException) -> Dict[str, Any]:
    """Return `error` as passive data: `kind`, `type`, `message` and `traceback`."""
    kind: Optional[str] = error.kind if isinstance(error, NodeSetError) else None
    if isinstance(error, AuthorError):
        return {
            "kind": "author",
            "type": error.type_name,
            "message": error.message,
            "traceback": error.traceback_text,
        }
    return {
        "kind": kind or "nodeset",
        "type": type(error).__name__,
        "message": tidy(str(error)),
        "traceback": "",
    }


def from_payload(payload: Mapping[str, Any]) -> NodeSetError:
    """Return the error that `to_payload` described; an unknown kind becomes a `NodeSetError`."""
    message = str(payload.get("message", ""))
    if payload.get("kind") == "author":
        return AuthorError(message, str(payload.get("type", "")), str(payload.get("traceback", "")))
    return _KINDS.get(str(payload.get("kind")), NodeSetError)(message)
