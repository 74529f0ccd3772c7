"""Draw what `wayfare doctor` found out.

Knows nothing of how it was found out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table

from wayfare.cli.doctor_finding import Finding
from wayfare.cli.output import Text

_STYLES = {"ok": "green", "warning": "yellow", "missing": "red"}


def render_findings(findings: Sequence[Finding]) -> RenderableType:
    """Return a table per area, and how many lines ask for something to be done."""
    parts: list[RenderableType] = []
    for area, lines in groupby(findings, key=lambda finding: finding.area):
        parts += [Text(area, style="bold"), _draw(list(lines)), Text()]
    return Group(*parts, Text(sum_up(findings)))


def sum_up(findings: Sequence[Finding]) -> str:
    """Return the report in one sentence."""
    missing = sum(finding.state == "missing" for finding in findings)
    warnings = sum(finding.state == "warning" for finding in findings)
    if not missing and not warnings:
        return "all is well."
    return f"{missing} missing, {warnings} to know about."


def _draw(findings: Sequence[Finding]) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for finding in findings:
        detail = Text(finding.detail)
        if finding.remedy:
            detail.append(f"\n-> {finding.remedy}", style="bold")
        state = Text(f"  {finding.state}", style=_STYLES[finding.state])
        table.add_row(state, Text(finding.name), detail)
    return table
