"""Describe a loaded nodeset as passive data: tools, ports, metadata, versions.

Knows nothing of who asks; initializes nothing.
"""

from __future__ import annotations

import hashlib
import math
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional

import numpy as np

from nodeset.contract import BaseCanvasNode, BaseController, Episode
from nodeset.errors import AuthorError, ContractError
from nodeset.loading import LoadedNodeSet
from nodeset.passive import INT_MAX, INT_MIN, MismatchError, describe, passive
from nodeset.ports import PortDef, accept
from nodeset.text import is_encodable

LOCK_FILE = "wayfare-lock.txt"
"""What stands in an environment that was made of a script header: its packages, with hashes."""


def build_manifest(loaded: LoadedNodeSet) -> Dict[str, Any]:
    """Return what graphs, runs and people need to know of a nodeset, without initializing it.

    Raises ContractError for what it declares and cannot cross between processes.
    """
    declaration = loaded.declaration
    try:
        config = passive(dict(loaded.nodeset.config), arrays=False, at="['config']")
        manifest = {**passive(_describe(loaded), arrays=True), "config": config}
        _check_finite(manifest)
        return manifest
    except MismatchError as error:
        raise ContractError(
            f"nodeset {declaration.name!r} ({declaration.path}:{declaration.line}) has "
            f"{describe(error.value)}{error.at} of its manifest; it must be {error.due}."
        ) from error


def _check_finite(value: Any, at: str = "") -> None:
    """Raise MismatchError for a number that no file of a run can hold."""
    if isinstance(value, float) and not math.isfinite(value):
        raise MismatchError(value, "a finite number, since JSON has no other", f" at {at}")
    children: Iterable[Any] = ()
    if isinstance(value, (dict, list)):
        children = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in children:
        _check_finite(item, f"{at}[{key!r}]")


def _describe(loaded: LoadedNodeSet) -> Dict[str, Any]:
    declaration = loaded.declaration
    sources = loaded.source_files
    joined = "\n".join(f"{path} {digest}" for path, digest in sorted(sources.items()))
    return {
        "name": declaration.name,
        "class_name": declaration.class_name,
        "description": declaration.description,
        "file": str(declaration.path),
        "parallelism": declaration.parallelism,
        "python": platform.python_version(),
        "packages": _packages(),
        "environment": _environment(),
        "source_files": sources,
        "source_hash": hashlib.sha256(joined.encode("utf-8")).hexdigest(),
        "default_config": dict(type(loaded.nodeset).default_config),
        "tools": [describe_tool(short, tool) for short, tool in loaded.tools.items()],
        "controller": _describe_controller(loaded.controller),
        "metadata": loaded.metadata,
    }


def describe_tool(short: str, tool: BaseCanvasNode) -> Dict[str, Any]:
    """Return one tool's part of the manifest."""
    return {
        "name": short,
        "node_type": tool.node_type,
        "display_name": tool.display_name or short,
        "description": tool.description or (type(tool).__doc__ or "").strip().split("\n")[0],
        "category": tool.category,
        "batched": tool.batched,
        "batch_dim": tool.batch_dim,
        "max_batch": tool.max_batch,
        "pad_batch": tool.pad_batch,
        "batch_tolerance": float(tool.batch_tolerance),
        "default_config": dict(tool.default_config),
        "inputs": [asdict(port) for port in tool.input_ports],
        "outputs": [asdict(port) for port in tool.output_ports],
    }


def list_episodes(loaded: LoadedNodeSet, split: str) -> List[Dict[str, Any]]:
    """Return the episodes of `split` as passive data, in the author's order.

    Raises ContractError where an episode is none, has no text id, or (scene_id, id) repeats.
    """
    name = loaded.declaration.name
    splits = (loaded.metadata or {}).get("splits", [])
    if split not in splits:
        raise ContractError(f"nodeset {name!r} has no split {split!r}; it has: {', '.join(splits)}")
    try:
        listed: Any = loaded.nodeset.get_episodes(split)
        episodes = list(listed) if isinstance(listed, Iterable) else None
    except Exception as error:
        raise AuthorError.wrap(error, f"{name}.get_episodes({split!r})", skip_frames=1) from error
    if episodes is None:
        raise ContractError(
            f"{name}.get_episodes({split!r}) returned {listed!r}; it must return a list of "
            f"nodeset.Episode."
        )
    seen: Dict[Any, int] = {}
    rows = []
    for index, episode in enumerate(episodes):
        where = f"nodeset {name!r}, split {split!r}, episode {index}"
        rows.append(_describe_episode(episode, where))
        first = seen.setdefault((episode.scene_id, episode.id), index)
        if first != index:
            raise ContractError(
                f"{where} repeats id {episode.id!r} in scene {episode.scene_id!r} of episode "
                f"{first}; an id must be unique within its scene and split."
            )
    return rows


def _describe_episode(episode: Any, where: str) -> Dict[str, Any]:
    if not isinstance(episode, Episode):
        raise ContractError(f"{where} is {episode!r}; it must be a nodeset.Episode.")
    for key in ("id", "scene_id", "group"):
        value = getattr(episode, key)
        if not isinstance(value, str):
            raise ContractError(f"{where} has {key}={value!r}; it must be text.")
        if not is_encodable(value):
            raise ContractError(
                f"{where} has {key}={value!r}; it must be text that UTF-8 can encode, without "
                f"lone surrogates."
            )
    budget: Any = episode.step_budget
    is_whole = isinstance(budget, int) and not isinstance(budget, bool)
    if budget is not None and not (is_whole and INT_MIN <= budget <= INT_MAX):
        raise ContractError(
            f"{where} has step_budget={describe(budget)}; it must be a whole number of 64 bits."
        )
    if not isinstance(episode.info, Mapping):
        raise ContractError(f"{where} has info={describe(episode.info)}; it must be a dict.")
    return {
        "id": episode.id,
        "scene_id": episode.scene_id,
        "group": episode.group,
        "step_budget": budget,
        "info": accept(PortDef("info", "JSON"), dict(episode.info), where),
    }


def _describe_controller(controller: Optional[BaseController]) -> Optional[Dict[str, Any]]:
    if controller is None:
        return None
    return {
        "fields": [asdict(field) for field in controller.fields],
        "actions": [asdict(action) for action in controller.actions],
    }


def _environment() -> str:
    """Return the hash of the lock that this interpreter's environment was made of, if it was."""
    lock = Path(sys.prefix) / LOCK_FILE
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else ""


def _packages() -> Dict[str, str]:
    versions = {"numpy": np.__version__}
    for name, module in sorted(sys.modules.items()):
        version = getattr(module, "__version__", None)
        installed = "-packages" in (getattr(module, "__file__", None) or "")
        if installed and "." not in name and isinstance(version, str):
            versions[name] = version
    return versions
