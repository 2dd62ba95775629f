"""Synthetic lives: what is said over half a year, with the truth about it."""
