"""The graph document: schema, validation, hashing and its compiled form.

Knows nothing of execution.
"""
