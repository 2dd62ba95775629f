"""``plugins``: list plugins: loaded, from where, skipped and why."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.api.options import Home, user_host
from kimi_memory.cli.shared import show, show_json


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments: none of its own."""


def run(arguments: Namespace) -> int:
    """Print one line a plugin."""
    # Without a memory: plugins are the user's, and the list must be there when no memory opens.
    loaded = user_host(Home.of_user()).loaded
    if arguments.json:
        show_json(loaded)
        return 0
    width = max((len(plugin.name) for plugin in loaded), default=0)
    for plugin in loaded:
        what = f"skipped: {plugin.skipped}" if plugin.skipped else ", ".join(plugin.hooks)
        show(f"{plugin.name:<{width}}  {plugin.origin:<24} {what}")
    return 0
