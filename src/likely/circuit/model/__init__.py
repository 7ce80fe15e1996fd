"""What a circuit is: nodes, their checks, and the compiled form that is computed with."""
