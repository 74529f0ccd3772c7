"""What is no request for an evaluation."""

import pytest

from wayfare.evals.errors import SetupError
from wayfare.evals.header import EvalRequest
from wayfare.evals.runner import RunRules
from wayfare.graph.document import GraphDocument

DOCUMENT = GraphDocument(version=1, nodes=[])


@pytest.mark.parametrize(("workers", "rule"), [(0, "at least one"), (1025, "at most 1024")])
def test_a_number_of_workers_out_of_bounds_is_refused(workers, rule):
    with pytest.raises(SetupError, match=f"workers is {workers}; .*{rule}"):
        EvalRequest(document=DOCUMENT, graph_name="g", worker_count=workers)


@pytest.mark.parametrize("budget", [0, -3, 2**63, 10**23])
def test_a_step_budget_that_is_none_is_refused(budget):
    with pytest.raises(SetupError, match=f"step_budget is {budget}; it must be from 1 to"):
        EvalRequest(document=DOCUMENT, graph_name="g", rules=RunRules(step_budget=budget))
