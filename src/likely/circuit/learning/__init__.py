"""From a table to a circuit.

To be read in this order:

    learn            `learn`: the table in, the best circuit on held-out rows out
    table            what goes in: rows, classes and weights, encoded and checked
    bins             how a learner sees a variable: a few bins
    binned           a table by its bins
    smoothing        probabilities of bins from few rows: Polya trees shrunk towards the marginal
    mixture          mixtures of products by expectation-maximisation, with shared leaves
    merging          which leaves to share: agglomerative merging by log-likelihood lost
    grow             for discrete tables: trees whose variables remember
    tree             their shape
    contexts         the context of every variable in every row
    growth           which context learns what, step by step
    chow_liu         the tree they start from
    blocks           for reals: mixtures of warped Gaussian blocks, by expectation-maximisation
    blocks_warps     the warp of a column
    blocks_selection which columns, components and shrinkage, by held-out rows
    learnspn         LearnSPN, the paper's learner
    rdc              its test of independence
    kmeans           its clusters of rows
    model_selection  which method and size, by held-out rows
    splits           which rows are held out
    cross_fitting    circuits of parts of the rows, and the rows that they have not seen
    refine           `refine`: expectation-maximisation of any circuit

Learners know the model and its queries; neither knows a learner.
"""
