"""Surfaces: how people and programs reach a memory."""
