"""A probe serves exact batches and sees what a call leaves behind."""

from __future__ import annotations

import random
import sys
import textwrap
from datetime import timedelta
from pathlib import Path
from typing import Any, Dict, Iterator

import numpy as np
import pytest

from nodeset.loading import load_nodeset
from nodeset.probe import Probe

A_DAY = 86400.0
SOURCE = """
import random
import time
from datetime import datetime
import numpy as np
from nodeset import BaseCanvasNode, BaseNodeSet, PortDef

COUNTS = {"calls": 0}

def remember(value, memory=[]):
    memory.append(value)

class Act(BaseCanvasNode):
    node_type = "policy_probed__act"
    input_ports = [PortDef("state", "JSON"), PortDef("do", "TEXT", optional=True)]
    output_ports = [PortDef("rows", "INT"), PortDef("state", "JSON")]
    batched = True
    batch_dim = "state"
    queue = []

    def forward(self, inputs, ctx):
        for what in inputs.get("do", []):
            if what == "draw":
                np.random.rand()
            elif what == "seed":
                random.seed(4)
            elif what == "change":
                inputs["state"][0]["at"] += 1
            elif what == "count":
                COUNTS["calls"] += 1
            elif what == "queue":
                self.queue.append(1)
            elif what == "remember":
                remember(2)
            elif what == "fail":
                raise ValueError("no")
        count = len(inputs["state"])
        return {"rows": [count] * count, "state": inputs["state"]}

class ProbedNodeSet(BaseNodeSet):
    name = "policy_probed"
    parallelism = "shared"

    def get_tools(self):
        return [Act()]

    def sample_inputs(self, rng):
        return {"act": {"state": {"at": int(rng.integers(100))}}}

    def now(self):
        return time.time(), datetime.now()
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Any]:
    """Give the nodeset, and forget its module afterwards."""
    path = tmp_path / "policy_probed.py"
    path.write_text(textwrap.dedent(SOURCE), encoding="utf-8")
    yield load_nodeset(str(path))
    sys.modules.pop("nodesets.policy_probed", None)


@pytest.fixture
def probe(loaded: Any) -> Probe:
    """Give the probe of that nodeset."""
    return Probe(loaded, lambda awaitable: awaitable)


def call(do: str = "", at: int = 0) -> Dict[str, Any]:
    inputs: Dict[str, Any] = {"state": {"at": at}, "do": do}
    return {"tool": "act", "inputs": inputs}


def changed_paths(probe: Probe, do: str) -> Any:
    before = probe.look()["state"]
    probe.serve([call(do)])
    after = probe.look()["state"]
    return {path for path in after if before.get(path) != after[path]}


def test_calls_are_served_in_one_batch(probe: Probe) -> None:
    rows = probe.serve([call(at=n) for n in range(3)])["rows"]
    assert [row["outputs"]["rows"] for row in rows] == [3, 3, 3]


def test_a_row_that_fails_fails_alone(probe: Probe) -> None:
    rows = probe.serve([call(), call("fail"), call()])["rows"]
    assert ["error" in row for row in rows] == [False, True, False]
    assert rows[1]["error"]["type"] == "ValueError"


def test_an_input_that_is_changed_is_told_with_both_values(probe: Probe) -> None:
    (change,) = probe.serve([call("change", at=4)])["changes"]
    assert (change["port"], change["before"], change["after"]) == (
        "state",
        [{"at": 4}],
        [{"at": 5}],
    )


@pytest.mark.parametrize(
    ("do", "names"), [("", []), ("draw", ["numpy.random"]), ("seed", ["random"])]
)
def test_global_random_states_that_change_are_named(probe: Probe, do: str, names: Any) -> None:
    states = random.getstate(), np.random.get_state()  # noqa: NPY002  to be put back
    assert probe.serve([call(do)])["random"] == names
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002


@pytest.mark.parametrize(
    ("do", "path"),
    [
        ("count", "policy_probed.COUNTS['calls']"),
        ("queue", "Act.queue[0]"),
        ("remember", "policy_probed.remember(default of 'memory')[0]"),
    ],
)
def test_what_is_kept_is_named_by_its_path(probe: Probe, do: str, path: str) -> None:
    assert changed_paths(probe, "") == set()
    assert path in changed_paths(probe, do)


def test_the_authors_samples_hang_on_the_seed_alone(probe: Probe) -> None:
    assert probe.sample(3) == probe.sample(3)
    assert probe.sample(3) != probe.sample(4)


def test_only_the_nodesets_wall_clock_is_shifted(
    loaded: Any, probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datetime  # noqa: ICN001  what is put back below
    import time

    for name in ("time", "time_ns", "localtime", "gmtime", "strftime", "ctime"):
        monkeypatch.setattr(time, name, getattr(time, name))
    for name in ("date", "datetime"):
        monkeypatch.setattr(datetime, name, getattr(datetime, name))
    seconds, moment = loaded.nodeset.now()
    ticks = time.monotonic()

    probe.shift_clock(86400.0 * 400)

    later_seconds, later_moment = loaded.nodeset.now()
    assert abs(later_seconds - seconds - 86400 * 400) < A_DAY
    assert abs(later_moment - moment - timedelta(days=400)) < timedelta(seconds=A_DAY)
    assert isinstance(moment, datetime.datetime)
    assert time.monotonic() - ticks < A_DAY
