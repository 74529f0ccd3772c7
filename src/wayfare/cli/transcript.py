"""Show what calls by hand gave: for people, as strict JSON, and arrays as files.

Knows nothing of how calls are made.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nodeset.context import EpisodeContext
from nodeset.errors import NodeSetError, to_payload
from nodeset.ports import PortDef

MAX_TEXT = 400
MAX_SHOWN_ITEMS = 16
"""The most elements that an array has for its values to be shown beside its shape."""


@dataclass(frozen=True, slots=True)
class DoneCall:
    """One call that was answered."""

    node_type: str
    ports: Mapping[str, PortDef]
    outputs: Mapping[str, Any]
    logs: Sequence[tuple[str, Any]]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The calls of one line up to its end or to the first that failed."""

    episode: EpisodeContext | None
    calls: Sequence[DoneCall]
    failed: str = ""
    """What raised `error`: a tool, or `begin_episode`."""
    error: NodeSetError | None = None
    wants_episode: bool = False
    """Whether it was called without the episode that its nodeset's copies are made ready for."""


def transcript_document(transcript: Transcript) -> dict[str, Any]:
    """Return what `--json` prints; arrays are {"dtype", "shape", "data"}."""
    episode, error = transcript.episode, transcript.error
    return {
        "episode": None if episode is None else as_json(asdict(episode)),
        "calls": [
            {
                "tool": call.node_type,
                "outputs": as_json(call.outputs),
                "logs": [{"key": key, "value": as_json(value)} for key, value in call.logs],
            }
            for call in transcript.calls
        ],
        "error": None if error is None else {"at": transcript.failed, **to_payload(error)},
    }


def as_json(value: Any) -> Any:
    """Return passive data as strict JSON: numbers that are not finite and bytes as text."""
    match value:
        case np.ndarray():
            data = as_json(value.tolist())
            return {"dtype": value.dtype.name, "shape": list(value.shape), "data": data}
        case Mapping():
            return {key: as_json(item) for key, item in value.items()}
        case list() | tuple():
            return [as_json(item) for item in value]
        case float() if not math.isfinite(value):
            return json.dumps(value)
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case None | bool() | int() | float() | str():
            return value
    return str(value)  # the elements of arrays of dates or complex numbers


def render_transcript(transcript: Transcript) -> str:
    """Return what people read: a block per call, a line per output."""
    blocks = []
    if transcript.episode is not None:
        episode = transcript.episode
        scene = f" in scene {episode.scene_id!r}" if episode.scene_id else ""
        split = f"split {episode.split!r}, index {episode.index}"
        blocks.append(f"episode {episode.id!r}{scene} ({split}, seed {episode.seed})")
    blocks += [_render_call(call) for call in transcript.calls]
    return "\n".join(blocks)


def _render_call(call: DoneCall) -> str:
    rows = [(n, call.ports[n].wire_type, describe_value(v)) for n, v in call.outputs.items()]
    absent = [name for name in call.ports if name not in call.outputs]
    rows += [(name, call.ports[name].wire_type, "(left out)") for name in absent]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    lines = [f"  {n:{widths[0]}}  {kind:{widths[1]}}  {text}".rstrip() for n, kind, text in rows]
    logs = [f"  log {key}: {describe_value(value)}" for key, value in call.logs]
    return "\n".join([call.node_type, *(lines or ["  (no outputs)"]), *logs])


def describe_value(value: Any) -> str:
    """Return one line for a value: an array's shape, dtype and range, else the value itself."""
    if isinstance(value, np.ndarray):
        return _describe_array(value)
    if isinstance(value, str):
        return _cut(json.dumps(value, ensure_ascii=False))
    if isinstance(value, Mapping | list) and any(True for _ in find_arrays(value)):
        inner = value.items() if isinstance(value, Mapping) else enumerate(value)
        return _cut("{" + "; ".join(f"{key}: {describe_value(item)}" for key, item in inner) + "}")
    return _cut(json.dumps(as_json(value), ensure_ascii=False))


def _describe_array(array: np.ndarray[Any, Any]) -> str:
    text = f"{array.dtype} {array.shape}"
    if array.dtype.kind in "iuf" and array.size:
        finite = array[np.isfinite(array)]
        if finite.size:
            text += f", min {finite.min():g}, max {finite.max():g}"
        if finite.size < array.size:
            text += f", {array.size - finite.size} not finite"
    if array.size <= MAX_SHOWN_ITEMS:
        text += f": {json.dumps(as_json(array.tolist()))}"
    return text


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}… ({len(text)} characters; --json prints all)"


def save_arrays(transcript: Transcript, folder: Path) -> list[Path]:
    """Write every array of the outputs as `<tool>.<port>.npy`; the second call's as `<tool>_2.…`"""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    counts: dict[str, int] = {}
    for call in transcript.calls:
        count = counts[call.node_type] = counts.get(call.node_type, 0) + 1
        stem = call.node_type if count == 1 else f"{call.node_type}_{count}"
        for place, array in find_arrays(call.outputs):
            path = folder / f"{stem}.{'.'.join(place)}.npy"
            np.save(path, array, allow_pickle=False)
            written.append(path)
    return written


def find_arrays(value: Any) -> Iterator[tuple[tuple[str, ...], np.ndarray[Any, Any]]]:
    """Yield the arrays in a value, each with the keys and indexes that lead to it."""
    if isinstance(value, np.ndarray):
        yield (), value
        return
    inner: Any = ()
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, item in inner:
        for place, array in find_arrays(item):
            yield (str(key).replace("/", "_"), *place), array
