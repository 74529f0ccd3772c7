"""Sum a run up: outcomes, metrics with their intervals, digest, and what its copies did.

Knows nothing of how episodes run; it needs the run's header and its finished episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from wayfare.evals.counters import count_earlier_parts, report_nodesets
from wayfare.evals.coverage import certify_run, certify_salvage, settle_status
from wayfare.evals.tally import Tally
from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.recording_videos import VideoRecord, read_videos
from wayfare.store.records import EpisodeRecord, ErrorRecord, Metric, Outcome, RunHeader
from wayfare.store.resumption import count_workers, find_resumptions
from wayfare.store.run import RunReader
from wayfare.store.summary import (
    Coverage,
    FailedVideo,
    Invariance,
    MetricSummary,
    NodesetReport,
    RecordingReport,
    RunStatus,
    RunSummary,
)
from wayfare.store.truth import Salvage


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRow:
    """One episode as `wayfare show` lists it; an undefined metric is {"undefined": reason}."""

    key: str
    episode_id: str
    scene_id: str
    outcome: Outcome
    attempts: int
    worker: int
    steps: int
    seconds: float
    metrics: Mapping[str, Metric | Mapping[str, str]]
    digest: str
    error: ErrorRecord | None


def summarise(
    header: RunHeader,
    records: Iterable[EpisodeRecord],
    *,
    status: RunStatus,
    elapsed_seconds: float,
    out: str,
    nodesets: Mapping[str, NodesetReport] | None = None,
    uncounted_parts: int = 0,
    videos: Iterable[VideoRecord] = (),
    coverage: Coverage | None = None,
) -> RunSummary:
    """Return what the run comes to; `out` is its folder.

    The result depends on the records alone, not on their order. `coverage` may forbid `status`.
    """
    tally = Tally.of(records)
    unclaimed = sorted(tool for tool, claim in header.claims.items() if claim == "not claimed")
    return RunSummary(
        run_id=header.run_id,
        status=status if coverage is None else settle_status(status, coverage),
        worker_count=header.worker_count,
        elapsed_s=elapsed_seconds,
        episodes=tally.counts(len(header.episodes)),
        metrics=_summarise_metrics(header, tally),
        digest=tally.digest().hex(),
        invariance=Invariance(claimed=not unclaimed, tools=tuple(unclaimed)),
        nodesets=report_nodesets(header) if nodesets is None else dict(nodesets),
        out=out,
        coverage=coverage,
        uncounted_parts=uncounted_parts,
        recording=report_recording(header, videos),
    )


def _summarise_metrics(header: RunHeader, tally: Tally) -> dict[str, MetricSummary]:
    found = tally.metrics(header.seed, declared=header.metrics)
    return {
        name: replace(metric, definition=header.metric_definitions.get(name, {}))
        for name, metric in found.items()
    }


def summarise_run(reader: RunReader) -> RunSummary:
    """Return the summary that the run ended with, or one made from its finished episodes.

    The latter is for a run that is under way, was killed, or whose summary is damaged: `incomplete`
    unless every episode of its list is there; what its copies did since it began, or went on, is
    lost, and its time is that of its last episode. Either way the certificate is made anew from the
    records, and `out` is where the run lies now.
    """
    summary = reader.summary()
    coverage = certify_run(reader, summary)
    return _complete(summary, reader, coverage=coverage, read=reader.records)


def summarise_salvage(reader: RunReader, found: Salvage) -> RunSummary:
    """Return the summary of a run some of whose records are damaged.

    It is the one that the run ended with, or where there is none it is made from what is `found`.
    """
    records = [entry.record for entry in found.latest]
    coverage = certify_salvage(reader.header, found)
    return _complete(reader.summary(), reader, coverage=coverage, read=lambda: records)


def _complete(
    summary: RunSummary | None,
    reader: RunReader,
    *,
    coverage: Coverage,
    read: Callable[[], Sequence[EpisodeRecord]],
) -> RunSummary:
    """Return the summary with the certificate, or where there is none one made of the records."""
    if summary is not None:
        status = settle_status(summary.status, coverage)
        return replace(summary, coverage=coverage, status=status, out=str(reader.folder))
    records = read()
    ended = (attempt.ended_seconds for record in records for attempt in record.attempts)
    nodesets, uncounted_parts = count_earlier_parts(reader)
    return summarise(
        _header_of_now(reader),
        records,
        status="done" if len(records) == len(reader.header.episodes) else "incomplete",
        elapsed_seconds=max(ended, default=0.0),
        out=str(reader.folder),
        nodesets=nodesets,
        uncounted_parts=uncounted_parts,
        videos=_find_videos(reader, records),
        coverage=coverage,
    )


def _header_of_now(reader: RunReader) -> RunHeader:
    """Return the run's header with the number of workers of its last part."""
    resumptions, _ = find_resumptions(reader.folder)
    counts = count_workers(reader.header.worker_count, resumptions)
    return replace(reader.header, worker_count=counts[-1])


def _find_videos(reader: RunReader, records: Iterable[EpisodeRecord]) -> list[VideoRecord]:
    """Return the records' videos; of a damaged list none, since only what it lists is lost."""
    try:
        return read_videos(reader.folder, records)
    except (CorruptFileError, FormatVersionError):
        return []


def report_recording(header: RunHeader, videos: Iterable[VideoRecord]) -> RecordingReport:
    """Return what the run recorded and which of its videos failed."""
    videos = list(videos)
    failed = [
        FailedVideo(key=video.key.text, node=video.path, port=video.port, reason=video.reason)
        for video in videos
        if video.is_failed
    ]
    return RecordingReport(
        mode=header.settings.get("record", "none"),
        only=header.settings.get("record_only", ""),
        videos=len(videos) - len(failed),
        failed=tuple(failed),
    )


def list_episodes(records: Iterable[EpisodeRecord]) -> list[EpisodeRow]:
    """Return one row per finished episode, sorted by key."""
    return [_row(record) for record in sorted(records, key=lambda record: record.key.parts)]


def eval_document(summary: RunSummary) -> dict[str, Any]:
    """Return what `wayfare eval --json` prints."""
    document = asdict(summary)
    del document["recording"]  # `wayfare show` has it
    return document


def show_document(summary: RunSummary, records: Iterable[EpisodeRecord]) -> dict[str, Any]:
    """Return what `wayfare show --json` prints: the summary, `recording`, `episodes_table`."""
    table = [asdict(row) for row in list_episodes(records)]
    recording = asdict(summary.recording)
    return {**eval_document(summary), "recording": recording, "episodes_table": table}


def _row(record: EpisodeRecord) -> EpisodeRow:
    undefined = {name: {"undefined": reason} for name, reason in record.undefined.items()}
    return EpisodeRow(
        key=record.key.text,
        episode_id=record.episode_id,
        scene_id=record.scene_id,
        outcome=record.outcome,
        attempts=len(record.attempts),
        worker=record.worker,
        steps=record.steps,
        seconds=record.seconds,
        metrics=dict(sorted({**record.metrics, **undefined}.items())),
        digest=record.digest,
        error=record.error,
    )
