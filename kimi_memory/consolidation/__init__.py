"""Consolidation: what was said becomes knowledge, by jobs that can be undone."""
