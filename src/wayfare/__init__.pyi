from wayfare.evals.bake import Bake as Bake
from wayfare.evals.bake_library import bake as bake
from wayfare.evals.bake_library import bake_async as bake_async
from wayfare.evals.library import evaluate as evaluate
from wayfare.evals.library import evaluate_async as evaluate_async
from wayfare.evals.library import read_manifests as read_manifests
from wayfare.evals.library import read_manifests_async as read_manifests_async
from wayfare.evals.run import Run as Run
from wayfare.evals.surroundings import Surroundings as Surroundings
from wayfare.graph.builder import Graph as Graph
from wayfare.graph.fault import GraphError as GraphError

__version__: str
