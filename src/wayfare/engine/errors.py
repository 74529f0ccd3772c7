"""The errors by which an episode's graph ends early.

Knows nothing of attempts or retries: who may repeat what is decided above.
"""

from __future__ import annotations

from nodeset.errors import NodeSetError
from wayfare.graph.calls import InfrastructureError


class RuleError(NodeSetError):
    """The values of this episode break a rule of the graph: two came to a merge, stop was off."""

    kind = "rule"


class SpentError(NodeSetError):
    """Stands for the `fault` of a call that was tried as often as it may be: it failed alone."""

    def __init__(self, fault: InfrastructureError) -> None:
        super().__init__(str(fault))
        self.fault = fault


class NodeFailure(Exception):  # noqa: N818 - an outcome of an episode, not a defect
    """A node failed: the first in document order among those that failed in the same turn.

    Final for the episode. `error` is what the node raised.
    """

    def __init__(self, path: str, turns: tuple[int, ...], error: NodeSetError) -> None:
        super().__init__(path, turns, error)
        self.path = path
        self.turns = turns
        self.error = error

    def __str__(self) -> str:
        at = f" in turn {'.'.join(map(str, self.turns))}" if self.turns else ""
        return f"node {self.path!r}{at}: {self.error}" if self.path else str(self.error)
