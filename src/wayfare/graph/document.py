"""The graph document: its models and how it is read.

Knows nothing of which nodesets exist or of what a well-formed graph means.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    StrictInt,
    ValidationError,
)
from pydantic_core import ErrorDetails

from wayfare.graph.bounds import check_size, check_values, describe_location
from wayfare.graph.fault import NO_VALUE, Fault, GraphError, suggest
from wayfare.graph.migration import FORMAT, FORMAT_VERSION, Format, migrate

__all__ = ["FORMAT_VERSION", "EdgeSpec", "GraphDocument", "NodeSpec", "NodesetSpec"]
__all__ += ["describe_rule", "load_graph", "parse_graph", "read_graph"]

_RULES = {
    "tuple_type": "must be a list of names",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class NodeSpec(_Strict):
    """One node: a built-in, or a tool of a nodeset."""

    id: str = Field(description="Unique in its graph; without '/' and '.', which separate paths.")
    type: str = Field(description="A built-in, or <nodeset>__<tool>.")
    config: dict[str, JsonValue] = Field(
        default_factory=dict, description="A built-in's own; a tool's lies over its defaults."
    )


class EdgeSpec(_Strict):
    """One edge from an output port to an input port."""

    source: str = Field(description="The id of the node that gives.")
    source_handle: str = Field(alias="sourceHandle", description="Its output port.")
    target: str = Field(description="The id of the node that takes.")
    target_handle: str = Field(
        alias="targetHandle", description="Its input port, or 'after', which only orders."
    )


class NodesetSpec(_Strict):
    """What the graph says of one nodeset."""

    use: str | None = Field(
        default=None, description="The class of which this is a further instance, its name aside."
    )
    config: dict[str, JsonValue] = Field(
        default_factory=dict, description="Lies over the nodeset's default_config."
    )


class GraphDocument(_Strict):
    """An agent. `layout`, `name`, `description` and `$schema` mean nothing to a run."""

    editor_schema: str | None = Field(
        default=None, alias="$schema", description="Where this schema is, for editors."
    )
    version: StrictInt = Field(description="The version of the document's format.")
    nodes: list[NodeSpec] = Field(
        description="Their order decides which of two calls to one copy goes out first."
    )
    edges: list[EdgeSpec] = Field(default_factory=list, description="Their order means nothing.")
    step_budget: StrictInt | None = Field(
        default=None,
        ge=1,
        description="Turns of the outermost loop, if nothing else says how many.",
    )
    nodesets: dict[str, NodesetSpec] = Field(
        default_factory=dict, description="Configuration and further instances, by name."
    )
    environment: str | None = Field(
        default=None, description="The nodeset that brings the episodes, when several could."
    )
    layout: JsonValue = Field(default=None, description="For editors; in no hash.")
    name: str | None = Field(default=None, description="For people; in no hash.")
    description: str | None = Field(default=None, description="For people; in no hash.")
    _reading_faults: tuple[Fault, ...] = PrivateAttr(default=())
    _notes: tuple[str, ...] = PrivateAttr(default=())

    @property
    def reading_faults(self) -> tuple[Fault, ...]:
        """Keys that were left out in reading; `validate` reports them with all other faults."""
        return self._reading_faults

    @property
    def notes(self) -> tuple[str, ...]:
        """What bringing the document from an older version changed, for the person to read."""
        return self._notes

    def to_json(self) -> dict[str, Any]:
        """Return the document as it is written to disk, without what is at its default."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def load_graph(path: Path | str) -> GraphDocument:
    """Read a graph document from a JSON file; raise `GraphError` if there is none in it."""
    path = Path(path)
    try:
        check_size(path.stat().st_size, str(path))
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise GraphError(
            [Fault("unreadable", str(path), f"cannot be read: {reason}", "Check the path.")]
        ) from error
    except UnicodeDecodeError as error:
        raise GraphError(
            [Fault("unreadable", str(path), f"is not UTF-8: {error}", "Save it as UTF-8.")]
        ) from error
    return parse_graph(text, where=str(path))


def parse_graph(text: str, where: str = "graph") -> GraphDocument:
    """Read a graph document from JSON text; `where` names it in faults."""
    check_size(len(text), where)
    try:
        data = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        fault = Fault("not-json", where, f"is not JSON: {error}", "Mend the JSON at that place.")
        raise GraphError([fault]) from error
    return read_graph(data, where)


def read_graph(data: object, where: str = "graph", *, target: Format = FORMAT) -> GraphDocument:
    """Turn parsed JSON into a document; one of an older version is migrated, with `notes`.

    Unknown keys alone do not stop the reading: they are kept as `reading_faults`, so that one
    check reports them together with everything else. Whatever else does not fit raises.
    """
    if not isinstance(data, dict):
        raise GraphError([Fault("schema", where, "must be a JSON object", "See the schema.", data)])
    check_values(data, where)
    data, notes = migrate(data, where, target)
    document = _validated(data, where)
    document._notes = tuple(notes)
    return document


def _validated(data: dict[str, Any], where: str) -> GraphDocument:
    try:
        return GraphDocument.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False)
        faults = tuple(_fault_of(item, where) for item in details)
        if any(item["type"] != "extra_forbidden" for item in details):
            raise GraphError(faults) from error
        document = GraphDocument.model_validate(
            _without(data, [d["loc"] for d in details]), by_alias=True, by_name=False
        )
        document._reading_faults = faults
        return document


def _fault_of(detail: ErrorDetails, where: str) -> Fault:
    location = detail["loc"]
    place = describe_location(location) or where
    if detail["type"] == "extra_forbidden":
        key = str(location[-1])
        place = describe_location(location[:-1]) or where
        remedy = suggest(key, _known_keys(location))
        return Fault("unknown-key", place, f"key {key!r} is not known", remedy)
    missing = detail["type"] == "missing"
    rule = "is missing" if missing else describe_rule(detail)
    value = NO_VALUE if missing else detail["input"]
    return Fault("schema", place, rule, "See the graph schema.", value)


def describe_rule(detail: ErrorDetails) -> str:
    """Return what a value must be, in the words of JSON."""
    if detail["type"] in _RULES:
        return _RULES[detail["type"]]
    text = detail["msg"].removeprefix("Value error, ")
    return text[0].lower() + text[1:]


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    models: dict[int | str, type[BaseModel]] = {
        "nodes": NodeSpec,
        "edges": EdgeSpec,
        "nodesets": NodesetSpec,
    }
    model = models.get(location[0], GraphDocument) if len(location) > 1 else GraphDocument
    return [field.alias or name for name, field in model.model_fields.items()]


def _without(data: Any, locations: list[tuple[int | str, ...]]) -> Any:
    if isinstance(data, list):
        return [_without(item, _below(locations, index)) for index, item in enumerate(data)]
    if not isinstance(data, dict):
        return data
    dropped = {location[0] for location in locations if len(location) == 1}
    return {
        key: _without(value, _below(locations, key))
        for key, value in data.items()
        if key not in dropped
    }


def _below(locations: list[tuple[int | str, ...]], key: int | str) -> list[tuple[int | str, ...]]:
    return [location[1:] for location in locations if len(location) > 1 and location[0] == key]


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"key {key!r} stands twice in one object")
        result[key] = value
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
