"""The `wayfare` command: the only place that reads settings and chooses a launcher."""

from __future__ import annotations

from wayfare.cli.app import main

__all__ = ["main"]
