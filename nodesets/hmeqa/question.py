"""Read HM-EQA's published tables: questions with four choices, and where each floor begins.

Knows nothing of the simulator or of runs.
"""

from __future__ import annotations

import ast
import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping

from nodeset import Episode, UnavailableError

DATA_VARIABLE = "WAYFARE_DATA"
LETTERS = "ABCD"
PLACEHOLDER = "(Do not choose this option)"
"""What fills up the choices of a question that has fewer than four."""
_HOW_TO_GET = (
    "get data/questions.csv and data/scene_init_poses.csv of github.com/Stanford-ILIAD/explore-eqa "
    "into its subfolder 'hm_eqa'"
)


class DatasetMissingError(UnavailableError):
    """A published file is not where it was looked for."""


class DatasetError(ValueError):
    """A published file is not in HM-EQA's format."""


@dataclass(frozen=True)
class Start:
    """Where an agent begins on a floor: a position in Habitat's frame, a turn to the left."""

    position: tuple[float, float, float]
    angle: float


@dataclass(frozen=True)
class Question:
    """One question about one floor of a scene; `answer` is the letter of a choice."""

    number: int
    scene: str
    floor: str
    question: str
    choices: tuple[str, ...]
    answer: str
    label: str
    start: Start

    @property
    def truth(self) -> int:
        """Return the index of the published answer among the choices."""
        return LETTERS.index(self.answer)

    @property
    def real_choices(self) -> list[int]:
        """Return the indices of the choices that are no placeholders."""
        return [i for i, choice in enumerate(self.choices) if choice != PLACEHOLDER]

    @property
    def has_placeholder_answer(self) -> bool:
        """Say whether the published answer is a placeholder, which nobody should choose."""
        return self.truth not in self.real_choices

    def as_episode(self) -> Episode:
        """Return the question as a run lists it; questions about one scene are one group."""
        info: dict[str, Any] = {
            "question": self.question,
            "choices": list(self.choices),
            "answer": self.answer,
            "label": self.label,
            "floor": self.floor,
        }
        if self.has_placeholder_answer:
            info["problem"] = "the published answer is a placeholder"
        return Episode(id=str(self.number), scene_id=self.scene, group=self.scene, info=info)


def find_data_folder(configured: str, environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the setting `data_dir`, else of WAYFARE_DATA."""
    values = os.environ if environment is None else environment
    chosen = configured or values.get(DATA_VARIABLE, "")
    folder = Path(chosen).expanduser()
    if chosen and folder.is_dir():
        return folder
    reason = f"{str(folder)!r} is no folder" if chosen else "none is named"
    raise DatasetMissingError(
        f"no data folder for hmeqa: {reason}; set data_dir or the variable {DATA_VARIABLE}, and "
        f"{_HOW_TO_GET}"
    )


def read_questions(questions: Path, starts: Path) -> tuple[Question, ...]:
    """Return the questions in the file's order; raises DatasetMissingError, DatasetError."""
    try:
        places = {str(row["scene_floor"]): _read_start(row) for row in _rows(starts)}
        return tuple(_read(number, row, places) for number, row in enumerate(_rows(questions)))
    except (KeyError, TypeError, ValueError, SyntaxError) as error:
        raise DatasetError(f"{questions} with {starts} is not HM-EQA: {error!r}") from error


def _rows(path: Path) -> Iterator[Mapping[str, str]]:
    if not path.is_file():
        raise DatasetMissingError(f"hmeqa lacks {path}; {_HOW_TO_GET}")
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, skipinitialspace=True)


def _read_start(row: Mapping[str, str]) -> Start:
    x, y, z = (float(row[name]) for name in ("init_x", "init_y", "init_z"))
    return Start((x, y, z), float(row["init_angle"]))


def _read(number: int, row: Mapping[str, str], starts: Mapping[str, Start]) -> Question:
    choices = tuple(str(choice) for choice in ast.literal_eval(row["choices"]))
    answer = row["answer"].strip()
    if len(choices) != len(LETTERS) or answer not in tuple(LETTERS):
        raise ValueError(
            f"question {number} has the choices {choices!r} and the answer {answer!r}; it must "
            f"have four choices and a letter of A to D"
        )
    scene, floor = row["scene"], row["floor"]
    start = starts.get(f"{scene}_{floor}")
    if start is None:
        raise ValueError(f"question {number} has no initial pose for {scene}_{floor}")
    return Question(
        number=number,
        scene=scene,
        floor=floor,
        question=row["question"],
        choices=choices,
        answer=answer,
        label=row["label"],
        start=start,
    )
