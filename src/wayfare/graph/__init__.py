"""Read, check, hash and compile graph documents. Knows nothing of processes or runs."""
