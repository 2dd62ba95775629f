"""``plugins``: list plugins: loaded, from where, skipped and why."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.api.options import Home, user_host
from kimi_memory.cli.shared import show_result


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments: none of its own."""


def run(arguments: Namespace) -> int:
    """Print one line a plugin."""
    # Without a memory: plugins are the user's, and the list must be there when no memory opens.
    loaded = user_host(Home.of_user()).loaded
    width, lines = max((len(plugin.name) for plugin in loaded), default=0), []
    for plugin in loaded:
        what = f"skipped: {plugin.skipped}" if plugin.skipped else ", ".join(plugin.hooks)
        lines.append(f"{plugin.name:<{width}}  {plugin.origin:<24} {what}")
    return show_result(arguments, loaded, lines)
