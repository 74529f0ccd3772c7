"""Check one nodeset: gather inputs, run the checks of its mode, and bring the verdicts together.

Knows nothing of graphs' results or of how a report looks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wayfare.evals.check.declared import (
    check_controller,
    check_metadata,
    check_volatile,
    list_hints,
)
from wayfare.evals.check.gather import Gatherer
from wayfare.evals.check.lens import CheckedTool, list_tools
from wayfare.evals.check.material import Material, Script, pick_calls
from wayfare.evals.check.purity import HASH_SEEDS, PurityCheck
from wayfare.evals.check.replicated import EpisodeCheck
from wayfare.evals.check.rows import RowCheck
from wayfare.evals.check.serving import Residue, Server
from wayfare.evals.check.subject import Laboratory
from wayfare.evals.check.verdict import (
    CounterExample,
    NodesetCheck,
    Property,
    ToolCheck,
    Verdict,
    conclude,
)
from wayfare.fleet.place import place
from wayfare.fleet.shutdown import ShutdownFault, describe_shutdown_faults
from wayfare.store.run import RunReader

CALLS_PER_TOOL = 8
SCRIPTS = 3


async def check_nodeset(gatherer: Gatherer, from_run: RunReader | None = None) -> NodesetCheck:
    """Check a nodeset. Raises FaultyCodeError for what its own code raised, and FleetSetupError."""
    laboratory = gatherer.laboratory
    material = gatherer.read_run(from_run)
    async with laboratory.open() as subject:
        await gatherer.fill(material, subject)
        controller = await check_controller(subject)
    async with laboratory.open() as subject:
        manifest = subject.manifest
        tools = list_tools(manifest)
        server = Server(subject, Residue(tools))
        hints = list_hints(manifest["parallelism"], tools, await subject.list_concurrent())
        if manifest["parallelism"] == "shared":
            examined = await _examine_shared(laboratory, material, server, seed=gatherer.seed)
    if manifest["parallelism"] == "replicated":
        examined = await _examine_replicated(laboratory, material, server.residue)
    properties = (
        *examined.properties,
        *_conclude_residue(server.residue, manifest["parallelism"]),
        check_volatile(tools),
        check_metadata(laboratory.listings),
        controller,
        *_conclude_coverage(material, tools),
        *_conclude_shutdown(laboratory.shutdown_faults),
        *hints,
    )
    return NodesetCheck(
        name=laboratory.name,
        parallelism=manifest["parallelism"],
        file=str(laboratory.entry.declaration.path),
        python=manifest["python"],
        threads=_describe_threads(laboratory),
        config=manifest["config"],
        inputs=tuple(material.sources),
        copies=laboratory.copies,
        hash_seeds=HASH_SEEDS,
        tools=tuple(_describe_tool(tool, examined, manifest) for tool in tools.values()),
        properties=properties,
    )


@dataclass(frozen=True, slots=True)
class _Examined:
    """What the checks of one mode came to."""

    properties: list[Property]
    calls: Mapping[str, int]
    """How many different calls of each tool were checked."""
    largest: Mapping[str, float]


async def _examine_shared(
    laboratory: Laboratory, material: Material, server: Server, *, seed: int
) -> _Examined:
    tools = server.residue.tools
    picked = pick_calls(material.all_calls, CALLS_PER_TOOL)
    calls = [call for own in picked.values() for call in own]
    purity = PurityCheck(laboratory, tools, calls, server.residue, seed)
    await purity.run(server)
    rows = RowCheck(server, tools, purity.alone)
    unsure = {*purity.impure, *purity.process, *purity.clock}
    batched = [tool for tool in tools.values() if tool.is_batched and tool.name in picked]
    for tool in batched:
        if tool.name not in unsure:
            await rows.run(tool)
    counts = {name: len(own) for name, own in picked.items()}
    return _Examined(_conclude_shared(purity, rows, batched, unsure), counts, rows.largest)


def _conclude_shared(
    purity: PurityCheck, rows: RowCheck, batched: list[CheckedTool], unsure: set[str]
) -> list[Property]:
    count = len(purity.calls)
    again = f"{count} calls again, with others between them"
    order = {**rows.order, **purity.order}
    memory = list(purity.memory.values())
    properties = [
        _conclude("purity", purity.purity, again),
        _conclude("order", order, f"{count} calls backwards, and rows of batches backwards"),
        _conclude("process", purity.process, f"fresh processes with {len(HASH_SEEDS)} hash seeds"),
        _conclude("clock", purity.clock, "at another hour, weekday, month and year"),
        *_conclude_rows(rows, batched, unsure),
        conclude("memory", memory, _describe_caches(purity), verdict="warning"),
    ]
    return properties


def _conclude_rows(
    rows: RowCheck, batched: list[CheckedTool], unsure: set[str]
) -> Iterator[Property]:
    judged = [tool for tool in batched if tool.name not in unsure]
    if not judged:
        why = "no tool is batched" if not batched else "no batched tool answers alike alone"
        yield Property(name="batch", verdict="not applicable", says=why)
        yield Property(name="rows", verdict="not applicable", says=why)
        return
    texts = [_describe_measure(tool, rows) for tool in judged]
    yield _conclude("batch", rows.batch, "; ".join(texts))
    failing = ", ".join(sorted(rows.failing)) or "no tool"
    yield _conclude("rows", rows.rows, f"an input that fails alone was found for {failing}")


def _describe_measure(tool: CheckedTool, rows: RowCheck) -> str:
    text = f"{tool.name}: {tool.claim}"
    if tool.fields["pad_batch"]:
        text += f" to {tool.fields['pad_batch']} rows"
    if tool.tolerance:
        text += f", tolerance {tool.tolerance:g}"
    if tool.name in rows.largest:
        text += f", largest difference {rows.largest[tool.name]:g}"
    return text + (" (one input only)" if tool.name in rows.single else "")


def _describe_caches(purity: PurityCheck) -> str:
    if not purity.caches:
        return "nothing that the nodeset keeps changes with a call"
    tool, paths = next(iter(purity.caches.items()))
    return (
        f"what it keeps settles after a first call ({paths[0].partition(': ')[0]}, by {tool}): a "
        f"cache, as it seems"
    )


async def _examine_replicated(
    laboratory: Laboratory, material: Material, residue: Residue
) -> _Examined:
    scripts = [script for script in _pick_scripts(material) if script.calls]
    counts: dict[str, int] = {}
    for script in scripts:
        for call in script.calls:
            counts[call.tool] = counts.get(call.tool, 0) + 1
    check = EpisodeCheck(laboratory, residue.tools, scripts, residue)
    if scripts:
        await check.run()
    return _Examined(list(_conclude_episodes(check)), counts, {})


def _pick_scripts(material: Material) -> list[Script]:
    """Return a few episodes, from the last source too: it was asked for tools that others lack."""
    scripts = material.scripts
    if len(scripts) <= SCRIPTS:
        return list(scripts)
    return [*scripts[: SCRIPTS - 1], scripts[-1]]


def _conclude_episodes(check: EpisodeCheck) -> Iterator[Property]:
    count = len(check.scripts)
    calls = sum(len(script.calls) for script in check.scripts)
    played = f"{count} episodes with {calls} calls"
    differs = "differs" if check.differs_by_seed else "does not differ"
    says = {
        "reset": f"{played}: alone on a fresh copy, after others, and again",
        "order": f"{played}, forwards and backwards",
        "isolation": "two copies at the same time, calls taking turns",
        "seed": f"the same seed gives the same bits; another one {differs}",
        "process": f"fresh processes with {len(HASH_SEEDS)} hash seeds",
        "clock": "at another hour, weekday, month and year",
    }
    for name, text in says.items():
        example = check.found.get(name)
        if example is not None:
            yield conclude(name, [example], text)
        elif {"reset", "seed"} & check.found.keys():
            broken = "reset" if "reset" in check.found else "seed"
            why = f"{broken} fails, so that this can't be told"
            yield Property(name=name, verdict="not applicable", says=why)
        elif not count:
            yield Property(name=name, verdict="not applicable", says="no episode could be played")
        else:
            yield Property(name=name, verdict="pass", says=text)


def _conclude_residue(residue: Residue, parallelism: str) -> Iterator[Property]:
    yield _conclude("inputs", residue.inputs, "no call changed what it was given")
    verdict: Verdict = "fail" if parallelism == "shared" else "warning"
    random = list(residue.random.values())
    says = "no call drew from random, numpy.random or torch, nor seeded them"
    yield conclude("random", random, says, verdict=verdict)
    yield _conclude("ports", residue.ports, "every answer was what the ports declare")


def _conclude_coverage(material: Material, tools: Mapping[str, CheckedTool]) -> Iterator[Property]:
    remedy = "define sample_inputs(rng), or give a recorded run with --from-run"
    if len(material.unreached) == len(tools):
        reasons = "; ".join(f"{tool}: {why}" for tool, why in material.unreached.items())
        says = f"nothing could be checked: {reasons}; {remedy}"
        yield Property(name="coverage", verdict="fail", says=says)
        return
    for tool, why in sorted(material.unreached.items()):
        yield Property(
            name="coverage", verdict="warning", says=f"{tool} was not checked: {why}; {remedy}"
        )
    for tool, how in sorted(material.faltered.items()):
        says = f"{tool} {how}: mend it, or give inputs that it takes by sample_inputs(rng)"
        yield Property(name="coverage", verdict="warning", says=says)
    if not material.unreached and not material.faltered:
        yield Property(name="coverage", verdict="pass", says="every tool was checked")


def _conclude_shutdown(faults: Sequence[ShutdownFault]) -> Iterator[Property]:
    if faults:
        says = describe_shutdown_faults(faults).rstrip(".")
        yield Property(name="shutdown", verdict="warning", says=says)


def _conclude(name: str, found: Mapping[Any, CounterExample], says: str) -> Property:
    return conclude(name, list(found.values()), says)


def _describe_tool(
    tool: CheckedTool, examined: _Examined, manifest: Mapping[str, object]
) -> ToolCheck:
    is_claiming = tool.is_batched and manifest["parallelism"] == "shared"
    return ToolCheck(
        name=tool.name,
        calls=examined.calls.get(tool.name, 0),
        volatile=tuple(sorted(tool.volatile)),
        claim=tool.claim if is_claiming else None,
        pad_batch=tool.fields["pad_batch"],
        batch_tolerance=tool.fields["batch_tolerance"],
        largest_difference=_finite(examined.largest.get(tool.name)),
    )


def _finite(value: float | None) -> float | None:
    """Return the number; None where there is none, or where values differed in kind."""
    return None if value is None or value == float("inf") else value


def _describe_threads(laboratory: Laboratory) -> str:
    declaration = laboratory.entry.declaration
    default = place(laboratory.name, declaration.parallelism, 1).default_threads
    threads = declaration.deployment.threads or default
    return str(threads) if threads is not None else f"all cores ({os.cpu_count()})"
