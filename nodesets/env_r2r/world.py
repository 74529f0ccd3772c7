"""Everything the tools read: tasks, connectivity graphs, views, features; each loaded when needed.

Knows nothing of ports or episodes in progress; what it keeps depends on the files alone.
"""

from __future__ import annotations

import numpy as np

from .dataset import SPLITS, Dataset, DatasetMissingError, Task, find_data_folder
from .features import FeatureStore
from .navigation import GraphStore
from .view import Views

DEFAULT_SPLIT = "val_unseen"


class World:
    """The published files of one data folder, behind one object that all tools share."""

    def __init__(self, data_dir: str = "", features: str = "") -> None:
        self._data_dir = data_dir
        self._features_path = features
        self._dataset: Dataset | None = None
        self._graphs: GraphStore | None = None
        self._features: FeatureStore | None = None
        self._views: dict[str, Views] = {}

    @property
    def dataset(self) -> Dataset:
        """The dataset; raises DatasetMissingError where there is no data folder."""
        if self._dataset is None:
            self._dataset = Dataset(find_data_folder(self._data_dir))
        return self._dataset

    def splits(self) -> list[str]:
        """Return the splits that are there; without any, all that are published.

        So the environment can be described without its data, and asking for episodes says what is
        missing.
        """
        try:
            return self.dataset.splits() or list(SPLITS)
        except DatasetMissingError:
            return list(SPLITS)

    def default_split(self) -> str:
        """Return val_unseen, on which the benchmark compares, or else the first split."""
        splits = self.splits()
        return DEFAULT_SPLIT if DEFAULT_SPLIT in splits else splits[0]

    def task(self, split: str, episode_index: int) -> Task:
        """Return one task; raises IndexError where the split has fewer."""
        tasks = self.dataset.tasks(split)
        if not 0 <= episode_index < len(tasks):
            raise IndexError(
                f"episode_index {episode_index!r} is not in split {split!r}, which has episodes "
                f"0 to {len(tasks) - 1}"
            )
        return tasks[episode_index]

    def views(self, scan: str) -> Views:
        """Return a scan's views; its connectivity graph is their `graph`."""
        views = self._views.get(scan)
        if views is None:
            if self._graphs is None:
                self._graphs = GraphStore(self.dataset.data_folder / "connectivity")
            views = self._views[scan] = Views(self._graphs.graph(scan))
        return views

    def features(self, scan: str, viewpoint: str) -> np.ndarray | None:
        """Return a viewpoint's features (36, D), or none without a feature store."""
        if not self._features_path:
            return None
        if self._features is None:
            path = self.dataset.data_folder / self._features_path
            self._features = FeatureStore(path)
        return self._features.panorama(scan, viewpoint)

    def close(self) -> None:
        """Close the feature store's file."""
        if self._features is not None:
            self._features.close()
            self._features = None
