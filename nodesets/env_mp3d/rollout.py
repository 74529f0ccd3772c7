"""One copy's episode: its task, where the agent has been, and whether it stopped.

Knows nothing of ports; moves through the simulator alone.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Sequence

from nodeset import UnavailableError

from ..env_r2r.dataset import Task
from ..env_r2r.navigation import NavigationGraph
from ..env_r2r.state import STOP, ActionError, read_triple
from ..env_r2r.view import initial_view
from ..env_r2r.world import World
from .pose import find_view
from .simulator import Camera, Matterport

NO_PICTURES = (
    "env_mp3d renders nothing: its setting dataset names no folder of scans, whose images are "
    "licensed (<scan>/matterport_skybox_images/); --set env_mp3d.dataset=FOLDER names one"
)


class Rollout:
    def __init__(self, world: World, camera: Camera) -> None:
        self.world = world
        self.camera = camera
        self.trajectory: list[str] = []
        self.has_stopped = False
        self._task: Task | None = None
        self._simulator: Matterport | None = None

    def open(self) -> None:
        """Make the simulator; the process keeps its navigation graph to the end."""
        graphs = Path(self.world.dataset.data_folder) / "connectivity"
        self._simulator = Matterport(graphs, self.camera)

    def close(self) -> None:
        if self._simulator is not None:
            self._simulator.close()
            self._simulator = None

    @property
    def simulator(self) -> Matterport:
        if self._simulator is None:
            raise RuntimeError("the simulator is not open; initialize() makes it")
        return self._simulator

    @property
    def task(self) -> Task:
        if self._task is None:
            raise RuntimeError("no episode has begun; 'play' begins one")
        return self._task

    @property
    def graph(self) -> NavigationGraph:
        return self.world.views(self.task.scan).graph

    def begin(self, task: Task) -> None:
        self._task = task
        self.restart()

    def restart(self) -> None:
        """Stand at the start of the episode's path."""
        task = self.task
        # Checked here, since the simulator's own errors name neither scan nor rule.
        self.graph.index(task.path[0])
        self.simulator.place(task.scan, task.path[0], initial_view(task.heading))
        self.trajectory = [task.path[0]]
        self.has_stopped = False

    def step(self, action: Sequence[float]) -> None:
        """Take (index, heading, elevation) as the simulator does; (0, 0, 0) stops."""
        index, turn, look = read_triple(action)
        self._refuse_stopped()
        if (index, turn, look) == (0, 0.0, 0.0):
            self.has_stopped = True
            return
        try:
            self.simulator.act(index, turn, look)
        except IndexError as error:
            raise ActionError(f"action {list(action)!r}: {error}") from None
        self._note_place()

    def step_waypoint(self, action: int) -> None:
        """Go to candidate `action`, looking its way, or stop with -1."""
        self._refuse_stopped()
        if action == STOP:
            self.has_stopped = True
            return
        candidates = self.simulator.candidates()
        if not 0 <= action < len(candidates):
            raise ActionError(
                f"action {action!r} goes to candidate {action}, but {len(candidates)} candidates "
                f"are around {self.simulator.stand.viewpoint!r} (-1: stop)"
            )
        chosen, simulator = candidates[action], self.simulator
        here = simulator.stand
        simulator.place(here.scan, here.viewpoint, chosen.view)
        names = [sight.viewpoint for sight in simulator.navigable()]
        simulator.act(names.index(chosen.sight.viewpoint), 0.0, 0.0)
        self._note_place()

    @contextmanager
    def looking_from(self, pose: Any) -> Iterator[None]:
        """Have the camera at a pose of the scan's views; the agent is back where it was afterwards.

        Raises ValueError for another pose, UnavailableError where nothing is rendered.
        """
        if not self.camera.renders:
            raise UnavailableError(NO_PICTURES)
        viewpoint, view = find_view(self.graph, pose)
        here = self.simulator.stand
        self.simulator.place(here.scan, viewpoint, view)
        try:
            yield
        finally:
            self.simulator.place(here.scan, here.viewpoint, here.view)

    def _note_place(self) -> None:
        """Add the place to the trajectory if it is another one: turning adds none."""
        viewpoint = self.simulator.stand.viewpoint
        if viewpoint != self.trajectory[-1]:
            self.trajectory.append(viewpoint)

    def _refuse_stopped(self) -> None:
        if self.has_stopped:
            raise ActionError("the agent has stopped; wire 'done' to the loop's 'stop'")
