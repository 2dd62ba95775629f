"""Git: the history of a memory and every call of the git binary."""
