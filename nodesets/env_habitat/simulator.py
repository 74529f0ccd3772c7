"""Hold one Habitat-Sim: open it, change its scene, close it.

Knows nothing of episodes. Imports `habitat_sim` only when it opens.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from nodeset import UnavailableError

from .body import Body
from .calibre import Calibre
from .ground import Ground
from .memory import resident_mb
from .settings import make_configuration

MAX_CEILING_MB = 2**31
NO_SCENE = "NONE"
"""The simulator's own name for an empty scene."""
_HOW_TO_GET = "conda create -n habitat python=3.9 habitat-sim headless -c conda-forge -c aihabitat"
_SCENES = "DATASETS.md of github.com/facebookresearch/habitat-sim"


class Simulator:
    """One live simulator with one body; used on one thread.

    A scene is changed within it, which leaves memory behind. So in a process that holds more than
    `memory_ceiling_mb` (0: no ceiling) each change makes the simulator anew, which leaves none.
    With `keeps_navmesh` the scene's published navigation mesh is taken as it is; Habitat-Sim makes
    it anew where it was made for a body of another size.
    """

    def __init__(
        self,
        calibre: Calibre,
        gpu: int,
        *,
        keeps_navmesh: bool = False,
        memory_ceiling_mb: float = 0.0,
    ) -> None:
        self.calibre = calibre
        self.version = ""
        self._gpu = gpu
        self._keeps_navmesh = keeps_navmesh
        self._memory_ceiling_mb = memory_ceiling_mb
        self._habitat: Any = None
        self._sim: Any = None
        self._scene = NO_SCENE
        self._body: Body | None = None
        self._ground: Ground | None = None

    def open(self) -> None:
        """Import Habitat-Sim and make its GL context; raises UnavailableError without the package.

        The context is made now, so that a machine without one says so before the first episode.
        """
        try:
            self._habitat = importlib.import_module("habitat_sim")
        except ImportError as error:
            raise UnavailableError(
                f"this nodeset needs the package habitat_sim in its interpreter ({error}); bring "
                f"it with: {_HOW_TO_GET}"
            ) from error
        self.version = str(self._habitat.__version__)
        self._sim = self._habitat.Simulator(self._configuration(NO_SCENE))

    def close(self) -> None:
        """Close the simulator and let go of it: one that is closed and kept aborts at exit."""
        self._body = self._ground = None
        if self._sim is not None:
            self._sim.close()
        self._sim = None
        self._scene = NO_SCENE

    def renew(self) -> None:
        """Close the simulator and begin anew with an empty scene."""
        self.close()
        self._sim = self._habitat.Simulator(self._configuration(NO_SCENE))

    def load(self, scene: Path) -> None:
        """Change to the scene of that file; raises UnavailableError where there is none."""
        if self._sim is None:
            raise RuntimeError("the simulator is not open; initialize() opens it")
        if self._scene == str(scene):
            return
        if not scene.is_file():
            raise UnavailableError(
                f"the scene {scene} is missing; scenes are licensed apart from the episodes: get "
                f"them as {_SCENES} says, and name their folder in scenes_dir"
            )
        self._body, self._ground, self._scene = None, None, NO_SCENE
        if self._memory_ceiling_mb and resident_mb() > self._memory_ceiling_mb:
            self.renew()
        self._sim.reconfigure(self._configuration(str(scene)))
        finder = self._sim.pathfinder
        navmesh = scene.with_suffix(".navmesh")
        if self._keeps_navmesh and navmesh.is_file():
            finder.load_nav_mesh(str(navmesh))
        if not finder.is_loaded:
            raise UnavailableError(f"the scene {scene} has no navigation mesh: no {navmesh}")
        self._body = Body(self._habitat, self._sim, self.calibre)
        self._ground = Ground(self._habitat, finder)
        self._scene = str(scene)

    @property
    def body(self) -> Body:
        """Return the body in the loaded scene; raises RuntimeError where none is loaded."""
        if self._body is None:
            raise RuntimeError("no scene is loaded; beginning an episode loads its scene")
        return self._body

    @property
    def ground(self) -> Ground:
        """Return the loaded scene's ground; raises RuntimeError where none is loaded."""
        if self._ground is None:
            raise RuntimeError("no scene is loaded; beginning an episode loads its scene")
        return self._ground

    def _configuration(self, scene: str) -> Any:
        return make_configuration(self._habitat, self.calibre, scene, gpu=self._gpu)
