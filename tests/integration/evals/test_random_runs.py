"""A run's table is the same for random graphs, delays, worker counts, failures and dying copies.

Copies are the real host objects, in this process, so that a run takes milliseconds; what reaches
them comes after a random number of passes of the event loop, and some of it kills them.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.deadline import HANG_SECONDS
from tests.unit.engine.equivalence.drawing import Draw
from tests.unit.engine.equivalence.world import BUDGET, MANIFESTS

from wayfare.evals.library import evaluate_async
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet.exchange import Frame
from wayfare.fleet.in_process import HELLO_SECONDS, PROTOCOL, InProcessCopy, InProcessLink
from wayfare.fleet.launcher import Copy, CopySpec
from wayfare.graph.document import read_graph
from wayfare.graph.tooltype import nodesets_of
from wayfare.graph.validate import validate

MAX_KILLS = 3
RETRIES = 4
"""More than copies are killed: no episode may end by its infrastructure."""
NODESET = """
from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef
from nodeset.digest import hash64

OUTPUTS = [
    PortDef("y", "ANY"),
    PortDef("flag", "BOOL"),
    PortDef("rare", "ANY", optional=True),
    PortDef("some", "LIST[INT]", optional=True),
]

class F(BaseCanvasNode):
    node_type = "{name}__f"
    input_ports = [PortDef("x", "ANY", optional=True), PortDef("z", "ANY", optional=True)]
    output_ports = OUTPUTS

    def __init__(self, nodeset):
        self.nodeset = nodeset

    def forward(self, inputs, ctx):
        return self.nodeset.answer(inputs, ctx)

class G(F):
    node_type = "{name}__g"
    input_ports = [PortDef("x", "ANY"), PortDef("z", "ANY", optional=True)]

class BatchedG(G):
    batched = True
    batch_dim = "x"

    def forward(self, inputs, ctx):
        rows = [
            self.nodeset.answer({{port: column[i] for port, column in inputs.items()}}, row)
            for i, row in enumerate(ctx.rows)
        ]
        return {{port.name: [row.get(port.name) for row in rows] for port in OUTPUTS}}

class NodeSet{name}(BaseNodeSet):
    name = "{name}"
    parallelism = "{parallelism}"
    default_config = {{"fails_at": 0}}
    state = 0

    def get_tools(self):
        return [F(self), BatchedG(self) if self.parallelism == "shared" else G(self)]

    def answer(self, inputs, ctx):
        fails_at = self.config["fails_at"]
        if fails_at and hash64(ctx.seed) % fails_at == 0:
            raise ValueError(f"broke at {{ctx.turns}}")
        number = hash64(self.state, ctx.seed, inputs)
        if self.parallelism == "replicated":
            self.state = number
        outputs = {{"y": number % 1000, "flag": number % 2 == 0}}
        if number % 3 == 0:
            outputs["rare"] = number % 7
        if number % 5:
            outputs["some"] = list(range(number % 4))
        return outputs
{more}
"""
BEGIN = """
    def begin_episode(self, episode):
        self.state = episode.seed
"""
EPISODES = """
    def get_eval_metadata(self):
        return {"splits": ["test"], "default_split": "test", "metrics": []}

    def get_episodes(self, split):
        return [Episode(str(index)) for index in range(5)]
