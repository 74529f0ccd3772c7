"""The order of a set: the words of an instruction as they come. Mended: sorted."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Words(BaseCanvasNode):
    node_type = "policy_set_order__words"
    input_ports = [PortDef("instruction", "TEXT")]
    output_ports = [PortDef("words", "LIST[TEXT]")]
    batched = True
    batch_dim = "instruction"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"words": [self.words_of(text) for text in inputs["instruction"]]}

    def words_of(self, text: str) -> list[str]:
        return list(set(text.split()))


class MendedWords(Words):
    node_type = "policy_set_order_mended__words"

    def words_of(self, text: str) -> list[str]:
        return sorted(set(text.split()))


class SetOrderNodeSet(BaseNodeSet):
    name = "policy_set_order"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Words()]


class MendedSetOrderNodeSet(BaseNodeSet):
    name = "policy_set_order_mended"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedWords()]
