"""Compare what env_mp3d's simulator and env_r2r say of every viewpoint in all 36 views.

Runs under an interpreter that has MatterSim: `matterport_views.py DATA_FOLDER`; prints JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from nodesets.env_mp3d.simulator import Camera, Matterport
from nodesets.env_r2r.view import VIEWS
from nodesets.env_r2r.world import World


def compare(data: Path) -> dict[str, float]:
    """Count views and differing ones; give the largest difference of angle (rad) and distance."""
    world, simulator = World(str(data)), Matterport(data / "connectivity", Camera())
    report = {"views": 0, "differing": 0, "places": 0, "angle": 0.0, "distance": 0.0}
    for scan in (data / "connectivity/scans.txt").read_text().split():
        views = world.views(scan)
        for index, viewpoint in enumerate(views.graph.viewpoints):
            if not views.graph.included[index]:
                continue
            for view in range(VIEWS):
                simulator.place(scan, viewpoint, view)
                theirs, ours = simulator.navigable(), views.navigable(index, view)
                report["views"] += 1
                report["differing"] += [s.viewpoint for s in theirs] != [s.viewpoint for s in ours]
                for one, other in zip(theirs[1:], ours[1:]):  # noqa: B905  not in Python 3.8
                    report["places"] += 1
                    for name in ("rel_heading", "rel_elevation"):
                        apart = abs(getattr(one, name) - getattr(other, name))
                        report["angle"] = max(report["angle"], apart)
                    apart = abs(one.rel_distance - other.rel_distance)
                    report["distance"] = max(report["distance"], apart)
            around = [(c.view, c.sight.viewpoint) for c in simulator.candidates()]
            expected = [(c.view, c.sight.viewpoint) for c in views.candidates(index)]
            report["differing"] += around != expected
    return report


if __name__ == "__main__":
    print(json.dumps(compare(Path(sys.argv[1]))))
