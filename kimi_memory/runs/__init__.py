"""Programs of agents that work with a memory for a while, and are gone."""

from kimi_memory.runs.lifecycle import Runs

__all__ = ["Runs"]
