"""Capture: words come in, are screened, and stand in short-term memory at once."""
