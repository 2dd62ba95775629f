"""Notes in the store: found by id and key, read once, with their tombstones."""
