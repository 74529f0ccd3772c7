"""Run a graph over episodes with N workers and sum up. Knows nothing of settings or screens."""
