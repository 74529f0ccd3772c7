"""Show what a person and a program see of calls by hand."""

from __future__ import annotations

import json

import numpy as np

from nodeset.context import EpisodeContext
from nodeset.errors import AuthorError
from nodeset.ports import PortDef
from wayfare.cli.transcript import (
    DoneCall,
    Transcript,
    as_json,
    describe_value,
    render_transcript,
    save_arrays,
    transcript_document,
)

OUTPUTS = {"image": np.full((4, 5, 3), 9, np.uint8), "info": {"maps": [np.array([1.5, np.nan])]}}
PORTS = {
    "image": PortDef("image", "IMAGE"),
    "info": PortDef("info", "ANY"),
    "extra": PortDef("extra", "TEXT", optional=True),
}
CALL = DoneCall("env__look", PORTS, OUTPUTS, [("note", "slow")])


def test_a_person_sees_episode_outputs_and_logs():
    text = render_transcript(Transcript(EpisodeContext(3, "e3", split="val", seed=5), [CALL]))

    assert text.splitlines() == [
        "episode 'e3' (split 'val', index 3, seed 5)",
        "env__look",
        "  image  IMAGE  uint8 (4, 5, 3), min 9, max 9",
        '  info   ANY    {maps: {0: float64 (2,), min 1.5, max 1.5, 1 not finite: [1.5, "NaN"]}}',
        "  extra  TEXT   (left out)",
        '  log note: "slow"',
    ]


def test_long_values_are_cut_with_their_length():
    assert describe_value("x" * 1000).endswith("… (1002 characters; --json prints all)")


def test_programs_get_strict_json():
    outputs = {"array": np.array([[1, 2]], np.int8), "bad": float("inf"), "raw": b"\x00"}
    document = transcript_document(Transcript(None, [DoneCall("env__look", {}, outputs, [])]))

    read = json.loads(json.dumps(document, allow_nan=False))
    assert read["calls"][0]["outputs"] == {
        "array": {"dtype": "int8", "shape": [1, 2], "data": [[1, 2]]},
        "bad": "Infinity",
        "raw": "AA==",
    }
    assert (read["episode"], read["error"]) == (None, None)


def test_an_authors_error_stands_in_the_document():
    error = AuthorError("env__look raised ValueError: no", "ValueError", "Traceback …")

    document = transcript_document(Transcript(None, [], "env__look", error))

    assert document["error"]["at"] == "env__look"
    assert document["error"]["type"] == "ValueError"


def test_every_kind_of_array_becomes_json():
    arrays = [np.array(["a"]), np.array([1j]), np.array(["2020-01-01"], "datetime64[D]")]

    assert json.dumps([as_json(array) for array in arrays], allow_nan=False)


def test_arrays_are_saved_by_tool_and_port(tmp_path):
    written = save_arrays(Transcript(None, [CALL, CALL]), tmp_path / "new")

    assert [path.name for path in written] == [
        "env__look.image.npy",
        "env__look.info.maps.0.npy",
        "env__look_2.image.npy",
        "env__look_2.info.maps.0.npy",
    ]
    assert np.array_equal(np.load(written[0]), OUTPUTS["image"])
