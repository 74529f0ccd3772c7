"""Refuse a run that would write a secret of the environment down.

Knows nothing of what becomes of errors: their texts are masked.
"""

from __future__ import annotations

from wayfare.evals.errors import SetupError
from wayfare.graph.document import GraphDocument
from wayfare.store.secret import Secrets


class DisclosedSecretError(SetupError):
    """A graph holds a secret that would be kept with the run."""


def refuse_disclosure(document: GraphDocument, secrets: Secrets) -> None:
    """Raise DisclosedSecretError where the graph, with what was set in it, holds a secret.

    It can't be masked instead: the run's graph is what it is resumed and compared by.
    """
    for place, variable in secrets.find(document.to_json()):
        raise DisclosedSecretError(
            f"{place} holds the value of the environment variable {variable}; a run keeps its "
            f"graph, so the secret would be written down. Leave it out and let the nodeset read "
            f"os.environ[{variable!r}] in initialize()."
        )
