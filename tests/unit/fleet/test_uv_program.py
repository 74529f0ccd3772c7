"""What uv could not get is told by its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wayfare.fleet.uv_program import UvError, run_uv


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Because sxi was not found in the package registry and you require sxi, we", "sxi"),
        ("Because six was not found in the cache and you require six, we can", "six"),
        ("Because there is no version of six==99 and you require six==99, we", "six"),
        ("Because only six<=1.17.0 is available and you require six>=99, we", "six"),
        ("error: Failed to fetch: `https://x/six/`", ""),
        ("error: Failed to build `ruined==1.0`", "ruined==1.0"),
        ("something else", ""),
    ],
)
def test_the_package_is_found_in_what_uv_says(text, missing):
    assert UvError(text).missing == missing


@pytest.mark.parametrize(
    ("text", "is_offline"),
    [("hint: the network was disabled.", True), ("cause: dns error", True), ("no version", False)],
)
def test_a_missing_network_is_told_from_a_missing_package(text, is_offline):
    assert UvError(text).is_offline is is_offline


async def test_progress_is_passed_on_as_it_comes_and_the_rest_kept_for_the_error(tmp_path):
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho Resolved 3 packages >&2; echo error: no >&2; exit 1\n")
    uv.chmod(0o755)
    said = []
    with pytest.raises(UvError) as refused:
        await run_uv(uv, ["x"], environment=dict(os.environ), folder=Path("/"), say=said.append)
    assert said == ["Resolved 3 packages"]
    assert refused.value.text == "Resolved 3 packages\nerror: no"
