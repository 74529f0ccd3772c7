"""Say what a store is to hold: which tool renders it, and which tool or file lists its poses.

Knows nothing of copies: manifests and files are all it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from nodeset.digest import digest_value
from nodeset.ports import PortDef
from wayfare.evals.errors import SetupError
from wayfare.evals.header import MAX_WORKERS
from wayfare.graph.setting import value_faults

Manifest = Mapping[str, Any]
Poses = npt.NDArray[np.float64]
By = Literal["episode", "scene"]

POSES_PORT = "poses"
POSE_PORT = "pose"
"""What takes one of the poses that stand in `poses`, where several inputs could."""
POSE_SIZE = 7
ROW_TYPES = ("IMAGE", "DEPTH", "POSE", "ARRAY", "INT", "FLOAT", "BOOL")
"""The types of outputs of which every row is as large."""
DEFAULT_RETRIES = 2
DEFAULT_VERIFIED = 32
_UNIT_WITHIN = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class BakeRequest:
    """One store as it was asked for; empty texts leave a choice to what the nodeset offers."""

    nodeset: str
    out: Path
    tool: str = ""
    poses: str = ""
    """A `.npy` or `.npz` file, or the tool that lists them."""
    outputs: tuple[str, ...] = ()
    """The tool's outputs that are kept; none: all."""
    by: By = "episode"
    split: str | None = None
    selection: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    node_config: Mapping[str, Any] = field(default_factory=dict)
    worker_count: int = 1
    retries: int = DEFAULT_RETRIES
    verified: int = DEFAULT_VERIFIED
    """How many rows are rendered again, once all are there."""

    def __post_init__(self) -> None:
        """Refuse what is no request. Raises SetupError."""
        if not 1 <= self.worker_count <= MAX_WORKERS:
            raise SetupError(f"workers is {self.worker_count}; it must be from 1 to {MAX_WORKERS}.")
        if self.retries < 0:
            raise SetupError(f"retries is {self.retries}; it must be a number of tries from 0.")
        if self.verified < 0:
            raise SetupError(f"verify is {self.verified}; it must be a number of rows from 0.")
        if self.by not in get_args(By):
            raise SetupError(f"by is {self.by!r}; it must be one of {', '.join(get_args(By))}.")

    @property
    def poses_file(self) -> Path | None:
        """Return the file that the poses come from, if they do."""
        return Path(self.poses) if self.poses.endswith((".npy", ".npz")) else None


@dataclass(frozen=True, slots=True)
class RenderTool:
    """The tool that renders: its one required input and the outputs that are kept."""

    name: str
    pose_port: str
    outputs: tuple[PortDef, ...]
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ListTool:
    """The tool that lists a scene's poses."""

    name: str
    config: Mapping[str, Any]


def choose_render_tool(request: BakeRequest, manifest: Manifest) -> RenderTool:
    """Return the named tool, or the only one that sees from a pose. Raises SetupError.

    Of several the only one whose input is called `pose`.
    """
    able = {tool["name"]: tool for tool in manifest["tools"] if _find_pose_port(tool)}
    seeing = [name for name, tool in able.items() if _sees(tool)]
    if len(seeing) > 1:
        seeing = [name for name in seeing if _find_pose_port(able[name]) == POSE_PORT]
    name = _short(request.tool, manifest) or (seeing[0] if len(seeing) == 1 else "")
    if name not in able:
        raise SetupError(
            f"{_say('--tool', request.tool)} of {manifest['name']!r} {_blame(name)}renders from a "
            f"pose: it must have one required input, of type POSE. There are: "
            f"{', '.join(able) or 'none'}. With --tool NAME one is chosen."
        )
    tool = able[name]
    outputs = tuple(_choose_outputs(request, tool))
    return RenderTool(name, _find_pose_port(tool), outputs, _pick(request.node_config, tool))


def choose_list_tool(request: BakeRequest, manifest: Manifest) -> ListTool:
    """Return the named tool, or the only one that lists poses. Raises SetupError."""
    able = {tool["name"]: tool for tool in manifest["tools"] if _lists_poses(tool)}
    name = _short(request.poses, manifest) or (next(iter(able)) if len(able) == 1 else "")
    if name not in able:
        raise SetupError(
            f"{_say('--poses', request.poses)} of {manifest['name']!r} {_blame(name)}lists poses: "
            f"it must have no required input, and an output {POSES_PORT!r} of type ARRAY. There "
            f"are: {', '.join(able) or 'none'}. --poses FILE.npy takes poses (N, {POSE_SIZE}) from "
            f"a file."
        )
    return ListTool(name, _pick(request.node_config, able[name]))


