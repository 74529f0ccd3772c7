"""hmeqa as far as it goes without the simulator."""

from __future__ import annotations

import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from nodesets.hmeqa.question import DatasetError, DatasetMissingError, read_questions
from nodesets.hmeqa.rollout import DegenerateSceneError, count_steps, is_black
from nodesets.hmeqa.tool import Evaluate, Guess

from nodeset.loading import load_nodeset

HEADER = "scene,floor,question,choices,question_formatted,answer,label\n"
STARTS = "scene_floor,init_x,init_y,init_z,init_angle\n00001-abc_0, 1.0, 0.5, -2.0, 3.1\n"
ROW = '00001-abc,0,Is it?,"{choices}",,{answer},state\n'
CHOICES = (
    "['Yes, it''s \"\"on\"\"', '(Do not choose this option)', 'No', '(Do not choose this option)']"
)


@pytest.fixture
def read(tmp_path):
    def read_row(answer="A", choices=CHOICES, starts=STARTS):
        (tmp_path / "q.csv").write_text(HEADER + ROW.format(answer=answer, choices=choices))
        (tmp_path / "s.csv").write_text(starts)
        return read_questions(tmp_path / "q.csv", tmp_path / "s.csv")

    return read_row


def rollout_of(question):
    return SimpleNamespace(question=question, steps=4, length_m=lambda: 2.5)


def test_all_published_questions_have_four_choices_and_a_letter(data_file):
    folder = data_file("hm_eqa/questions.csv").parent
    questions = read_questions(folder / "questions.csv", folder / "scene_init_poses.csv")

    assert len(questions) == 500
    assert {len(question.choices) for question in questions} == {4}
    assert Counter(question.answer for question in questions) == {
        "A": 142,
        "B": 119,
        "C": 121,
        "D": 118,
    }
    assert [q.number for q in questions if q.has_placeholder_answer] == [161]
    assert "problem" in questions[161].as_episode().info
    assert Counter(len(q.real_choices) for q in questions) == {4: 308, 2: 172, 3: 20}


def test_choices_may_contain_quotes_and_commas(read):
    choices = '[""It\'s on, a bit"", \'B\', \'""C""\', \'D\']'

    (question,) = read(choices=choices)

    assert question.choices == ("It's on, a bit", "B", '"C"', "D")
    assert question.start.position == (1.0, 0.5, -2.0)


@pytest.mark.parametrize(
    "row",
    [
        {"answer": "E"},
        {"answer": ""},
        {"choices": "['A', 'B']"},
        {"choices": "['A', "},
        {"choices": "__import__('os')"},
        {"starts": "scene_floor,init_x,init_y,init_z,init_angle\n"},
    ],
)
def test_a_table_of_another_form_is_refused(read, row):
    with pytest.raises(DatasetError, match="is not HM-EQA"):
        read(**row)


def test_a_missing_table_says_where_to_get_it(tmp_path):
    with pytest.raises(DatasetMissingError, match=r"lacks .*s\.csv.*explore-eqa"):
        read_questions(tmp_path / "q.csv", tmp_path / "s.csv")


def test_the_budget_is_three_times_the_root_of_the_box_area():
    assert count_steps((-5.0, 0.0, -4.0), (5.0, 9.0, 4.0), "s") == int(math.sqrt(80.0) * 3)


def test_a_degenerate_scene_is_an_error():
    with pytest.raises(DegenerateSceneError, match="'s' has a bounding box of 0 m2"):
        count_steps((0.0, 0.0, 0.0), (0.0, 3.0, 7.0), "s")


def test_half_a_black_frame_is_black():
    frame = np.zeros((4, 4, 3), dtype=np.uint8)
    frame[:2, :, 1] = 9
    assert is_black(frame)

    frame[2, 0, 2] = 1
    assert not is_black(frame)


def test_an_answer_and_predictions_are_scored(read):
    (question,) = read(answer="C")
    tool = Evaluate(rollout_of(question))
    views = {"predictions": [np.array([0.6, 0, 0.4, 0]), np.array([0, 0, 1.0, 0])]}

    scores = tool.forward({**views, "relevances": [1.0, 0.5]}, None)["metrics"]

    assert (scores["success_weighted"], scores["success_max"]) == (False, False)
    assert (scores["accuracy"], scores["chance"], scores["steps"]) == (False, 0.5, 4)
    letter = tool.forward({"answer": " C"}, None)["metrics"]
    assert (letter["accuracy"], "success_max" in letter) == (True, False)


@pytest.mark.parametrize("inputs", [{}, {"relevances": [1.0]}, {"answer": "Yes"}])
def test_what_is_no_answer_is_refused(read, inputs):
    (question,) = read()

    with pytest.raises(ValueError, match=r"it needs predictions|no letter of A to D"):
        Evaluate(rollout_of(question)).forward(inputs, None)


def test_a_placeholder_for_an_answer_leaves_chance_undefined(read):
    (question,) = read(answer="B")

    metrics = Evaluate(rollout_of(question)).forward({"answer": "B"}, None)["metrics"]

    assert metrics["chance"] == {"undefined": "the published answer is a placeholder"}


def test_a_guess_takes_real_choices_alone(read):
    (question,) = read()
    context = SimpleNamespace(rng=np.random.default_rng(1))
    guess = Guess(rollout_of(question))

    seen = guess.forward({"is_black": False}, context)
    black = guess.forward({"is_black": True}, context)

    assert seen["prediction"][[1, 3]].tolist() == [0.0, 0.0]
    assert seen["prediction"].sum() == pytest.approx(1.0)
    assert (black["prediction"].tolist(), black["relevance"]) == ([0.25] * 4, 0.01)


def test_the_questions_come_without_a_simulator(data_file, repo_root):
    data = data_file("hm_eqa/questions.csv").parent.parent

    loaded = load_nodeset(str(repo_root / "nodesets/hmeqa"), "hmeqa", {"data_dir": str(data)})

    assert len(loaded.nodeset.get_episodes("all")) == 500
    assert loaded.metadata["default_split"] == "all"
