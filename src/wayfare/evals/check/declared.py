"""Check what a nodeset declares: ports that are not all volatile, episodes, controller; give hints.

Knows nothing of calls of tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wayfare.evals.check.lens import CheckedTool
from wayfare.evals.check.subject import Listing, Subject
from wayfare.evals.check.verdict import CounterExample, Property
from wayfare.evals.comparison_value import are_equal, locate


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


def check_metadata(listings: Mapping[int, Listing]) -> Property:
    """Compare metadata and episodes as processes of several hash seeds gave them."""
    (seed, first), *others = listings.items()
    if first.metadata is None:
        says = "the nodeset brings no episodes"
        return Property(name="metadata", verdict="not applicable", says=says)
    for other_seed, other in others:
        if not are_equal(first.metadata, other.metadata):
            a, b = str(first.metadata), str(other.metadata)
            return _metadata_fault("get_eval_metadata()", a, b)
        if not are_equal(first.episodes, other.episodes):
            spot = locate(first.episodes, other.episodes)
            place = f"get_episodes({first.split!r}){spot.place}"
            return _metadata_fault(
                place,
                f"{spot.a} (PYTHONHASHSEED={seed})",
                f"{spot.b} (PYTHONHASHSEED={other_seed})",
            )
    says = (
        f"{len(first.episodes)} episodes of {first.split!r}, in the same order in processes with "
        f"{len(listings)} hash seeds"
    )
    return Property(name="metadata", verdict="pass", says=says)


def _metadata_fault(place: str, a: str, b: str) -> Property:
    example = CounterExample(
        tool=place.partition("(")[0],
        place=place,
        a=a,
        b=b,
        meaning="The list of episodes differs from process to process, so keys do not match.",
        cause="the order of a set or of a directory's files; sort.",
    )
    return Property(name="metadata", verdict="fail", says=f"see {place}", examples=(example,))


async def check_controller(subject: Subject) -> Property:
    """Ask the controller what it shows, offers and does before an episode."""
    controller, metadata = subject.manifest["controller"], subject.manifest["metadata"]
    if controller is None:
        return Property(name="controller", verdict="not applicable", says="there is none")
    await subject.ask_controller("on_load")
    options = {
        field["name"]: await subject.ask_controller("options", name=field["name"])
        for field in controller["fields"]
        if field["kind"] == "select"
    }
    if metadata is not None:
        await subject.ask_controller("field", name="split", value=metadata["default_split"])
        await subject.ask_controller("field", name="episode_index", value=0)
        await subject.ask_controller("action", name="play", params={})
        missing = [s for s in metadata["splits"] if s not in options.get("split", [s])]
        if missing:
            says = f"get_options('split') does not offer split {missing[0]!r} of the metadata"
            return Property(name="controller", verdict="warning", says=says)
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