def check_node_config(
    request: BakeRequest, manifest: Manifest, tools: Sequence[RenderTool | ListTool]
) -> None:
    """Refuse configuration that none of the tools takes. Raises SetupError."""
    used = {tool.name for tool in tools}
    described = [tool for tool in manifest["tools"] if tool["name"] in used]
    known = {key for tool in described for key in tool["default_config"]}
    unknown = sorted(set(request.node_config) - known)
    if unknown:
        raise SetupError(
            f"--node-config {unknown[0]}: neither of {', '.join(sorted(used))} knows it; the keys "
            f"are: {', '.join(sorted(known)) or 'none'}."
        )
    option = "--node-config "
    for tool in described:
        given, defaults = request.node_config, tool["default_config"]
        for fault in value_faults(tool["node_type"], given, defaults, place=option, option=option):
            raise SetupError(str(fault))


def read_poses(path: Path, scene_ids: Sequence[str]) -> list[Poses]:
    """Return each scene's poses: the same for all of an .npy file, by scene_id of an .npz file.

    Raises SetupError.
    """
    try:
        loaded = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise SetupError(f"--poses {path} can't be read: {error}") from error
    if isinstance(loaded, np.ndarray):
        return [check_poses(loaded, f"--poses {path}")] * len(scene_ids)
    with loaded:
        missing = [scene for scene in scene_ids if scene not in loaded]
        if missing:
            raise SetupError(
                f"--poses {path} has no array for scene {missing[0]!r}; an .npz file has one "
                f"(N, {POSE_SIZE}) under each scene_id. It has: {', '.join(loaded) or 'none'}."
            )
        return [check_poses(loaded[scene], f"--poses {path}, {scene!r}") for scene in scene_ids]


def check_poses(poses: npt.NDArray[Any], where: str) -> Poses:
    """Return poses as float64 (N, 7). Raises SetupError, naming the first that is none."""
    if poses.ndim != 2 or poses.shape[1] != POSE_SIZE or poses.dtype.kind not in "fiu":
        raise SetupError(
            f"{where}: got an array {poses.shape} of {poses.dtype}; poses are (N, {POSE_SIZE}) "
            f"numbers: x y z in metres, quaternion x y z w."
        )
    if not len(poses):
        raise SetupError(f"{where}: there are no poses; a store needs at least one per scene.")
    values: Poses = np.ascontiguousarray(poses, np.float64)
    lengths = np.linalg.norm(values[:, 3:], axis=1)
    good = np.isfinite(values).all(axis=1) & (np.abs(lengths - 1.0) < _UNIT_WITHIN)
    if not good.all():
        bad = int(np.argmin(good))
        raise SetupError(
            f"{where}: pose {bad} is {values[bad].tolist()}; it must be seven finite numbers with "
            f"a quaternion of length 1."
        )
    return values


def hash_poses(poses: Poses) -> str:
    """Return the hash (hex) of poses."""
    return digest_value(poses).hex()


def _find_pose_port(tool: Mapping[str, Any]) -> str:
    """Return the name of a tool's one required input if that is a pose, else nothing."""
    required = [port for port in tool["inputs"] if not port["optional"]]
    is_pose = len(required) == 1 and required[0]["wire_type"] == "POSE"
    return str(required[0]["name"]) if is_pose else ""


def _sees(tool: Mapping[str, Any]) -> bool:
    return any(port["wire_type"] in ("IMAGE", "DEPTH") for port in tool["outputs"])


def _lists_poses(tool: Mapping[str, Any]) -> bool:
    outputs = {port["name"]: port["wire_type"] for port in tool["outputs"]}
    is_free = all(port["optional"] for port in tool["inputs"])
    return is_free and outputs.get(POSES_PORT) == "ARRAY"


def _choose_outputs(request: BakeRequest, tool: Mapping[str, Any]) -> Iterator[PortDef]:
    ports = {port["name"]: PortDef(**port) for port in tool["outputs"]}
    unknown = [name for name in request.outputs if name not in ports]
    if unknown:
        raise SetupError(
            f"--outputs: {tool['name']!r} has no output {unknown[0]!r}; it has: {', '.join(ports)}."
        )
    for name, port in ports.items():
        if request.outputs and name not in request.outputs:
            continue
        if port.wire_type not in ROW_TYPES or port.volatile:
            able = [p.name for p in ports.values() if p.wire_type in ROW_TYPES and not p.volatile]
            what = "volatile" if port.volatile else f"a {port.wire_type}"
            raise SetupError(
                f"output {name!r} of {tool['name']!r} is {what}, which is no row of an array; "
                f"leave it out with --outputs {','.join(able)}."
            )
        yield port


def _pick(config: Mapping[str, Any], tool: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key in tool["default_config"]}


def _short(name: str, manifest: Manifest) -> str:
    return name.removeprefix(f"{manifest['name']}__")


def _say(option: str, given: str) -> str:
    return f"{option} {given}: no tool" if given else "no one tool"


def _blame(name: str) -> str:
    return "of that name " if name else "alone "
