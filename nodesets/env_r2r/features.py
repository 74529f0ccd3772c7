"""Look up image features that were computed beforehand, 36 views per viewpoint.

Knows nothing of how the features were made.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .view import VIEWS


class FeatureStore:
    """An `.npz` file with one array of shape (36, D) per viewpoint, called `<scan>_<viewpoint>`.

    Views are ordered as the environment's: 12 * row + heading index, row 0 looks down. An array is
    read from the file when it is asked for.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise FileNotFoundError(
                f"no feature store at {path}, named by the setting 'features'; it must be an "
                f".npz file with one array (36, D) per '<scan>_<viewpoint>'"
            )
        self.path = path
        self._archive = np.load(path, allow_pickle=False)

    def panorama(self, scan: str, viewpoint: str) -> np.ndarray:
        """Return the features (36, D) of a viewpoint; raises KeyError, ValueError."""
        name = f"{scan}_{viewpoint}"
        if name not in self._archive:
            raise KeyError(f"feature store {self.path} has no array {name!r}")
        features: np.ndarray = self._archive[name]
        if features.ndim != 2 or features.shape[0] != VIEWS:
            raise ValueError(
                f"feature store {self.path} has shape {features.shape} at {name!r}; it must be "
                f"({VIEWS}, D): one row per view"
            )
        return features

    def close(self) -> None:
        """Close the file."""
        self._archive.close()
