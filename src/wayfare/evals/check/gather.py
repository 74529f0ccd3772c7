"""Find inputs for a nodeset's tools: a recorded run, the author's, graphs that use it, its ports.

Knows nothing of what is checked with them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.digest import hash64
from nodeset.errors import NodeSetError
from wayfare.evals.check.drive import Driver, Samples
from wayfare.evals.check.material import Material, ProbeCall
from wayfare.evals.check.recorded import find_instance, read_scripts
from wayfare.evals.check.subject import Laboratory, Subject
from wayfare.evals.episodes import plan_episodes
from wayfare.evals.errors import RunFailedError, SelectionError, SetupError
from wayfare.evals.library import evaluate_async
from wayfare.evals.run import Run
from wayfare.evals.surroundings import Surroundings
from wayfare.fleet.errors import FleetSetupError
from wayfare.fleet.registry import GraphEntry, WorkspaceComponentRegistry
from wayfare.graph.document import GraphDocument, load_graph
from wayfare.graph.fault import GraphError
from wayfare.graph.tooltype import split_type
from wayfare.store.run import RunReader

EPISODES = 3
STEP_BUDGET = 8
SAMPLES = 8
_REFUSALS = (GraphError, SetupError, FleetSetupError, NodeSetError, RunFailedError)


@dataclass(slots=True)
class Gatherer:
    """Fills one `Material`: each further source is asked for what the earlier ones left out."""

    laboratory: Laboratory
    registry: WorkspaceComponentRegistry
    workspaces: Sequence[Path]
    seed: int

    def read_run(self, reader: RunReader | None) -> Material:
        """Return what a recorded run holds; the nodeset is checked as it is configured there."""
        material = Material()
        if reader is not None:
            name = self.laboratory.name
            recorded = read_scripts(reader, name, self.registry, may_fail=True)
            self.laboratory.config = {**recorded.config, **self.laboratory.config}
            material.scripts += recorded.scripts
            material.sources.append(f"run {reader.header.run_id}")
        return material

    async def fill(self, material: Material, subject: Subject) -> None:
        """Add what the nodeset's other tools can be called with; the copy is used up by it."""
        samples = [await subject.sample(hash64(self.seed, n)) for n in range(SAMPLES)]
        if subject.manifest["parallelism"] == "shared" and samples[0]:
            missing = self._missing(material, subject)
            material.calls += [call for call in _calls_of(samples) if call.tool in missing]
            material.sources.append("sample_inputs")
        if self._missing(material, subject):
            await self._add_graphs(material, subject)
        if self._missing(material, subject):
            await self._add_own_episodes(material, subject, samples[0])

    def _missing(self, material: Material, subject: Subject) -> set[str]:
        """Return the tools that nothing calls so far."""
        tools = {tool["name"] for tool in subject.manifest["tools"]}
        return tools - {call.tool for call in material.all_calls}

    async def _add_graphs(self, material: Material, subject: Subject) -> None:
        """Run graphs that use the nodeset as it is configured here, while they add a tool."""
        candidates = dict(self._list_graphs(subject))
        while candidates:
            missing = self._missing(material, subject)
            entry = max(candidates, key=lambda graph: len(candidates[graph] & missing))
            if not candidates.pop(entry) & missing:
                return
            try:
                with tempfile.TemporaryDirectory(prefix="wayfare-check-") as folder:
                    reader = await self._run(entry, Path(folder))
                    recorded = read_scripts(
                        reader, self.laboratory.name, self.registry, may_fail=False
                    )
            except _REFUSALS as error:
                material.sources.append(f"not graph {entry.name}, which does not run: {error}")
                continue
            material.scripts += recorded.scripts
            material.sources.append(f"graph {entry.name}")

    def _list_graphs(self, subject: Subject) -> Iterable[tuple[GraphEntry, set[str]]]:
        for entry in self.registry.graphs:
            try:
                document = load_graph(entry.path)
            except GraphError:
                continue
            instance = find_instance(document, self.laboratory.name, self.registry)
            if instance is None:
                continue
            spec = document.nodesets.get(instance)
            config = {**subject.manifest["default_config"], **(spec.config if spec else {})}
            if config == subject.manifest["config"]:
                yield entry, set(_list_tools(document, instance))

    async def _run(self, entry: GraphEntry, folder: Path) -> RunReader:
        async def run(episodes: int) -> Run:
            return await evaluate_async(
                entry.path,
                episodes=episodes,
                seed=self.seed,
                step_budget=STEP_BUDGET,
                retries=0,
                record="full",
                workspaces=self.workspaces,
                out=folder,
                surroundings=Surroundings(launcher=self.laboratory.launcher),
            )

        try:
            done = await run(EPISODES)
        except SelectionError:  # it has fewer
            done = await run(1)
        return RunReader.open(done.folder, folder)

    async def _add_own_episodes(
        self, material: Material, subject: Subject, samples: Samples
    ) -> None:
        """Play the nodeset's own episodes; where it brings none, made-up ones."""
        driver = Driver(subject, samples, self.seed)
        missing = self._missing(material, subject)
        is_replicated = subject.manifest["parallelism"] == "replicated"
        for episode in await self._list_episodes(subject):
            script = await driver.play(episode, begin=is_replicated)
            if is_replicated:
                material.scripts.append(script)
            else:
                material.calls += [call for call in script.calls if call.tool in missing]
        material.faltered.update(driver.tell_faltering())
        for tool in missing - set(driver.answered):
            reason = driver.failures.get(tool, "it was never called")
            material.unreached[tool] = f"no input was found that it takes ({reason})"
        kind = "its own episodes" if subject.manifest["metadata"] else "made-up episodes"
        material.sources.append(f"{kind} with random actions")

    async def _list_episodes(self, subject: Subject) -> list[EpisodeContext]:
        metadata: Mapping[str, Any] | None = subject.manifest["metadata"]
        if metadata is None:
            return [
                EpisodeContext(index=n, id=str(n), split="check", seed=hash64(self.seed, n))
                for n in range(EPISODES)
            ]
        split = self.laboratory.split or metadata["default_split"]
        listed = await subject.list_episodes(split)
        selection = f"0:{min(EPISODES, len(listed))}"
        plan = plan_episodes(self.laboratory.name, split, listed, selection=selection, repeats=1)
        return [plan.context(planned, self.seed) for planned in plan.planned]


def _calls_of(samples: Sequence[Samples]) -> Iterable[ProbeCall]:
    for number, sample in enumerate(samples):
        seed = hash64("check", number)
        episode = EpisodeContext(index=number, id=str(number), split="check", seed=seed)
        for tool, inputs in sample.items():
            yield ProbeCall(
                tool=tool,
                inputs=inputs,
                episode=episode,
                seed=hash64(seed, tool),
                is_legal=True,
            )


def _list_tools(document: GraphDocument, instance: str) -> Iterable[str]:
    for node in document.nodes:
        parts = split_type(node.type)
        if parts is not None and parts[0] == instance:
            yield parts[1]
