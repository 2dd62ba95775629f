"""The remotes of a memory: added, listed, checked and removed on its owner's word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kimi_memory.api.memory import Memory
from kimi_memory.errors import RemoteError, UsageError
from kimi_memory.store.git.network import Deadline
from kimi_memory.store.git.remotes import Remote, Remotes, check_name, check_url, find_configured

CHECK_SECONDS = 60.0
"""How long a remote may take to say what it has."""


@dataclass(frozen=True, slots=True)
class RemoteState:
    """A remote, and how far it was in step when this copy last heard of it."""

    name: str
    url: str
    drop: bool
    memory: str
    """The id of the memory."""
    copy: str
    """Which of its copies this one is."""
    status: str
    """``new`` before the first sync, ``in step``, or ``behind`` what is here."""
    unsent: int
    """Versions that are here and were not sent."""
    seen: str
    """Its last commit that was taken or sent; empty before the first sync."""


@dataclass(frozen=True, slots=True)
class RemoteCheck:
    """What a remote answered."""

    name: str
    url: str
    status: str
    """``empty``, ``in step``, ``behind`` this copy, or ``ahead``: it has what is not here."""
    main: str
    """Its commit; empty where it has none."""


def list_remotes(memory: Memory) -> list[RemoteState]:
    """Return the remotes of a memory, in order of their names."""
    merger = memory.history.merger()
    found = []
    for one in open_remotes(memory).read():
        seen = merger.find_seen(one.name)
        unsent = merger.count_since(seen)
        status = ("behind" if unsent else "in step") if seen else "new"
        told = (memory.settings.memory.id, memory.copy_id, status, unsent, seen)
        found.append(RemoteState(one.name, one.url, one.drop, *told))
    return found


def offer_remotes(memory: Memory) -> list[Remote]:
    """Return what git knows as a remote of this folder and the memory is not synced with."""
    known = open_remotes(memory).read()
    taken = {one.name for one in known} | {one.url for one in known}
    return [one for one in find_configured(memory.root) if taken.isdisjoint({one.name, one.url})]


def add_remote(memory: Memory, name: str, url: str, *, drop: bool = False) -> Remote:
    """Add a remote; nothing is asked of it yet.

    Args:
        memory: opened for writing.
        name: how commands call it.
        url: https, ssh, or a folder with a bare repository.
        drop: it is a folder whose files something else carries to other copies.

    Raises:
        UsageError: the name or the URL cannot be used, or is taken.
    """
    remote = Remote(check_name(name), check_url(url), drop)
    folder = _find_folder(remote.url)
    if folder is not None:
        _check_folder(memory.root, folder, drop=drop)
        remote = replace(remote, url=str(folder)) if drop else remote
    elif drop:
        raise UsageError(f"{remote.url} is no folder. Bundles are dropped in a folder here.")
    # What an earlier remote of that name had, says nothing of this one.
    memory.history.merger().forget_seen(name)
    open_remotes(memory).add(remote)
    return remote


def remove_remote(memory: Memory, name: str) -> Remote:
    """Remove a remote from this memory; what lies there stays.

    Raises:
        NotFoundError: there is none of that name.
    """
    gone = open_remotes(memory).remove(name)
    memory.history.merger().forget_seen(name)
    return gone


def check_remote(memory: Memory, name: str, seconds: float = CHECK_SECONDS) -> RemoteCheck:
    """Ask a remote what it has.

    Raises:
        NotFoundError: there is none of that name.
        RemoteError: it cannot be reached.
    """
    remote, merger = open_remotes(memory).find(name), memory.history.merger()
    if remote.drop:
        if not Path(remote.url).is_dir():
            why = f"the folder {remote.url} is not there"
            raise RemoteError(name, why, "Connect the disk it is on, or remove the remote")
        seen = merger.find_seen(name)
        return RemoteCheck(name, remote.url, "behind" if seen != merger.ours else "in step", seen)
    with memory.store.lock("sync"), merger.reach(remote, Deadline(seconds)) as there:
        main = there.list_heads(memory.copy_id).main
    if main in ("", merger.ours):
        status = "in step" if main else "empty"
    else:
        status = "behind" if merger.has(main) else "ahead"
    return RemoteCheck(name, remote.url, status, main)


def open_remotes(memory: Memory) -> Remotes:
    """Return the list of a memory's remotes."""
    return Remotes(memory.home.config, memory.settings.memory.id)


def _find_folder(url: str) -> Path | None:
    if url.startswith("file:"):
        return Path(unquote(urlsplit(url).path))
    return Path(url) if url.startswith("/") else None


def _check_folder(root: Path, folder: Path, *, drop: bool) -> None:
    """Refuse a folder that is no bare repository, or where no bundles can be dropped."""
    if folder.resolve().is_relative_to(root):
        raise UsageError(f"{folder} lies in the memory itself. Name a place outside of it.")
    if drop:
        if not folder.is_dir():
            raise UsageError(f"{folder} is no folder. Make it, or connect the disk it is on.")
        return
    if (folder / ".git").exists() or (folder / "memory.toml").exists():
        raise UsageError(
            f"{folder} is a working copy. Merge it with 'kimi-memory merge {folder}', or name a "
            "bare repository, as 'git init --bare' makes it."
        )
    if not (folder / "HEAD").is_file() or not (folder / "objects").is_dir():
        raise UsageError(f"{folder} is no repository. Make one with 'git init --bare {folder}'.")
