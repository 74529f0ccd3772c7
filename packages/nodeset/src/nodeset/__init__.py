"""The contract between Wayfare and the author of a nodeset: all that a nodeset's interpreter needs.

Knows nothing of graphs, runs or workers; runs on Python 3.8 and newer.
"""

from nodeset.context import BatchContext, Context, EpisodeContext
from nodeset.contract import (
    Action,
    BaseCanvasNode,
    BaseController,
    BaseNodeSet,
    Deployment,
    Episode,
    EpisodeController,
    Field,
)
from nodeset.errors import (
    AuthorError,
    ContractError,
    NodeSetError,
    PortError,
    SettingError,
    UnavailableError,
    UnknownToolError,
    WireError,
)
from nodeset.ports import PortDef
from nodeset.setting import Settings

__all__ = [
    "Action",
    "AuthorError",
    "BaseCanvasNode",
    "BaseController",
    "BaseNodeSet",
    "BatchContext",
    "Context",
    "ContractError",
    "Deployment",
    "Episode",
    "EpisodeContext",
    "EpisodeController",
    "Field",
    "NodeSetError",
    "PortDef",
    "PortError",
    "SettingError",
    "Settings",
    "UnavailableError",
    "UnknownToolError",
    "WireError",
]

__version__ = "0.1.0"
