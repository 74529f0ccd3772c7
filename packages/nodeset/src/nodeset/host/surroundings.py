"""What the parts of a host take from the object that owns its threads.

Knows nothing of what the parts do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, ContextManager, Optional

from nodeset.errors import NodeSetError
from nodeset.host.page import CallPage
from nodeset.host.status import ExitStatus


@dataclass(frozen=True)
class Surroundings:
    """`lock` guards all that waits; `schedule` brings work from another thread to the agenda.

    `end` asks the owner to close with a status, and why, once everything waiting is answered;
    `clock` gives monotonic seconds; author code that runs is marked on `page`.
    """

    lock: ContextManager[Any]
    schedule: Callable[[Callable[[], None]], None]
    end: Callable[[ExitStatus, Optional[NodeSetError]], None]
    clock: Callable[[], float]
    page: CallPage
