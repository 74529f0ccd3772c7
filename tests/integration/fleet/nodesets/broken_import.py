"""A nodeset whose module ends the process while it is imported."""

import sys

from nodeset import BaseNodeSet

sys.stderr.write("libsim.so: cannot open shared object file\n")
sys.stderr.flush()
if "BaseNodeSet" in globals():
    raise SystemExit(9)


class BrokenNodeSet(BaseNodeSet):
    name = "broken_import"

    def get_tools(self):
        return []
