"""A small run for tests: its header, its records, its firings."""

from wayfare.store.records import (
    Attempt,
    EpisodeKey,
    EpisodeRecord,
    ErrorRecord,
    Firing,
    NodesetRecord,
    PlannedEpisode,
    RunHeader,
)
from wayfare.store.resumption import Resumption
from wayfare.store.summary import EpisodeCounts, Invariance, RunSummary
from wayfare.store.writer import RunWriter


def key(number):
    return EpisodeKey("env", "0123456789abcdef", "val", "scene", str(number))


def header(count=4, **changes):
    planned = tuple(PlannedEpisode(key=key(n), index=n, group=f"g{n}") for n in range(count))
    fields = {
        "created": "2026-01-02T03:04:05Z",
        "graph": {"nodes": [], "edges": []},
        "graph_hash": "aa",
        "graph_name": "agent",
        "seed": 7,
        "worker_count": 2,
        "split": "val",
        "episodes": planned,
        "episodes_hash": "bb",
        "nodesets": {
            "env": NodesetRecord(
                class_name="Env", file="env.py", source_hash="cc", parallelism="replicated"
            )
        },
        "claims": {"env__step": "padded"},
    }
    return RunHeader(**{**fields, **changes})


def resumption(**changes):
    fields = {"at": "2026-01-03T03:04:05Z", "worker_count": 3, "kept": 1}
    return Resumption(**{**fields, "forced": ("~ seed: 1 -> 2",), **changes})


def reopen(folder):
    return lambda: RunWriter.reopen(folder)


def record(number, outcome="completed", error=None):
    attempt = Attempt(number=1, worker=0, started_seconds=0.5, ended_seconds=1.5, error=error)
    return EpisodeRecord(
        key=key(number),
        index=number,
        outcome=outcome,
        worker=0,
        attempts=(attempt,),
        metrics={} if error else {"success": True},
        error=error,
    )


def firings(number):
    return [Firing("a", (turn,), bytes([number, turn]) * 8) for turn in range(3)]


def fault(kind):
    return ErrorRecord(kind=kind, type="Lost", message="gone")


def summary(run_id, status="done"):
    return RunSummary(
        run_id=run_id,
        status=status,
        worker_count=2,
        elapsed_s=1.0,
        episodes=EpisodeCounts(total=4),
        metrics={},
        digest="",
        invariance=Invariance(claimed=True),
        nodesets={},
        out="",
    )
