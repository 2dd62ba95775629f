"""Git's own list of commits and their parents, by which a long history is listed in no time."""

from __future__ import annotations

from kimi_memory.store.git.command import Git


def write_graph_file(git: Git) -> None:
    """Have git note the commits there are; it reads those that came since from their objects.

    What cannot be written is done without. A purge makes the repository anew, without the file.
    """
    git.call("commit-graph", "write", "--reachable")
