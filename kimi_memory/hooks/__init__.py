"""Hooks: their specifications, the host of plugins, and plugins loaded when asked."""
