"""Dates and time zones in text: found, worked out, written."""
