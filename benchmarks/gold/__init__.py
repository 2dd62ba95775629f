"""Gold labels of real sessions: their texts, a memory lived through them, and the comparison."""
