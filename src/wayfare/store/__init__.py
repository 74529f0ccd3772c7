"""Keep runs on disk and read them back. Knows nothing of how episodes are run or summed up."""
