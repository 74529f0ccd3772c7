"""Host one nodeset: the copy's side of the wire, with author code on the main thread.

Knows nothing of graphs, runs or of who started the copy.
"""

from nodeset.host.app import AutoServerApp
from nodeset.host.status import ExitStatus

__all__ = ["AutoServerApp", "ExitStatus"]
