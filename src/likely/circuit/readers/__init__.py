"""Circuits that others made, read."""
