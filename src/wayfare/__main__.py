"""Run the `wayfare` command as `python -m wayfare`."""

from __future__ import annotations

from wayfare.cli import main

main()
