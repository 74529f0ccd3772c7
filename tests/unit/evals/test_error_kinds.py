"""Every error that ends an episode can be recorded."""

from typing import get_args

from nodeset.errors import NodeSetError
from wayfare.engine.errors import RuleError
from wayfare.store.records import ErrorKind


def all_kinds(error_class):
    yield error_class.kind
    for subclass in error_class.__subclasses__():
        yield from all_kinds(subclass)


def test_every_kind_of_error_can_be_recorded():
    assert RuleError.kind in set(all_kinds(NodeSetError))
    assert set(all_kinds(NodeSetError)) | {"infrastructure"} == set(get_args(ErrorKind))
