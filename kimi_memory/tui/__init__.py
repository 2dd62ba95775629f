"""A panel in the terminal: what is held, search, what waits, sessions, jobs."""
