"""The tolerances of circuits, each with its reason. Limits of a learner stand with the learner."""

#: How far from 1 the weights of a sum, and the mass of a leaf, may lie and still count as 1. Written in decimals of six
#: digits, as people and other programs write them, they do.
UNIT_SLACK = 1e-6
#: By how much the probabilities of special codes may exceed 1 together: thousands of roundings of doubles, and no more,
#: because what they leave is the mass of the numbers.
CODES_SLACK = 1e-9
#: The least density of any leaf at any value, unless a circuit says otherwise: the spacing of doubles at 1, 2^-52. It is
#: SPFlow's, so that the paper's circuits give the paper's likelihoods.
FLOOR = 2.220446049250313e-16
#: No lognormal has its mode beyond exp of this: the next power would not be a double.
LARGEST_EXPONENT = 700.0
