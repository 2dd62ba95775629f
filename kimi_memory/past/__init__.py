"""The past: points in the history, and what the memory was at each."""
