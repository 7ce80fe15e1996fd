"""What a circuit is.

To be read in this order:

    numbers     the numbers that nodes are made of, checked
    warps       monotone maps of one number
    blocks      Gaussian blocks: densities of several numbers at once
    nodes       sums, products and leaves, as values; plain data and back
    families    the parametric densities of leaves
    circuit     `Circuit`: nodes over variables, checked, with files and encoded rows
    check       smoothness, decomposability, weights, supports: what makes nodes a circuit
    measure     the measure of ranges of values, and the mass that a leaf gives them
    block_mass  the mass that a block gives to a box
    cells       the leaves of a variable as one table, and the circuit in the compiled core
    box         sets of rows, variable by variable
    builder     circuits under construction: equal nodes are one
    tolerances  every tolerance of this room, with its reason

Nothing here asks a circuit anything but its density (`likely.circuit.queries`) or learns one (`likely.circuit.learning`).
"""
