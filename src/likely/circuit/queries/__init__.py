"""What a circuit can be asked: likelihoods, bounds, marginals, conditionals, moments, samples, the most probable explanation."""
