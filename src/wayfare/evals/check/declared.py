"""Check what a nodeset declares: ports that are not all volatile, episodes, controller; give hints.

Knows nothing of calls of tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nodeset.digest import digest_value
from wayfare.evals.check.lens import CheckedTool
from wayfare.evals.check.subject import BASE, Conditions, Laboratory
from wayfare.evals.check.verdict import CounterExample, Property

OTHER_PROCESS = Conditions(hash_seed=2)


def check_volatile(tools: Mapping[str, CheckedTool]) -> Property:
    """List the volatile ports; fail where no output is left that a digest sees."""
    ports = [
        f"{tool.fields['node_type']}.{name}"
        for tool in tools.values()
        for name in sorted(tool.volatile)
    ]
    outputs = sum(len(tool.fields["outputs"]) for tool in tools.values())
    if outputs and len(ports) == outputs:
        says = "all outputs are volatile, so no digest sees what the nodeset does"
        return Property(name="volatile", verdict="fail", says=f"{says}: {', '.join(ports)}")
    return Property(name="volatile", verdict="pass", says=", ".join(ports) or "there are none")


async def check_metadata(laboratory: Laboratory, split: str | None) -> Property:
    """Read metadata and episodes in two processes of other hash seeds; they must agree."""
    listed = []
    for conditions in (BASE, OTHER_PROCESS):
        async with laboratory.open(conditions) as subject:
            metadata = subject.manifest["metadata"]
            if metadata is None:
                says = "the nodeset brings no episodes"
                return Property(name="metadata", verdict="not applicable", says=says)
            name = split or metadata["default_split"]
            listed.append((metadata, await subject.list_episodes(name)))
    (one, episodes), (other, others) = listed
    if digest_value(one) != digest_value(other):
        return _metadata_fault("get_eval_metadata()", str(one), str(other))
    for index, (first, second) in enumerate(zip(episodes, others, strict=False)):
        if digest_value(first) != digest_value(second):
            return _metadata_fault(f"episode {index} of {name!r}", str(first), str(second))
    if len(episodes) != len(others):
        return _metadata_fault(f"split {name!r}", f"{len(episodes)} episodes", f"{len(others)}")
    says = f"JSON; {len(episodes)} episodes of {name!r} in the same order in two processes"
    return Property(name="metadata", verdict="pass", says=says)


def _metadata_fault(place: str, a: str, b: str) -> Property:
    example = CounterExample(
        tool="get_episodes" if place.startswith(("episode", "split")) else "get_eval_metadata",
        place=place,
        a=a,
        b=b,
        note="in two processes with other hash seeds",
        meaning="The list of episodes differs from process to process, so keys do not match.",
        cause="the order of a set or of a directory's files; sort.",
    )
    return Property(name="metadata", verdict="fail", says=f"see {place}", examples=(example,))


async def check_controller(laboratory: Laboratory) -> Property:
    """Ask the controller what it shows, offers and does before an episode."""
    async with laboratory.open() as subject:
        controller, metadata = subject.manifest["controller"], subject.manifest["metadata"]
        if controller is None:
            return Property(name="controller", verdict="not applicable", says="there is none")
        await subject.ask_controller("on_load")
        fields = {field["name"]: field for field in controller["fields"]}
        for field in fields.values():
            if field["kind"] != "select":
                continue
            options = await subject.ask_controller("options", name=field["name"])
            missing = [s for s in (metadata or {}).get("splits", ()) if s not in (options or ())]
            if field["name"] == "split" and missing:
                says = f"get_options('split') does not offer split {missing[0]!r} of the metadata"
                return Property(name="controller", verdict="warning", says=says)
        if metadata is not None:
            await subject.ask_controller("field", name="split", value=metadata["default_split"])
            await subject.ask_controller("field", name="episode_index", value=0)
            await subject.ask_controller("action", name="play", params={})
    return Property(name="controller", verdict="pass", says="it shows, offers and plays")


def list_hints(
    parallelism: str, tools: Mapping[str, CheckedTool], concurrent: list[str]
) -> Iterator[Property]:
    """Yield what is legal and costs time."""
    for tool in tools.values():
        node_type = tool.fields["node_type"]
        if parallelism == "shared" and not tool.is_batched and tool.name not in concurrent:
            says = (
                f"{node_type} is shared, not batched and not async: its calls are served one by "
                f"one; batched = True serves those of many workers together"
            )
            yield Property(name="hint", verdict="hint", says=says)
        if parallelism == "replicated" and tool.is_batched:
            says = f"{node_type} is batched in a replicated nodeset: it sees batches of one"
            yield Property(name="hint", verdict="hint", says=says)
