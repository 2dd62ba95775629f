"""Spaces: memories that a team shares, who may do what in them, and a record of who did."""
