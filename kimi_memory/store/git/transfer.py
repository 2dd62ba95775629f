"""Objects on their way from one repository to another on this machine."""

from __future__ import annotations

from collections.abc import Iterable

from kimi_memory.store.git.command import Git

_KEPT_PACK = 100
"""Objects from which on a pack is kept as it came."""


def carry_history(source: Git, target: Git, commit: str, known: Iterable[str] = ()) -> None:
    """Give a repository a commit of another one, with all that it descends from.

    Args:
        source: has it.
        target: gets it.
        commit: its name.
        known: commits that both have; what they descend from need not be sent.

    Raises:
        HistoryError: git refused an object; none of them was kept.
    """
    wanted = "".join(f"{one}\n" for one in (commit, *(f"^{base}" for base in known)))
    pack = source.run("pack-objects", "--stdout", "--revs", "-q", feed=wanted.encode())
    take_pack(target, pack)


def take_pack(git: Git, pack: bytes) -> None:
    """Add the objects of a pack; a large one stays one, as git's own fetch has it."""
    # Strict: objects from elsewhere are checked before any of them is ours.
    # Objects one by one are synced one by one.
    take = ("index-pack", "--stdin") if is_large(pack) else ("unpack-objects", "-q")
    git.run(*take, "--strict", feed=pack)


def is_large(pack: bytes) -> bool:
    """Whether a pack is so large that it is kept as it came; its beginning is enough to say."""
    return int.from_bytes(pack[8:12], "big") >= _KEPT_PACK
