"""Write down what a run is about to do: graph, nodesets, versions, claims and episodes.

Knows nothing of how any of it is run.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import nodeset
import wayfare
from wayfare.evals.choice import choose_environment
from wayfare.evals.episodes import EpisodePlan
from wayfare.evals.errors import SetupError
from wayfare.evals.recorder_choice import RecordRequest
from wayfare.evals.runner import RunRules
from wayfare.fleet.fleet import Fleet
from wayfare.fleet.member import Member
from wayfare.graph.document import GraphDocument
from wayfare.graph.identity import semantic_hash
from wayfare.graph.tooltype import split_type
from wayfare.store.records import Claim, NodesetRecord, RunHeader, SubmissionRecord

MAX_WORKERS = 1024
MAX_STEP_BUDGET = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRequest:
    """One evaluation as it was asked for; `document` has the overrides laid over it already."""

    document: GraphDocument
    graph_name: str
    worker_count: int = 1
    selection: str = ""
    split: str | None = None
    repeats: int = 1
    overrides: tuple[str, ...] = ()
    rules: RunRules = field(default_factory=RunRules)
    record: RecordRequest = field(default_factory=RecordRequest)
    workspaces: tuple[Path, ...] = ()
    """Where its nodesets are found, so that a resumed run finds them again."""

    def __post_init__(self) -> None:
        """Refuse what is no request. Raises SetupError."""
        if self.worker_count < 1:
            raise SetupError(f"workers is {self.worker_count}; a run needs at least one.")
        if self.worker_count > MAX_WORKERS:
            raise SetupError(
                f"workers is {self.worker_count}; it must be at most {MAX_WORKERS}, since each "
                f"worker has a copy of its own of every replicated nodeset."
            )
        budget = self.rules.step_budget
        if budget is not None and not 1 <= budget <= MAX_STEP_BUDGET:
            raise SetupError(
                f"step_budget is {budget}; it must be from 1 to 2**63 - 1. Leave it out for each "
                f"episode's own."
            )

    def rules_with_fallback(self, environment_budget: int | None) -> RunRules:
        """Return the rules with the step budget of the graph, else of the environment, below."""
        budget = self.document.step_budget
        fallback = environment_budget if budget is None else budget
        return replace(self.rules, fallback_budget=fallback)


def make_header(request: EvalRequest, fleet: Fleet, plan: EpisodePlan) -> RunHeader:
    """Return the run's header; its time is the only thing in it that the clock decides."""
    rules = request.rules
    environment = choose_environment(request.document, fleet.manifests)
    metadata = fleet.manifests[environment]["metadata"]
    return RunHeader(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        graph=request.document.to_json(),
        graph_hash=semantic_hash(request.document),
        graph_name=request.graph_name,
        seed=rules.seed,
        worker_count=request.worker_count,
        split=plan.split,
        episodes=plan.planned,
        episodes_hash=plan.episodes_hash,
        repeats=request.repeats,
        selection=request.selection,
        overrides=dict(text.split("=", 1) for text in request.overrides),
        settings={
            "retries": rules.retries,
            "step_budget": rules.step_budget,
            "record": request.record.mode,
            "record_only": str(request.record.only),
            "workspaces": [*dict.fromkeys(str(path.resolve()) for path in request.workspaces)],
        },
        nodesets={
            name: describe_nodeset(member, fleet.manifests[name])
            for name, member in fleet.members.items()
        },
        versions=_list_versions(),
        claims=dict(list_claims(request.document, fleet)),
        metrics=tuple(metadata["metrics"]),
        metric_definitions=metadata.get("metric_definitions", {}),
        submission=_describe_submission(environment, metadata.get("submission")),
    )


def list_claims(document: GraphDocument, fleet: Fleet) -> Iterator[tuple[str, Claim]]:
    """Yield what each batched tool of the graph, whose calls meet in batches, says of its bits.

    `padded`: its handler always sees as many rows; `not claimed`: it admits a tolerance, so the
    number of workers may change last bits; `bit-stable`: it claims that neither matters.
    """
    used = {split_type(node.type) for node in document.nodes}
    for name, member in fleet.members.items():
        if not member.placement.coalesced:
            continue
        for tool in fleet.manifests[name]["tools"]:
            if tool["batched"] and (name, tool["name"]) in used:
                yield f"{name}__{tool['name']}", claim_of(tool)


def claim_of(tool: Mapping[str, Any]) -> Claim:
    """Return what a batched tool claims, by its part of the manifest."""
    if tool["pad_batch"]:
        return "padded"
    return "not claimed" if tool["batch_tolerance"] > 0 else "bit-stable"


def describe_nodeset(member: Member, manifest: Mapping[str, Any]) -> NodesetRecord:
    return NodesetRecord(
        class_name=member.declaration.class_name,
        file=str(member.declaration.path),
        source_hash=manifest["source_hash"],
        parallelism=member.placement.parallelism,
        config=dict(manifest["config"]),
        python=manifest["python"],
        packages=dict(manifest["packages"]),
        environment=manifest["environment"],
        threads=member.declaration.deployment.threads or member.placement.default_threads,
    )


def _describe_submission(
    environment: str, submission: Mapping[str, Any] | None
) -> SubmissionRecord | None:
    if submission is None:
        return None
    return SubmissionRecord(
        nodeset=environment,
        format=submission["format"],
        poses=tuple(submission["poses"]),
        keeps_all=True,
    )


def _list_versions() -> dict[str, str]:
    return {
        "wayfare": wayfare.__version__,
        "nodeset": nodeset.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
    }
