"""The schema that editors use says what the models say."""

from __future__ import annotations

from wayfare.graph.builtin import CONFIGS, DESCRIPTIONS
from wayfare.graph.document import read_graph
from wayfare.graph.flatten import MAP, SUBGRAPH
from wayfare.graph.schema import SCHEMA_FILE, format_schema, json_schema


def test_the_published_file_is_the_schema_of_the_code():
    assert SCHEMA_FILE.read_text(encoding="utf-8") == format_schema(), (
        "write it anew: python -m wayfare.graph.schema > src/wayfare/graph/graph.schema.json"
    )


def test_keys_are_named_as_in_documents_and_no_other_is_allowed():
    schema = json_schema()
    assert "sourceHandle" in schema["$defs"]["EdgeSpec"]["properties"]
    assert schema["additionalProperties"] is False


def test_every_built_in_is_described_and_its_configuration_known():
    schema = json_schema()
    names = {*CONFIGS, SUBGRAPH, MAP}
    assert set(DESCRIPTIONS) == names
    known = {
        rule["if"]["properties"]["type"]["const"] for rule in schema["$defs"]["NodeSpec"]["allOf"]
    }
    assert known == names
    assert schema["$defs"]["merge"]["properties"]["ports"]["minItems"] == 1
    assert schema["$defs"]["iterOut"]["required"] == ["loop"]


def test_every_key_is_described():
    schema = json_schema()
    models = [schema, *schema["$defs"].values()]
    keys = [key for model in models for key in model.get("properties", {}).items()]
    assert [name for name, key in keys if not key.get("description")] == []


def test_a_document_may_say_where_its_schema_is(draft):
    draft.data["$schema"] = "https://example.org/graph.schema.json"
    document = read_graph(draft.data)
    assert draft.faults() == []
    assert document.to_json()["$schema"] == "https://example.org/graph.schema.json"
