# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = [
#   "gymnasium==1.4.0",
#   "miniworld==2.1.0",
#   "msgpack",
#   "numpy==2.4.6",
#   "pyglet==1.5.31",
#   "torch==2.13.0",
#   "xxhash",
# ]
# ///
"""Train the policy that `policy_recurrent` ships: imitate a teacher that is told where the box is.

`uv run scripts/train_recurrent.py` from the checkout; writes nodesets/policy_recurrent/weights.npz.
The pupil acts from the second round on and the teacher says what it should have done (DAgger, Ross
et al., 2011). Training worlds have other seeds than those that `miniworld_recurrent` is judged on.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "packages/nodeset/src")]

from nodesets.env_miniworld.setting import DEFAULT_CONFIG, read_setting  # noqa: E402
from nodesets.env_miniworld.simulator import Simulator  # noqa: E402
from nodesets.policy_recurrent import SHIPPED_WEIGHTS  # noqa: E402
from nodesets.policy_recurrent.network import (  # noqa: E402
    STATE_SIZE,
    RecurrentPolicy,
    save_weights,
    shrink,
)

WORLD = "MiniWorld-OneRoom-v0"
FIRST_SEED = 1_000_000
LEFT, RIGHT, FORWARD = 0, 1, 2
AHEAD_RAD = math.radians(7.5)
IN_SIGHT_RAD = math.radians(35)
STEPS = 60


def teach(pose: np.ndarray, goal: np.ndarray) -> int:
    """Return the teacher's action: to the box if it is in sight, else turn left until it is."""
    x, y, z, w = (float(part) for part in pose[3:])
    yaw = math.atan2(2.0 * (x * z + w * y), 1.0 - 2.0 * (x * x + y * y))
    bearing = math.atan2(float(pose[0] - goal[0]), float(pose[2] - goal[2]))
    off = math.remainder(bearing - yaw, 2.0 * math.pi)
    if abs(off) <= AHEAD_RAD:
        return FORWARD
    return RIGHT if -IN_SIGHT_RAD <= off < 0 else LEFT


def collect(
    simulator: Simulator, network: RecurrentPolicy | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Play one world; return what was seen (T, 576) and what the teacher would have done (T,)."""
    world = simulator.build(seed)
    state = torch.zeros(1, STATE_SIZE)
    seen, taught = [], []
    for _ in range(STEPS):
        picture = shrink(np.asarray(world.env.render_obs())[None])
        action = teach(world.pose(), np.asarray(world.goal()))
        seen.append(picture[0])
        taught.append(action)
        if network is not None:
            with torch.inference_mode():
                logits, state = network(torch.from_numpy(picture), state)
            action = int(logits.argmax())
        if world.env.step(action)[2]:
            break
    return np.stack(seen), np.array(taught, np.int64)


def fit(network: RecurrentPolicy, ways: list[tuple[np.ndarray, np.ndarray]], rounds: int) -> float:
    """Go over all ways, from their beginnings, in one batch; return the last loss."""
    longest = max(len(taught) for _, taught in ways)
    seen = torch.zeros(longest, len(ways), ways[0][0].shape[1])
    taught = torch.full((longest, len(ways)), -100)
    for index, (pictures, actions) in enumerate(ways):
        seen[: len(pictures), index] = torch.from_numpy(pictures)
        taught[: len(actions), index] = torch.from_numpy(actions)
    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    loss = torch.zeros(())
    for _ in range(rounds):
        state = torch.zeros(len(ways), STATE_SIZE)
        logits = []
        for moment in seen:
            choice, state = network(moment, state)
            logits.append(choice)
        loss = functional.cross_entropy(torch.stack(logits).flatten(0, 1), taught.flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
    return float(loss.detach())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=SHIPPED_WEIGHTS)
    parser.add_argument("--rounds", type=int, default=5, help="of playing and fitting")
    parser.add_argument("--worlds", type=int, default=40, help="played in each round")
    parser.add_argument("--fits", type=int, default=150, help="passes over all ways in each round")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # for the same weights on any machine
    begun = time.monotonic()
    simulator = Simulator(read_setting({**DEFAULT_CONFIG, "id": WORLD}))
    simulator.open()
    network, ways = RecurrentPolicy(), []
    seed = FIRST_SEED
    for number in range(options.rounds):
        for _ in range(options.worlds):
            ways.append(collect(simulator, network if number else None, seed))
            seed += 1
        loss = fit(network, ways, options.fits)
        print(f"round {number + 1}: {len(ways)} ways, loss {loss:.3f}", file=sys.stderr)
    simulator.close()
    save_weights(network, options.out)
    print(f"{options.out} after {time.monotonic() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
