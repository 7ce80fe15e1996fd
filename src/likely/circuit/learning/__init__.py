"""From a table to a circuit."""
