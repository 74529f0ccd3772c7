"""Print how many steps a second Stable-Baselines3's SubprocVecEnv takes; a program of its own.

It runs in an interpreter that has stable-baselines3, of which it imports nothing that needs torch.
Knows nothing of Wayfare.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from vector import TimedEnv, named


def load_vector_class() -> Any:
    """Return SubprocVecEnv; its packages' own `__init__` would import torch."""
    spec = importlib.util.find_spec("stable_baselines3")
    folder = Path(spec.origin).parent
    for name, path in (
        ("stable_baselines3", folder),
        ("stable_baselines3.common", folder / "common"),
        ("stable_baselines3.common.vec_env", folder / "common/vec_env"),
    ):
        package = ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
    wrappers = ModuleType("stable_baselines3.common.env_util")
    wrappers.is_wrapped = None  # asked for by name in each process, never called here
    sys.modules[wrappers.__name__] = wrappers
    name = "stable_baselines3.common.vec_env.subproc_vec_env"
    return importlib.import_module(name).SubprocVecEnv


def main(name: str, workers: int, *, rounds: int, step_seconds: float) -> None:
    if name == "sleep":
        make = [lambda: TimedEnv(steps=50, step_seconds=step_seconds) for _ in range(workers)]
    else:
        make = [named(name) for _ in range(workers)]
    env = load_vector_class()(make, start_method="fork")
    env.reset()
    actions = np.zeros(workers, np.int64)
    began = time.perf_counter()
    for _ in range(rounds):
        env.step(actions)
    print(rounds * workers / (time.perf_counter() - began))
    env.close()


if __name__ == "__main__":
    main(
        sys.argv[1],
        int(sys.argv[2]),
        rounds=int(sys.argv[3]),
        step_seconds=float(sys.argv[4]),
    )
