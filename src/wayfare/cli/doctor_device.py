"""Find out which graphics devices this machine has: what EGL offers, and NVIDIA's GPUs.

Knows nothing of nodesets. Drivers are asked in processes of their own: they may hang or crash.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wayfare.cli.doctor_finding import Finding
from wayfare.fleet.errors import InterpreterError
from wayfare.fleet.probe import Answer, run_program

AREA = "device"
DEVICE_SECONDS = 30.0
EGL_SCRIPT = Path(__file__).with_name("doctor_egl.py")
MESA = "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri"
_GPU_FIELDS = ("index", "name", "memory.total", "memory.free", "driver_version")


async def check_devices(environment: Mapping[str, str]) -> list[Finding]:
    """Return a line for each graphics device, or why there is none."""
    parts = await asyncio.gather(check_egl(environment), check_gpus(environment))
    return [finding for part in parts for finding in part]


async def check_egl(environment: Mapping[str, str]) -> list[Finding]:
    """Return the devices on which EGL can render without a display."""
    try:
        command = [sys.executable, "-I", "-S", str(EGL_SCRIPT)]
        answer = await run_program(command, DEVICE_SECONDS, environment=environment)
        devices = json.loads(answer.text.splitlines()[-1])
    except InterpreterError as error:
        return [Finding(AREA, "EGL", "warning", f"hangs: {error}", "eglinfo -B")]
    except (ValueError, IndexError):
        detail = f"asking EGL ended with status {answer.status}: {answer.text.strip()[-300:]}"
        return [Finding(AREA, "EGL", "warning", detail, "eglinfo -B")]
    if isinstance(devices, str):
        return [Finding(AREA, "EGL", "warning", f"{devices}: no GL without a display", MESA)]
    return [_describe_device(device) for device in devices]


def _describe_device(device: Mapping[str, Any]) -> Finding:
    name = f"EGL {device['index']}"
    if device["error"]:
        remedy = "give this user access to it" if device["file"] else ""
        detail = f"{device['file'] or 'no file'}: {device['error']}"
        return Finding(AREA, name, "warning", detail, remedy)
    kind = "on the CPU" if device["is_software"] else device["file"] or "no device file"
    detail = f"{device['renderer'] or device['vendor']}, {kind}, EGL {device['version']}"
    return Finding(AREA, name, "ok", detail)


async def check_gpus(environment: Mapping[str, str]) -> list[Finding]:
    """Return NVIDIA's GPUs."""
    program = shutil.which("nvidia-smi", path=environment.get("PATH"))
    if program is None:
        detail = "no nvidia-smi: models and simulators run on the CPU"
        return [Finding(AREA, "GPU", "warning", detail)]
    query = [f"--query-gpu={','.join(_GPU_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        answer = await run_program([program, *query], DEVICE_SECONDS, environment=environment)
    except (InterpreterError, OSError) as error:
        return [Finding(AREA, "GPU", "warning", f"nvidia-smi: {error}", "nvidia-smi")]
    return list(_read_gpus(answer))


def _read_gpus(answer: Answer) -> list[Finding]:
    rows = [[cell.strip() for cell in line.split(",")] for line in answer.text.splitlines()]
    if answer.status or not rows or any(len(row) != len(_GPU_FIELDS) for row in rows):
        detail = f"nvidia-smi ended with status {answer.status}: {answer.text.strip()[-300:]}"
        return [Finding(AREA, "GPU", "warning", detail, "nvidia-smi")]
    return [
        Finding(AREA, f"GPU {index}", "ok", f"{name}, {free} of {total} MiB free, driver {driver}")
        for index, name, total, free, driver in rows
    ]
