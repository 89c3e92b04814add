"""Models: products of a Lévy measure, a thinning function and a likelihood."""
