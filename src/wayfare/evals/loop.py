"""Run one episode to its end on a fresh executor.

Knows nothing of attempts, of other episodes or of what is kept.
"""

from __future__ import annotations

from nodeset.context import EpisodeContext
from wayfare.engine.executor import Executor
from wayfare.engine.result import GraphResult
from wayfare.graph.calls import Invoker
from wayfare.graph.plan import Plan


class LoopRunner:
    """Runs one graph's episodes, each on an executor of its own."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    async def run(
        self, episode: EpisodeContext, invoker: Invoker, step_budget: int | None
    ) -> GraphResult:
        """Return what the episode came to.

        Raises NodeFailure for what an author's code did and InfrastructureError for what befell a
        copy. Cancellation gives up the calls under way.
        """
        return await Executor(self._plan, invoker, episode, step_budget=step_budget).run()
