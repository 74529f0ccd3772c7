"""One Matterport3DSimulator on one thread: begin, look, turn, go; its batch is always one.

Knows the simulator's traps: its navigation graph is one per process, and its lists have the length
of its batch. Nothing of ports.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

import numpy as np

from nodeset import UnavailableError

from ..env_r2r.view import (
    IMAGE_HEIGHT,
    IMAGE_WIDTH,
    VFOV_RAD,
    VIEWS,
    Candidate,
    Sight,
    elevation_rad,
    heading_rad,
)

HOW_TO_GET = (
    "build it from the repository peteanderson80/Matterport3DSimulator against that interpreter "
    "and put the module beside its packages"
)


@dataclass(frozen=True)
class Camera:
    """The picture's size in pixels, and where the licensed skybox images lie ("": no pictures)."""

    dataset: str = ""
    width: int = IMAGE_WIDTH
    height: int = IMAGE_HEIGHT
    has_depth: bool = False

    @property
    def renders(self) -> bool:
        return bool(self.dataset)


@dataclass(frozen=True)
class Stand:
    """A place and a direction: `view` is one of 36, `position` x y z in metres."""

    scan: str
    viewpoint: str
    view: int
    position: tuple[float, float, float]


class Matterport:
    """A simulator with discretised viewing angles; positions are single precision, as its own."""

    def __init__(self, graphs: Path, camera: Camera) -> None:
        self.camera = camera
        self._simulator = make_simulator(graphs, camera)

    def close(self) -> None:
        self._simulator.close()

    def place(self, scan: str, viewpoint: str, view: int) -> None:
        """Stand at an included viewpoint and look in one of the 36 directions."""
        self._simulator.newEpisode([scan], [viewpoint], [heading_rad(view)], [elevation_rad(view)])

    def act(self, index: int, turn: float, look: float) -> None:
        """Go to the navigable place `index` (0: stay), then turn; only signs count.

        Raises IndexError where there are fewer places.
        """
        count = len(self._state.navigableLocations)
        if not 0 <= index < count:
            here = self.stand
            raise IndexError(
                f"place {index} is not navigable from view {here.view} of {here.viewpoint!r}, "
                f"which has places 0 (stay) to {count - 1}"
            )
        self._simulator.makeAction([index], [turn], [look])

    @property
    def _state(self) -> Any:
        """The simulator's own state of its only environment."""
        return self._simulator.getState()[0]

    @property
    def stand(self) -> Stand:
        """Where the agent is and which way it looks."""
        state = self._state
        place = state.location
        return Stand(
            scan=str(state.scanId),
            viewpoint=str(place.viewpointId),
            view=int(state.viewIndex),
            position=(float(place.x), float(place.y), float(place.z)),
        )

    def navigable(self) -> list[Sight]:
        """Return the place itself, then the neighbours in view, the most central first."""
        return [
            Sight(
                str(place.viewpointId),
                float(place.rel_heading),
                float(place.rel_elevation),
                float(place.rel_distance),
            )
            for place in self._state.navigableLocations
        ]

    def look_around(self) -> Iterator[int]:
        """Look in each of the 36 directions in turn, and in the first one again at the end."""
        here = self.stand
        for direction in range(VIEWS):
            self.place(here.scan, here.viewpoint, direction)
            yield direction
        self.place(here.scan, here.viewpoint, here.view)

    def candidates(self) -> list[Candidate]:
        """Return every neighbour that is seen, each as seen from its most central view.

        They stand in the order of the connectivity file; of two equally good views the first.
        """
        best: dict[str, Candidate] = {}
        order: dict[str, int] = {}
        for view in self.look_around():
            for place in self._state.navigableLocations[1:]:
                order[str(place.viewpointId)] = int(place.ix)
            for sight in self.navigable()[1:]:
                known = best.get(sight.viewpoint)
                if known is None or sight.offset_rad < known.sight.offset_rad:
                    best[sight.viewpoint] = Candidate(view, sight)
        return [best[name] for name in sorted(best, key=order.__getitem__)]

    def picture(self) -> np.ndarray:
        """Return what is seen, (H, W, 3) uint8 RGB; the simulator's own is BGR."""
        return np.array(self._state.rgb, copy=False)[:, :, ::-1].copy()

    def depth_m(self) -> np.ndarray:
        """Return depth in metres, (H, W) float32; the simulator counts quarter millimetres."""
        counted = np.array(self._state.depth, copy=False)[:, :, 0]
        return counted.astype(np.float32) / np.float32(4000.0)


def make_simulator(graphs: Path, camera: Camera) -> Any:
    """Return an initialised simulator. Raises UnavailableError where there is none."""
    try:
        import MatterSim  # noqa: PLC0415  only this copy's interpreter has it
    except ImportError as error:
        raise UnavailableError(
            f"env_mp3d needs the package 'MatterSim' (Matterport3DSimulator), which its "
            f"interpreter lacks ({error}); {HOW_TO_GET}"
        ) from error
    simulator = MatterSim.Simulator()
    simulator.setNavGraphPath(str(graphs))
    simulator.setRenderingEnabled(camera.renders)
    if camera.renders:
        simulator.setDatasetPath(camera.dataset)
        simulator.setDepthEnabled(camera.has_depth)
    simulator.setPreloadingEnabled(False)
    simulator.setDiscretizedViewingAngles(True)
    simulator.setCameraResolution(camera.width, camera.height)
    simulator.setCameraVFOV(VFOV_RAD)
    simulator.setBatchSize(1)
    simulator.initialize()
    return simulator
