"""Run one compiled graph to its end by calling an invoker. Knows nothing of who answers."""
