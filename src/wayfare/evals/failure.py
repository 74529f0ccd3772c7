"""Turn what ended an attempt into the record that is kept of it.

Knows nothing of who tries again.
"""

from __future__ import annotations

from typing import cast

from nodeset.errors import AuthorError, NodeSetError
from nodeset.text import tidy
from wayfare.engine.errors import NodeFailure
from wayfare.fleet.errors import CopyFailedError
from wayfare.graph.calls import InfrastructureError
from wayfare.store.records import ErrorKind, ErrorRecord


def describe_failure(failure: NodeFailure | NodeSetError) -> ErrorRecord:
    """Return the record of an author's fault: it is final, the same would happen again."""
    error = failure.error if isinstance(failure, NodeFailure) else failure
    return ErrorRecord(
        kind=cast(ErrorKind, error.kind),
        type=error.type_name if isinstance(error, AuthorError) else type(error).__name__,
        message=tidy(str(error)),
        node=failure.path if isinstance(failure, NodeFailure) else "",
        turns=failure.turns if isinstance(failure, NodeFailure) else (),
        traceback=error.traceback_text if isinstance(error, AuthorError) else "",
    )


def is_spent(fault: InfrastructureError) -> bool:
    """Return whether another attempt would only try again what was tried often enough."""
    return isinstance(fault, CopyFailedError) and fault.is_spent


def describe_fault(fault: InfrastructureError) -> ErrorRecord:
    """Return the record of a fault of infrastructure: a copy died, hung or was unreachable."""
    failure = fault if isinstance(fault, CopyFailedError) else None
    death, call = (failure.death, failure.call) if failure else (None, None)
    return ErrorRecord(
        kind="infrastructure",
        type=type(fault).__name__,
        message=tidy(str(fault)),
        node=call.path if call else "",
        turns=call.turns if call else (),
        call=call.text if call else "",
        exit_status=death.status if death else None,
        log_tail=death.log_tail if death else "",
    )
