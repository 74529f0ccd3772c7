"""One request to a copy, and what it comes to.

Knows nothing of how it travels or of who answers.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

from nodeset.errors import NodeSetError, WireError
from nodeset.unfit import name_unfit
from wayfare.fleet.errors import (
    BudgetExceededError,
    CallInFlight,
    CopyDeath,
    CopyFailedError,
    failure_of,
)
from wayfare.graph.calls import Answer

Reply = dict[str, Any]


class Request(Answer):
    """What a request comes to; cancelling it withdraws the request."""

    __slots__ = ("budget_seconds", "deadline", "fields", "overdue", "take", "withdraw")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fields: dict[str, Any],
        withdraw: Callable[[Request], None],
    ) -> None:
        super().__init__(loop)
        self.fields = fields
        """The message; it stays whole until the answer, since it may have to be sent again."""
        self.withdraw = withdraw
        self.budget_seconds = self.deadline = math.inf
        self.take: Callable[[Reply], Any] | None = None
        """Makes the answer's result of the reply."""
        self.overdue: Callable[[], None] | None = None
        """Is called when the budget has passed."""

    @property
    def request_id(self) -> int:
        """Return the number by which its reply is known."""
        return int(self.fields["id"])

    def describe(self) -> str:
        """Return what was asked for, for an error."""
        fields = self.fields
        if fields["op"] != "call":
            return str(fields["op"])
        return f"call of tool {fields.get('tool')!r} at node {fields['path']!r}"

    @property
    def in_flight(self) -> CallInFlight:
        """Return what was asked for, as the error of an attempt has it."""
        fields = self.fields
        if fields["op"] != "call":
            return CallInFlight(self.describe())
        return CallInFlight(self.describe(), fields["path"], tuple(fields["turns"]))

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel it; the copy is told not to begin what it has not begun."""
        is_cancelled = super().cancel(msg)
        if is_cancelled:
            self.withdraw(self)
        return is_cancelled

    def describe_delay(self, copy: str) -> BudgetExceededError:
        """Return the error of a request that got no answer in time."""
        return BudgetExceededError(
            f"{self.describe()} of copy {copy!r} got no answer within its budget of "
            f"{self.budget_seconds:g} s.",
            call=self.in_flight,
        )

    def describe_loss(self, copy: str, cause: Exception | None) -> Exception:
        """Return the error of a request whose copy was lost: by a fault of the link, or its end."""
        what, call = self.describe(), self.in_flight
        match cause:
            case CopyFailedError(death=CopyDeath() as death):
                return failure_of(death, call)
            case CopyFailedError():
                return CopyFailedError(f"{what}: {cause}", call=call)
            case WireError():
                text = f"{what}: copy {copy!r} sent a malformed frame: {cause}"
                return CopyFailedError(text, call=call)
            case NodeSetError():
                return cause
        return CopyFailedError(f"{what}: copy {copy!r} is lost.", call=call)

    def describe_refusal(self, error: NodeSetError) -> NodeSetError:
        """Return the copy's error; of a reply that can't cross, what it was to answer is told.

        Of a call the copy has told the tool and its port.
        """
        if isinstance(error, WireError) and self.fields["op"] != "call":
            return WireError(f"{self.describe()}: {error}")
        return error

    def describe_unsent(self, error: WireError) -> WireError:
        """Return the error of a request that can't be encoded: of a call, with the input's name."""
        inputs = self.fields.get("inputs") if self.fields["op"] == "call" else None
        where = f"{self.describe()}, input" if inputs else self.describe()
        return name_unfit(error, where, inputs or {})


def make_call(
    *,
    path: str,
    turns: tuple[int, ...],
    take: Callable[[Reply], Any] | None = None,
    budget_seconds: float = math.inf,
    overdue: Callable[[], None] | None = None,
    is_grouped: bool = True,
    **fields: Any,
) -> Request:
    """Return a tool call that is not sent yet; its arguments are those of `Link.call`."""
    del is_grouped  # whoever holds it back sends it in the order of its coming
    fields.update(op="call", path=path, turns=turns)
    request = Request(asyncio.get_running_loop(), fields, withdraw_nothing)
    request.take, request.overdue, request.budget_seconds = take, overdue, budget_seconds
    return request


def withdraw_nothing(request: Request) -> None:
    """Do nothing: no copy knows of the request at the moment."""
