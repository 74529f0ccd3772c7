"""Evaluate embodied agents, drawn as graphs, with any number of workers.

Importing this package loads nothing heavy and starts nothing: its names are loaded when they are
first asked for. `__init__.pyi` says the same to type checkers and editors.
"""

__version__ = "0.1.0"

_HOME = {
    "Bake": "wayfare.evals.bake",
    "Surroundings": "wayfare.evals.surroundings",
    "Graph": "wayfare.graph.builder",
    "GraphError": "wayfare.graph.fault",
    "Run": "wayfare.evals.run",
    "bake": "wayfare.evals.bake_library",
    "bake_async": "wayfare.evals.bake_library",
    "evaluate": "wayfare.evals.library",
    "evaluate_async": "wayfare.evals.library",
    "read_manifests": "wayfare.evals.library",
    "read_manifests_async": "wayfare.evals.library",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Here, so that the command, which loads this first, can hear of an interrupt the sooner.
    from importlib import import_module  # noqa: PLC0415

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
