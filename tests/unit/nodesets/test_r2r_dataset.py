"""How the published files are found and read, and what is said where they are missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from nodesets.env_r2r.dataset import Dataset, DatasetError, DatasetMissingError, find_data_folder
from tests.unit.nodesets.r2r_world import write_world


def test_every_instruction_is_an_episode_grouped_by_its_path(tmp_path: Path) -> None:
    episodes = [task.as_episode() for task in Dataset(write_world(tmp_path)).tasks("val_unseen")]
    assert [episode.id for episode in episodes] == ["7_0", "7_1", "8_0", "8_1", "8_2"]
    assert [episode.group for episode in episodes] == ["7", "7", "8", "8", "8"]
    assert {episode.scene_id for episode in episodes} == {"house"}
    assert episodes[3].info["instruction"] == "instruction 1"
    assert episodes[3].info["path"] == ["a", "b", "c", "u"]


def test_splits_are_those_whose_files_are_there(tmp_path: Path) -> None:
    assert Dataset(write_world(tmp_path)).splits() == ["val_unseen", "test"]


def test_the_test_split_hides_its_goals(tmp_path: Path) -> None:
    (task,) = Dataset(write_world(tmp_path)).tasks("test")
    assert task.goal is None


def test_the_setting_goes_before_the_variable(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    environment = {"WAYFARE_DATA": str(tmp_path / "two")}
    assert find_data_folder(str(tmp_path / "one"), environment) == tmp_path / "one"
    assert find_data_folder("", environment) == tmp_path / "two"


def test_missing_data_is_named_with_where_it_was_sought_and_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(DatasetMissingError, match=r"WAYFARE_DATA names one; get .*download\.sh"):
        find_data_folder("", {})
    with pytest.raises(DatasetMissingError, match="named by the variable WAYFARE_DATA, is not"):
        find_data_folder("", {"WAYFARE_DATA": str(tmp_path / "none")})
    with pytest.raises(DatasetMissingError, match=r"R2R_train\.json is missing, found are \['val"):
        Dataset(write_world(tmp_path)).tasks("train")


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    (write_world(tmp_path) / "r2r" / "R2R_train.json").write_text('[{"path": ["a"]}]')
    with pytest.raises(DatasetError, match=r"R2R_train\.json is not a Room-to-Room file"):
        Dataset(tmp_path).tasks("train")
