"""Say what an evaluation was asked for, as far as anybody said it, and make a request of it.

Knows nothing of graphs' content or of how a run is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path

from wayfare.evals.errors import ResumeRefusedError, SetupError
from wayfare.evals.header import EvalRequest
from wayfare.evals.recorder_choice import EpisodeChoice, RecordRequest
from wayfare.evals.runner import RunRules
from wayfare.graph.document import GraphDocument
from wayfare.store.folder import find_folder
from wayfare.store.recording import RecordMode
from wayfare.store.records import RunHeader

DEFAULT_RETRIES = 2


@dataclass(frozen=True, slots=True)
class ResumeRequest:
    """Which run is to go on, by id or folder, and how; None: a new one begins.

    `out` is the folder of runs that was named beside it, if one was.
    """

    run: str | Path | None = None
    force: bool = False
    retry_errors: bool = False
    out: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what belongs to a resumed run only. Raises SetupError."""
        for name in ("force", "retry_errors"):
            if self.run is None and getattr(self, name):
                raise SetupError(
                    f"--{name.replace('_', '-')} is for a run that goes on; name it with --resume."
                )

    def find_folder(self, runs: Path) -> Path:
        """Return the folder of the run, which may be one of `runs`; it goes on where it lies.

        Raises ResumeRefusedError if that is not in `out`.
        """
        folder = find_folder(self.run or "", runs)
        if self.out is not None and self.out.resolve() != folder.resolve().parent:
            raise ResumeRefusedError(
                f"run {folder} is not in --out {str(self.out)!r}, and a resumed run goes on where "
                f"it lies. Leave --out out, or begin a new run."
            )
        return folder


@dataclass(frozen=True, slots=True)
class LastingOptions:
    """What a run has for good: which episodes, under which seeds, with which recordings."""

    selection: str = ""
    split: str | None = None
    seed: int | None = None
    repeats: int | None = None
    record: RecordMode | None = None
    record_only: str = ""

    @classmethod
    def of(cls, header: RunHeader) -> LastingOptions:
        """Return those of a run."""
        return cls(
            header.selection,
            header.split,
            header.seed,
            header.repeats,
            header.settings.get("record"),
            header.settings.get("record_only", ""),
        )

    def check_same(self, header: RunHeader) -> None:
        """Raise ResumeRefusedError where something is said that a run has otherwise."""
        own = LastingOptions.of(header)
        pairs = [(f.name, getattr(own, f.name), getattr(self, f.name)) for f in fields(self)]
        changed = [
            f"  {name}: the run has {before!r}, {now!r} is asked for"
            for name, before, now in pairs
            if now not in (None, "", before)
        ]
        if changed:
            raise ResumeRefusedError(
                f"run {header.run_id} can't be resumed with other episodes, seeds or recordings, "
                "--force or not:\n"
                + "\n".join(changed)
                + "\nLeave these options out, or begin a new run."
            )


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """The options of one evaluation; what nobody said is None or empty."""

    workers: int | None = None
    step_budget: int | None = None
    retries: int | None = None
    overrides: tuple[str, ...] = ()
    lasting: LastingOptions = field(default_factory=LastingOptions)

    def resumed(self, header: RunHeader) -> EvalOptions:
        """Return the options under which a run goes on: its own where nothing else is said.

        Raises ResumeRefusedError for what a run has for good.
        """
        self.lasting.check_same(header)
        settings = header.settings
        return EvalOptions(
            header.worker_count if self.workers is None else self.workers,
            settings.get("step_budget") if self.step_budget is None else self.step_budget,
            settings.get("retries") if self.retries is None else self.retries,
            (*(f"{key}={text}" for key, text in header.overrides.items()), *self.overrides),
            LastingOptions.of(header),
        )

    def request(
        self, document: GraphDocument, graph_name: str, workspaces: tuple[Path, ...]
    ) -> EvalRequest:
        """Return the request for a graph with the overrides laid over it; defaults fill the rest.

        Raises SetupError for what is no request.
        """
        lasting = self.lasting
        rules = RunRules(
            seed=lasting.seed or 0,
            retries=DEFAULT_RETRIES if self.retries is None else self.retries,
            step_budget=self.step_budget,
        )
        choice = EpisodeChoice.parse(lasting.record_only)
        return EvalRequest(
            document=document,
            graph_name=graph_name,
            worker_count=1 if self.workers is None else self.workers,
            selection=lasting.selection,
            split=lasting.split,
            repeats=1 if lasting.repeats is None else lasting.repeats,
            overrides=self.overrides,
            rules=rules,
            record=RecordRequest(lasting.record or "actions", choice),
            workspaces=workspaces,
        )
