"""Asking a model: one prompt per template, a ladder of checks, the cost counted per job."""
