"""Metrics of one's own, next to one that `nodeset.metrics` has."""

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef
from nodeset.metrics import success_weighted_path_length, undefined

from .corridor import START, goal_of


class Score(BaseCanvasNode):
    node_type = "score_walk__score"
    input_ports = [
        PortDef("episode_index", "INT"),
        PortDef("states", "LIST[JSON]", "the state after each turn"),
    ]
    output_ports = [PortDef("metrics", "METRICS", "SPL, reversals per turn")]

    def forward(self, inputs, ctx):
        places = [START, *(state["at"] for state in inputs["states"])]
        goal = goal_of(inputs["episode_index"])
        return {
            "metrics": {
                "SPL": success_weighted_path_length(places, goal, distance, threshold_m=1.5),
                "reversals": reversals(places),
            }
        }


def distance(here, there):
    return abs(here - there)


def reversals(places):
    moves = [after - before for before, after in zip(places, places[1:]) if after != before]
    if len(moves) < 2:
        return undefined("fewer than two moves")
    return sum(a != b for a, b in zip(moves, moves[1:])) / (len(moves) - 1)


class ScoreWalk(BaseNodeSet):
    name = "score_walk"
    parallelism = "shared"

    def get_tools(self):
        return [Score()]
