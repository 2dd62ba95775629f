"""Pages for a browser: what a memory holds, where it is from, what waits for a person."""
