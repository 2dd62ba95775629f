"""Adapters: a memory in the forms that Python frameworks for agents ask for.

Each framework has one module here, imported by who uses it, and an extra that installs
the framework: ``pip install kimi-memory[langgraph]``.
"""
