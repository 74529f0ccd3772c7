"""Perform the operations of one nodeset by calling its author's code.

Knows nothing of requests, queues or threads: its owner calls it from one thread.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Mapping, Sequence

from nodeset.author import call_author
from nodeset.caller import Caller
from nodeset.context import EpisodeContext
from nodeset.contract import BaseCanvasNode, BaseController
from nodeset.errors import NodeSetError, WireError
from nodeset.host.event_loop import EventLoopThread
from nodeset.host.page import CallPage
from nodeset.host.request import read
from nodeset.loading import LoadedNodeSet
from nodeset.manifest import build_manifest, list_episodes
from nodeset.ports import PortDef, accept


class NotReadyError(NodeSetError):
    """The operation needs what has not happened yet: `initialize`, or an open episode."""


class Operations:
    """What can be asked of a nodeset, and how often it was."""

    def __init__(self, loaded: LoadedNodeSet, event_loop: EventLoopThread, page: CallPage) -> None:
        self._loaded = loaded
        self._page = page
        self._name = loaded.declaration.name
        self._event_loop = event_loop
        self.is_initialized = False
        self.begin_episodes = 0
        self.controller_calls = 0

    def manifest(self) -> Dict[str, Any]:
        """Describe the nodeset."""
        return build_manifest(self._loaded)

    def episodes(self, split: str) -> Dict[str, Any]:
        """List the episodes of a split."""
        return {"episodes": list_episodes(self._loaded, split)}

    def initialize(self) -> None:
        """Call the author's `initialize`; nothing if that was done already."""
        if not self.is_initialized:
            self._author(self._loaded.nodeset.initialize, where="initialize")
            self.is_initialized = True

    def begin_episode(self, caller: Caller) -> None:
        """Call the author's `begin_episode` with the caller's open episode."""
        self.require_initialized("begin_episode")
        if not caller.has_open_episode:
            raise NotReadyError("begin_episode needs an open episode: send open_episode first")
        self.begin_episodes += 1
        episode: EpisodeContext = caller.episode
        self._author(self._loaded.nodeset.begin_episode, episode, where="begin_episode")

    def control(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        """Ask the nodeset's controller."""
        self.require_initialized("controller")
        controller = self._loaded.controller
        if controller is None:
            raise NodeSetError(f"nodeset {self._name!r} has no controller")
        verb = read(request, "verb", str)
        if verb not in _VERBS:
            raise WireError(f"a controller has no verb {verb!r}; it has: {', '.join(_VERBS)}")
        self.controller_calls += 1
        return {"result": _VERBS[verb](self, controller, request)}

    def forward(self, tool: BaseCanvasNode, inputs: Dict[str, Any], ctx: Any) -> Any:
        """Return what the tool's handler returns; what it raises passes as it is."""
        name = tool.node_type
        self._page.begin_tool(name, 0, -1, rows=len(ctx.rows))
        try:
            result = tool.forward(inputs, ctx)
            return self._event_loop.wait(result) if inspect.isawaitable(result) else result
        finally:
            self._page.end_tool(name)

    def shutdown(self) -> None:
        """Call the author's `shutdown` if the nodeset was initialized."""
        if self.is_initialized:
            self.is_initialized = False
            self._author(self._loaded.nodeset.shutdown, where="shutdown")

    def require_initialized(self, what: str) -> None:
        """Refuse `what` before `initialize`."""
        if not self.is_initialized:
            raise NotReadyError(
                f"{what} needs an initialized nodeset {self._name!r}: send initialize first"
            )

    def _load_controls(self, controller: BaseController, _: Mapping[str, Any]) -> Any:
        return self._checked(controller.on_load, where="on_load")

    def _change_field(self, controller: BaseController, request: Mapping[str, Any]) -> Any:
        name = self._known(request, controller.fields, "field")
        value = request.get("value")
        where = f"on_field_change({name!r})"
        return self._checked(controller.on_field_change, name, value, where=where)

    def _act(self, controller: BaseController, request: Mapping[str, Any]) -> Any:
        name = self._known(request, controller.actions, "action")
        params = read(request, "params", dict, default={})
        return self._checked(controller.on_action, name, params, where=f"on_action({name!r})")

    def _list_options(self, controller: BaseController, request: Mapping[str, Any]) -> Any:
        name = self._known(request, controller.fields, "field")
        return self._checked(controller.get_options, name, where=f"get_options({name!r})")

    def _known(self, request: Mapping[str, Any], declared: Sequence[Any], what: str) -> str:
        name: str = read(request, "name", str)
        names = [item.name for item in declared]
        if name not in names:
            raise WireError(
                f"the controller of nodeset {self._name!r} has no {what} {name!r}; "
                f"it has: {', '.join(names) or 'none'}"
            )
        return name

    def _checked(self, function: Callable[..., Any], *args: Any, where: str) -> Any:
        result = self._author(function, *args, where=f"controller.{where}")
        return accept(PortDef("result", "ANY"), result, f"{self._name} controller.{where}")

    def _author(self, function: Callable[..., Any], *args: Any, where: str) -> Any:
        return call_author(
            function, *args, where=f"{self._name} {where}", wait=self._event_loop.wait
        )


_VERBS: Dict[str, Callable[[Operations, BaseController, Mapping[str, Any]], Any]] = {
    "on_load": Operations._load_controls,
    "field": Operations._change_field,
    "action": Operations._act,
    "options": Operations._list_options,
}
