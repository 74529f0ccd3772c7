"""The files of VLN-CE, PointNav and ObjectNav, as env_habitat reads them."""

from __future__ import annotations

import math

import pytest
from nodesets.env_habitat.calibre import CALIBRES
from nodesets.env_habitat.dataset import Dataset, DatasetMissingError
from nodesets.env_habitat.task import DatasetError
from tests.unit.nodesets.habitat_files import episode, object_goal, r2r_episode, write_json

from nodeset import UnavailableError


def dataset(folder, calibre="pointnav", **paths):
    return Dataset(CALIBRES[calibre], str(folder), **paths)


def test_an_r2r_episode_has_its_instruction_path_and_ground_truth(tmp_path):
    write_json(tmp_path / "r2r_ce/val.json.gz", {"episodes": [r2r_episode(5)]})
    truth = {"5": {"actions": [1, 1, 0], "locations": [[1, 0, 2], [2, 0, 2]], "forward_steps": 2}}
    write_json(tmp_path / "r2r_ce/val_gt.json.gz", truth)

    (task,) = dataset(tmp_path, "vlnce_r2r").tasks("val")

    assert (task.episode_id, task.group, task.instruction) == ("5", "7", "Go to the sofa.")
    assert task.reference_path == ((1.0, 0.0, 2.0), (4.0, 0.0, 2.0))
    assert task.ground_truth.actions == (1, 1, 0)
    assert task.ground_truth.locations == ((1.0, 0.0, 2.0), (2.0, 0.0, 2.0))
    assert task.as_episode().info["goal"] == [4.0, 0.0, 2.0]


def test_ground_truth_is_no_split(tmp_path):
    for name in ("val", "val_gt", "test"):
        write_json(tmp_path / f"r2r_ce/{name}.json.gz", {"episodes": []})

    assert dataset(tmp_path, "vlnce_r2r").splits() == ["test", "val"]


def test_a_folder_per_split_and_a_file_per_scene_are_read_in_order(tmp_path):
    write_json(tmp_path / "pointnav/val/val.json.gz", {"episodes": []})
    for scene in ("b", "a"):
        entry = episode(1, f"data/scene_datasets/x/{scene}.glb")
        write_json(tmp_path / f"pointnav/val/content/{scene}.json.gz", {"episodes": [entry]})

    found = dataset(tmp_path)

    assert found.splits() == ["val"]
    assert [task.scene_id for task in found.tasks("val")] == ["x/a.glb", "x/b.glb"]
    assert found.tasks("val")[0].geodesic_m == 5.5


def test_object_goals_are_the_view_points_of_all_objects_of_the_category(tmp_path):
    goals = {"a.glb_chair": [object_goal((1, 0, 1), (2, 0, 1)), object_goal((3, 0, 1))]}
    entries = [episode(0, f"hm3d/{scene}/a.glb", object_category="chair") for scene in ("p", "q")]
    document = {"episodes": entries, "goals_by_category": goals}
    write_json(tmp_path / "objectnav/val/val.json.gz", document)

    tasks = dataset(tmp_path, "objectnav").tasks("val")

    assert [task.goals for task in tasks] == [((1, 0, 1), (2, 0, 1), (3, 0, 1))] * 2
    assert [(task.episode_id, task.category) for task in tasks] == [("0", "chair")] * 2
    assert tasks[0].scene_id != tasks[1].scene_id


@pytest.mark.parametrize(
    ("entry", "calibre", "made_for"),
    [
        (r2r_episode(), "pointnav", "vlnce_r2r"),
        (episode(), "vlnce_r2r", "pointnav"),
        (episode(object_category="bed"), "rxr_habitat", "objectnav"),
        (r2r_episode(instruction={"language": "te-IN"}), "vlnce_r2r", "rxr_habitat"),
    ],
)
def test_episodes_of_another_calibre_are_refused_with_both_names(
    tmp_path, entry, calibre, made_for
):
    path = write_json(tmp_path / "val.json", {"episodes": [entry]})

    with pytest.raises(DatasetError, match=rf"val\.json.*{made_for}.*{calibre}"):
        dataset(tmp_path, calibre, episodes=str(path.parent / "{split}.json")).tasks("val")


def test_a_goal_of_another_radius_is_refused(tmp_path):
    entry = episode(goals=[{"position": [0, 0, 0], "radius": 1.0}])
    write_json(tmp_path / "val.json", {"episodes": [entry]})

    with pytest.raises(DatasetError, match=r"radius 1.0 m.*'pointnav' has success within 0.2"):
        dataset(tmp_path, episodes="{split}.json").tasks("val")


@pytest.mark.parametrize("document", [[], {}, {"episodes": [{"episode_id": 1}]}, {"episodes": 3}])
def test_a_file_of_another_form_is_refused(tmp_path, document):
    write_json(tmp_path / "val.json", document)

    with pytest.raises(DatasetError, match="is not a file of calibre 'pointnav'"):
        dataset(tmp_path, episodes="{split}.json").tasks("val")


def test_a_broken_archive_is_refused(tmp_path):
    (tmp_path / "val.json.gz").write_bytes(b"\x1f\x8b\x08 no gzip")

    with pytest.raises(DatasetError, match="can't be read"):
        dataset(tmp_path, episodes="{split}.json.gz").tasks("val")


def test_a_missing_split_says_what_there_is_and_where_to_get_it(tmp_path):
    write_json(tmp_path / "pointnav/val/val.json.gz", {"episodes": []})

    with pytest.raises(DatasetMissingError, match=r"'train'.*found are \['val'\].*habitat-lab"):
        dataset(tmp_path).tasks("train")


def test_without_a_data_folder_the_sentence_names_the_variable(monkeypatch):
    monkeypatch.delenv("WAYFARE_DATA", raising=False)

    with pytest.raises(UnavailableError, match="WAYFARE_DATA"):
        dataset("").splits()


def test_val_unseen_of_r2r_ce_parses_each_episode_once(data_file):
    folder = data_file("r2r_ce/val_unseen.json.gz").parent.parent
    tasks = dataset(folder, "vlnce_r2r").tasks("val_unseen")

    assert len(tasks) == len({task.episode_id for task in tasks}) == 1839
    assert len({task.group for task in tasks}) == 613
    assert all(len(task.reference_path) > 1 and task.instruction for task in tasks)
    assert all(task.ground_truth.actions[-1] == 0 for task in tasks)
    assert all(math.dist(task.ground_truth.locations[0], task.position) < 0.01 for task in tasks)
