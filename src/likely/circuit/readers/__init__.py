"""Circuits that others made, read: `spflow` (live objects of SPFlow), `cases` (the paper's, as plain data).

Readers know the model only.
"""
