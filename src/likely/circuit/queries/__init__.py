"""What a circuit can be asked.

To be read in this order:

    block_bounds   bounds of a block over a box, by tangents
    block_moments  means and covariances of a block
    evaluate       likelihoods, bounds over boxes, probabilities of boxes, derivatives: one sweep each
    transform      marginals, conditionals and merged circuits, which are circuits again
    moments        means and covariances
    sample         rows drawn at random
    mpe            the most probable explanation of what is known of a row

Queries know the model, not how it was learned.
"""
