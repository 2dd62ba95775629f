"""Benchmarks: recall quality and start-up time, on files you name."""
