"""Build sessions: the composition root, where settings, store, model, tools and policy come together."""
