"""The library: a memory, its sessions, how it is opened, and what it is made of."""
