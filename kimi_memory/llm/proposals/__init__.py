"""Proposals of a model: what it is shown, what it answers, and what of it is proved."""
