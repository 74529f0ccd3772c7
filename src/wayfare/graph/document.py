"""The graph document: its models, how it is read, its JSON Schema.

Knows nothing of which nodesets exist or of what a well-formed graph means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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

from wayfare.graph.fault import NO_VALUE, Fault, GraphError, suggest

FORMAT_VERSION = 1
SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class NodeSpec(_Strict):
    """One node: `type` is a built-in or `<nodeset>__<tool>`."""

    id: str
    type: str
    config: dict[str, JsonValue] = Field(default_factory=dict)


class EdgeSpec(_Strict):
    """One edge, named as React Flow names it."""

    source: str
    source_handle: str = Field(alias="sourceHandle")
    target: str
    target_handle: str = Field(alias="targetHandle")


class NodesetSpec(_Strict):
    """What the graph says of one nodeset: `use` makes it a second instance of another class."""

    use: str | None = None
    config: dict[str, JsonValue] = Field(default_factory=dict)


class GraphDocument(_Strict):
    """An agent. `layout`, `name` and `description` mean nothing to a run and are in no hash."""

    version: StrictInt
    nodes: list[NodeSpec]
    edges: list[EdgeSpec] = Field(default_factory=list)
    step_budget: StrictInt | None = None
    nodesets: dict[str, NodesetSpec] = Field(default_factory=dict)
    environment: str | None = None
    layout: JsonValue = None
    name: str | None = None
    description: str | None = None
    _reading_faults: tuple[Fault, ...] = PrivateAttr(default=())

    @property
    def reading_faults(self) -> tuple[Fault, ...]:
        """Keys that were left out in reading; `validate` reports them with all other faults."""
        return self._reading_faults

    def to_json(self) -> dict[str, Any]:
        """Return the document as it is written to disk, without what is at its default."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def load_graph(path: Path | str) -> GraphDocument:
    """Read a graph document from a JSON file; raise `GraphError` if there is none in it."""
    path = Path(path)
    try:
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
    try:
        data = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        fault = Fault("not-json", where, f"is not JSON: {error}", "Mend the JSON at that place.")
        raise GraphError([fault]) from error
    return read_graph(data, where)


def read_graph(data: object, where: str = "graph") -> GraphDocument:
    """Turn parsed JSON into a document.

    Unknown keys alone do not stop the reading: they are kept as `reading_faults`, so that one
    check reports them together with everything else. Whatever else does not fit raises.
    """
    if not isinstance(data, dict):
        raise GraphError([Fault("schema", where, "must be a JSON object", "See the schema.", data)])
    _check_version(data, where)
    try:
        return GraphDocument.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False)
        faults = tuple(_fault_of(item, where) for item in details)
        if any(item["type"] != "extra_forbidden" for item in details):
            raise GraphError(faults) from error
        document = GraphDocument.model_validate(_without(data, [d["loc"] for d in details]))
        document._reading_faults = faults
        return document


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the graph document, for editors and other tools."""
    schema = GraphDocument.model_json_schema(by_alias=True)
    return {"$schema": SCHEMA_ID, **schema, "title": "Wayfare graph"}


def _check_version(data: Mapping[str, Any], where: str) -> None:
    version = data.get("version")
    if isinstance(version, int) and version != FORMAT_VERSION:
        remedy = "Upgrade Wayfare." if version > FORMAT_VERSION else "Versions start at 1."
        rule = f"document version must be {FORMAT_VERSION} for this Wayfare"
        raise GraphError([Fault("version", f"{where} version", rule, remedy, version)])


def _fault_of(detail: ErrorDetails, where: str) -> Fault:
    location = detail["loc"]
    place = describe_location(location) or where
    if detail["type"] == "extra_forbidden":
        key = str(location[-1])
        place = describe_location(location[:-1]) or where
        remedy = suggest(key, _known_keys(location))
        return Fault("unknown-key", place, f"key {key!r} is not known", remedy)
    missing = detail["type"] == "missing"
    rule = "is missing" if missing else detail["msg"][0].lower() + detail["msg"][1:]
    value = NO_VALUE if missing else detail["input"]
    return Fault("schema", place, rule, "See the graph schema.", value)


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    models: dict[int | str, type[BaseModel]] = {
        "nodes": NodeSpec,
        "edges": EdgeSpec,
        "nodesets": NodesetSpec,
    }
    model = models.get(location[0], GraphDocument) if len(location) > 1 else GraphDocument
    return [field.alias or name for name, field in model.model_fields.items()]


def describe_location(location: tuple[int | str, ...]) -> str:
    """Write a path into a document the way a person reads it: `nodes[3].config`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


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
