"""Evaluate embodied agents, drawn as graphs, with any number of workers.

Importing this package loads nothing heavy and starts nothing.
"""

__version__ = "0.1.0"
