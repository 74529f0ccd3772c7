"""Place, start, supervise and call the copies of nodesets.

Knows nothing of how a graph is executed or of what becomes of its results.
"""
