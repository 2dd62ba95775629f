"""Trust: which files count as a person's word, and which wait for it."""
