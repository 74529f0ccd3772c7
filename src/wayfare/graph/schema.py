"""The JSON Schema of graph documents, for editors: keys, built-in nodes and their configuration.

Knows nothing of tools. `python -m wayfare.graph.schema` writes it; the file beside this one is what
editors are pointed to.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from wayfare.graph.builtin import CONFIGS, DESCRIPTIONS
from wayfare.graph.document import GraphDocument
from wayfare.graph.flatten import MAP, SUBGRAPH
from wayfare.graph.migration import FORMAT_VERSION
from wayfare.graph.tooltype import SEPARATOR

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_FILE = Path(__file__).with_name("graph.schema.json")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the graph document."""
    schema = GraphDocument.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs")
    schema["properties"]["version"] |= {"const": FORMAT_VERSION}
    for name, model in CONFIGS.items():
        config = model.model_json_schema(by_alias=True)
        definitions |= config.pop("$defs", {})
        definitions[name] = config
    for name in (SUBGRAPH, MAP):
        definitions[name] = _GRAPH_CONFIG
    node = definitions["NodeSpec"]
    node["properties"]["type"] |= {"anyOf": _types()}
    node["allOf"] = [_config_rule(name) for name in DESCRIPTIONS]
    head = {"$schema": DIALECT, "title": "Wayfare graph"}
    whole: dict[str, Any] = _without_titles({**schema, "$defs": definitions})
    return {**head, **whole}


def format_schema() -> str:
    """Return the text of the schema's file."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _types() -> list[dict[str, Any]]:
    builtins = [{"const": name, "description": text} for name, text in DESCRIPTIONS.items()]
    tool = {"pattern": f"^.+{SEPARATOR}.+$", "description": "A tool of a nodeset."}
    return [*builtins, tool]


def _config_rule(name: str) -> dict[str, Any]:
    """Return what the `config` of a built-in must be like."""
    model = CONFIGS.get(name)
    is_needed = model is None or any(item.is_required() for item in model.model_fields.values())
    config = {"$ref": f"#/$defs/{name}", "description": DESCRIPTIONS[name]}
    return {
        "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
        "then": {"properties": {"config": config}, "required": ["config"] if is_needed else []},
    }


def _without_titles(value: Any, *, is_names: bool = False) -> Any:
    """Leave out the titles that say a key's name again; under `properties` a title is a key."""
    if isinstance(value, list):
        return [_without_titles(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_titles(item, is_names=key in ("properties", "$defs"))
        for key, item in value.items()
        if is_names or key != "title"
    }


_GRAPH_CONFIG = {
    "type": "object",
    "description": "The graph that stands here.",
    "properties": {
        "graph": {
            "description": "The name of a graph in a workspace, or a graph document.",
            "anyOf": [{"type": "string"}, {"$ref": "#"}],
        }
    },
    "required": ["graph"],
    "additionalProperties": False,
}


if __name__ == "__main__":
    sys.stdout.write(format_schema())
