"""Recall: finds the units that answer a question, and builds context from them."""