"""


class SlowLink(InProcessLink):
    """Delivers in order, each time after some passes of the event loop; may kill its copy."""

    def __init__(self, copy: FlakyCopy, worker: int) -> None:
        super().__init__(copy, worker)
        self._flaky = copy
        self._last: asyncio.Task[None] | None = None

    def _deliver(self, frames: Sequence[Frame]) -> None:
        self._last = asyncio.create_task(self._deliver_later(frames, self._last))

    async def _deliver_later(
        self, frames: Sequence[Frame], before: asyncio.Task[None] | None
    ) -> None:
        if before is not None:
            await asyncio.wait([before])
        for _ in range(self._flaky.trouble.rnd.randint(0, 5)):
            await asyncio.sleep(0)
        if self._flaky.trouble.strikes():
            self._flaky.kill()
        elif not self._flaky.exited.done():
            super()._deliver(frames)


@dataclass
class Trouble:
    """What befalls the copies of one run; it begins once they are ready."""

    rnd: random.Random
    kills_left: int
    has_begun: bool = False
    strikes_done: int = field(default=0)

    def strikes(self) -> bool:
        if not self.has_begun or self.kills_left == 0 or self.rnd.random() > 0.02:
            return False
        self.kills_left -= 1
        self.strikes_done += 1
        return True


class FlakyCopy(InProcessCopy):
    """A copy in this process whose links are slow."""

    def __init__(self, spec: CopySpec, trouble: Trouble) -> None:
        super().__init__(spec)
        self.trouble = trouble

    async def connect(self, worker: int) -> InProcessLink:
        self.trouble.has_begun = self.trouble.has_begun or worker >= 0
        link = SlowLink(self, worker)
        await link.request("hello", protocol=PROTOCOL, worker=worker, budget_seconds=HELLO_SECONDS)
        return link


class FlakyLauncher:
    """Starts such copies, any number of them."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble

    async def start(self, spec: CopySpec) -> Copy:
        return FlakyCopy(spec, self._trouble)

    def keep_logs(self, folder: Path, mask: Callable[[str], str]) -> None:
        """Keep nothing: copies in this process have no output of their own."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a workspace with the nodesets of random graphs."""
    folder = tmp_path_factory.mktemp("random")
    (folder / "nodesets").mkdir()
    for name, mode, more in (
        ("A", "replicated", BEGIN),
        ("B", "replicated", BEGIN),
        ("S", "shared", EPISODES),
    ):
        text = NODESET.format(name=name, parallelism=mode, more=more)
        (folder / "nodesets" / f"{name}.py").write_text(text)
    return folder


async def run(graph: dict[str, Any], folder: Path, workers: int, trouble: Trouble) -> Any:
    """Return digest and table of one run, without what may differ."""
    with tempfile.TemporaryDirectory() as out:
        async with asyncio.timeout(HANG_SECONDS):
            done = await evaluate_async(
                graph,
                workers=workers,
                step_budget=BUDGET,
                retries=RETRIES,
                record="none",
                workspaces=[folder],
                out=out,
                surroundings=Surroundings(launcher=FlakyLauncher(trouble)),
            )
        rows = [asdict(row) for row in done.episodes]
    for row in rows:
        for name in ("worker", "seconds", "attempts"):
            row.pop(name)
        if row["error"] is not None:
            row["error"] = [row["error"][name] for name in ("kind", "type", "node", "turns")]
    return done.digest, rows


def draw_graph(rnd: random.Random, fails_at: int) -> dict[str, Any]:
    graph: dict[str, Any] = Draw(rnd).graph()
    document = read_graph(graph)
    assert validate(document, MANIFESTS) == []
    nodesets = {name: {"config": {"fails_at": fails_at}} for name in nodesets_of(document)}
    return {**graph, "environment": "S", "nodesets": nodesets}


@settings(
    max_examples=12,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # another seed is no smaller case
    suppress_health_check=list(HealthCheck),
)
@given(st.integers(0, 2**32), st.sampled_from([0, 40]))
def test_the_table_is_the_same_whatever_befalls_a_run(
    folder: Path, seed: int, fails_at: int
) -> None:
    rnd = random.Random(seed)
    graph = draw_graph(rnd, fails_at)

    calm = asyncio.run(run(graph, folder, 1, Trouble(rnd, 0)))
    for workers in (1, 2, 5):
        trouble = Trouble(random.Random(rnd.random()), MAX_KILLS)
        assert asyncio.run(run(graph, folder, workers, trouble)) == calm
    assert len(calm[1]) == 5
