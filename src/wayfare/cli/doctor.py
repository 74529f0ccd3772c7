"""`wayfare doctor`: what this machine gives runs, what is missing, and how to get it.

Knows nothing of how each thing is found out.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

import typer

from wayfare.cli import option
from wayfare.cli.doctor_device import check_devices
from wayfare.cli.doctor_finding import Finding
from wayfare.cli.doctor_machine import check_machine
from wayfare.cli.doctor_python import check_pythons
from wayfare.cli.doctor_view import render_findings
from wayfare.cli.doctor_workspace import check_data, check_tables, check_video, check_workspaces
from wayfare.cli.exit_status import ExitStatus
from wayfare.cli.output import print_json, print_table
from wayfare.cli.settings import Settings
from wayfare.fleet.interpreter import InterpreterSearch


def doctor(
    out: option.Out = None, workspace: option.Workspace = None, as_json: option.Json = False
) -> None:
    """Look over interpreters, nodesets, graphics devices, limits of this machine, and data."""
    settings = Settings.read(os.environ, workspace or ())
    if out is not None:
        settings = Settings(settings.environment, settings.workspaces, out)
    findings = asyncio.run(examine(settings))
    is_well = not any(finding.state == "missing" for finding in findings)
    if as_json:
        print_json({"ok": is_well, "findings": [finding.to_json() for finding in findings]})
    else:
        print_table(render_findings(findings))
    if not is_well:
        raise typer.Exit(ExitStatus.DONE_WITH_ERRORS)


async def examine(settings: Settings) -> Sequence[Finding]:
    """Return all findings, area by area."""
    search = InterpreterSearch.from_environment(settings.environment)
    pythons, workspaces, devices = await asyncio.gather(
        check_pythons(search), check_workspaces(settings), check_devices(settings.environment)
    )
    rest = [check_data(settings.environment), check_video(), check_tables()]
    machine = check_machine(settings.environment, settings.runs)
    own = [finding for finding in workspaces if finding.area != "nodeset"]
    nodesets = [finding for finding in workspaces if finding.area == "nodeset"]
    return [*pythons, *own, *rest, *nodesets, *devices, *machine]
