"""A nodeset that cannot be imported; for tests."""

from nodeset import BaseNodeSet

if BaseNodeSet.name == "":
    raise RuntimeError("no GPU here")


class BrokenNodeSet(BaseNodeSet):
    name = "broken"
