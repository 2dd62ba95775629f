"""Formats: the text form of notes, sessions and records, read and written."""
