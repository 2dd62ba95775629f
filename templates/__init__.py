"""Templates of notes, contexts and prompts, one per language."""
