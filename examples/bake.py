"""Turn a simulator into data, then let an agent look around in it: one process serves them all."""

import tempfile
from pathlib import Path

import wayfare

WORKSPACES = [Path(__file__).parent]


def main():
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        baked = wayfare.bake(
            "env_lookout",
            out=out / "store",
            by="scene",
            workers=2,
            verify=64,
            workspaces=WORKSPACES,
            surroundings=wayfare.Surroundings(progress=print),
        )
        print(baked)
        for output in baked.header.outputs:
            print(output.name, output.shape, output.dtype)
        assert (baked.status, baked.verified, baked.different) == ("done", baked.rows, ())
        store = {"env_pose_lookup.store": str(baked.folder)}
        run = wayfare.evaluate("pose_lookup_grid", workers=4, overrides=store, out=out / "runs")
        for episode in run.episodes:
            print(episode.episode_id, episode.steps, episode.metrics["coverage"])


if __name__ == "__main__":
    main()
