"""What the tools read beside `env_r2r`'s files: images of the views.

Knows nothing of ports or episodes in progress.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..env_r2r.features import FeatureStore
from ..env_r2r.world import World
from .panorama import BakedViews


class PanoramaWorld(World):
    """The published files, and an image store: an `.npz` or HDF5 file, or a baked folder."""

    def __init__(self, data_dir: str, features: str, *, images: str, output: str) -> None:
        super().__init__(data_dir, features)
        self._images_path = images
        self._output = output
        self._file: FeatureStore | None = None
        self._baked: BakedViews | None = None

    def images(self, scan: str, viewpoint: str) -> np.ndarray | None:
        """Return a viewpoint's images (36, H, W, 3) uint8, or none without an image store."""
        if not self._images_path:
            return None
        if self._file is None and self._baked is None:
            self._open()
        if self._baked is not None:
            return _checked(self._baked.panorama(self.views(scan).graph, viewpoint))
        assert self._file is not None  # noqa: S101  one of the two was opened
        return _checked(self._file.panorama(scan, viewpoint))

    def close(self) -> None:
        """Close all files."""
        super().close()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> None:
        path = self.dataset.data_folder / self._images_path
        if path.is_dir():
            self._baked = BakedViews(path, self._output)
        else:
            self._file = FeatureStore(path, rank=4, setting="images")


def _checked(images: Any) -> np.ndarray:
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] != 3:
        raise ValueError(
            f"the image store holds {images.dtype} {images.shape} per viewpoint; images are uint8 "
            f"(36, H, W, 3)"
        )
    found: np.ndarray = images
    return found
