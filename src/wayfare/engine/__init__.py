"""Run one graph to its end by calling an invoker.

Knows nothing of processes, attempts or runs.
"""
