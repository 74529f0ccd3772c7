"""A nodeset that breaks the contract; for tests."""

from nodeset import BaseNodeSet


class RefusedNodeSet(BaseNodeSet):
    name = "refused"
    parallelism = "sharded"
