"""`wayfare doctor` as a person runs it: what is missing, with its remedy, and the exit status."""

from __future__ import annotations

from typing import Any

BROKEN = "class A(BaseNodeSet):\n    name = open('x')\n"


def states(document: dict[str, Any]) -> dict[str, str]:
    return {finding["name"]: finding["state"] for finding in document["findings"]}


def test_a_machine_that_is_well_is_said_to_be(wayfare: Any) -> None:
    answer = wayfare.run("doctor", "--json")
    assert answer.status == 0, answer.out
    assert answer.document["ok"]
    areas = {finding["area"] for finding in answer.document["findings"]}
    assert areas == {"python", "workspace", "nodeset", "device", "machine"}
    assert states(answer.document)["env_line"] == "ok"


def test_what_is_missing_is_told_and_the_rest_is_looked_over_all_the_same(
    wayfare: Any, workspace: Any
) -> None:
    wrong = {
        "WAYFARE_WORKSPACE": f"{wayfare.folder / 'nowhere'}:{workspace('broken.py', BROKEN)}",
        "WAYFARE_DATA": str(wayfare.folder / "no-data"),
        "WAYFARE_PYTHONS": str(wayfare.folder / "no-pythons"),
    }
    answer = wayfare.run("doctor", "--json", environment=wrong)
    assert answer.status == 1
    assert not answer.document["ok"]
    found = states(answer.document)
    missing = [f["detail"] for f in answer.document["findings"] if f["state"] == "missing"]
    assert f"{wayfare.folder / 'nowhere'} is no folder" in missing
    assert found["data"] == found[wrong["WAYFARE_PYTHONS"]] == "missing"
    assert found["env_gymnasium"] == "ok"
    text = wayfare.run("doctor", environment=wrong).out
    assert "-> correct WAYFARE_WORKSPACE" in text
