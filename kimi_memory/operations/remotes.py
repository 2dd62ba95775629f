"""The remotes of a memory: added, listed, checked and removed on its owner's word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import urlsplit

from kimi_memory.api.memory import Memory
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.errors import KimiMemoryError, RemoteError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.encryption import Encryption, read_identity, read_lines, read_recipients
from kimi_memory.store.files.outside import check_outside
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.git.network import Deadline
from kimi_memory.store.git.remotes import (
    Remote,
    Remotes,
    check_name,
    check_url,
    find_configured,
    find_folder,
)

_OUTCOMES = f"{PRIVATE}/remotes.json"
_PLAIN = Encryption()
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
    role: str
    """What its owner takes it for: primary, replica or cache."""
    since: str
    """When it was added; empty where that was not noted."""
    last_sync_at: str
    """When a sync last went well; empty before the first."""
    failed: str
    """Why the last one failed; empty where it went well."""
    lag_ms: int | None
    """How old the oldest version is that was not sent; None before the first sync."""
    bytes: int | None
    """What lies there; None for a server."""
    recipients: tuple[str, ...] = ()
    """The keys that what is sent there is encrypted for; none where it is plain."""
    identity: str = ""
    """The file with the key that reads what others sent."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the last sync with a remote went."""

    last_sync_at: str = ""
    failed: str = ""


@dataclass(frozen=True, slots=True)
class RemoteCheck:
    """What a remote answered."""

    name: str
    url: str
    status: str
    """``empty``, ``in step``, ``behind`` this copy, or ``ahead``: it has what is not here.

    ``replaced``: it lacks what it had, as somebody put an old state back.
    """
    main: str
    """Its commit; empty where it has none."""


def list_remotes(memory: Memory) -> list[RemoteState]:
    """Return the remotes of a memory, in order of their names."""
    merger, outcomes = memory.history.merger(), read_outcomes(memory)
    found = []
    for one in open_remotes(memory).read():
        seen = merger.find_seen(one.name)
        unsent = merger.count_since(seen)
        status = ("behind" if unsent else "in step") if seen else "new"
        told = (memory.settings.memory.id, memory.copy_id, status, unsent, seen)
        outcome = outcomes.get(one.name, Outcome())
        role = one.role or ("cache" if one.drop else "replica")
        how = (role, one.since, outcome.last_sync_at, outcome.failed)
        lag, size = measure_lag(memory, seen), _measure_folder(memory, one)
        keys = (one.recipients, one.identity)
        found.append(RemoteState(one.name, one.url, one.drop, *told, *how, lag, size, *keys))
    return found


def note_outcome(memory: Memory, name: str, failed: str) -> None:
    """Record how a sync with a remote went, for later readers; do nothing without a place."""
    found, now = read_outcomes(memory), memory.clock().isoformat(timespec="seconds")
    last = found.get(name, Outcome()).last_sync_at if failed else now
    # Errors name the remote first, and end in a full stop; lists and findings do so themselves.
    why = failed.removeprefix(f"{name}: ").removesuffix(".")
    _write_outcomes(memory, found | {name: Outcome(last, why)})


def _forget_outcome(memory: Memory, name: str) -> None:
    _write_outcomes(memory, {one: it for one, it in read_outcomes(memory).items() if one != name})


def _write_outcomes(memory: Memory, found: Mapping[str, Outcome]) -> None:
    rows = {name: asdict(one) for name, one in found.items()}
    # It only tells a person how the last sync went; the sync itself is done.
    with suppress(KimiMemoryError, OSError):
        memory.store.view(_OUTCOMES, json.dumps(rows, ensure_ascii=False).encode())


def read_outcomes(memory: Memory) -> dict[str, Outcome]:
    """Return how the last sync with each remote went."""
    try:
        rows = json.loads(memory.store.read(_OUTCOMES))
        return {
            name: Outcome(str(one["last_sync_at"]), str(one["failed"]))
            for name, one in rows.items()
        }
    except (KimiMemoryError, OSError, ValueError, KeyError, TypeError, AttributeError):
        # Written by us and derived: a damaged one is like none.
        return {}


def _yield_outcomes(memory: Memory) -> Iterator[tuple[str, Outcome]]:
    outcomes = read_outcomes(memory)
    yield from (
        (one.name, outcomes.get(one.name, Outcome())) for one in open_remotes(memory).read()
    )


def describe_remotes(memory: Memory) -> Iterator[str]:
    """Yield a line for each remote: when it was last in step, and why it is not."""
    for name, outcome in _yield_outcomes(memory):
        last = f"last synced {outcome.last_sync_at}" if outcome.last_sync_at else "never synced"
        yield f"{name}: {last}{f', then failed: {outcome.failed}' if outcome.failed else ''}"


def check_remotes(memory: Memory) -> Iterator[Finding]:
    """Yield the remotes with which the last sync failed."""
    for name, outcome in _yield_outcomes(memory):
        if outcome.failed:
            remedy = f"Try again with 'kimi-memory sync {name}'."
            message = f"the last sync with {name} failed: {outcome.failed}"
            yield Finding("remotes", Severity.WARNING, message, remedy)


def measure_lag(memory: Memory, seen: str) -> int | None:
    """Return how many milliseconds old the oldest version is that a remote was not sent.

    Args:
        memory: the memory.
        seen: the last commit that the remote had or was sent.

    Returns:
        0 where it has all; None where nothing was exchanged with it yet.
    """
    graph = memory.points.graph()
    if seen not in graph.index:
        return None
    sent = graph.ancestors(seen)
    dates = [graph.known[n] for n in range(len(graph.rows)) if n not in sent]
    return round((memory.clock().timestamp() - min(dates)) * 1000) if dates else 0


def _measure_folder(memory: Memory, remote: Remote) -> int | None:
    folder = find_folder(remote.url)
    if folder is None or not folder.is_dir():
        return None
    if remote.drop:
        folder /= memory.settings.memory.id
    return sum(one.lstat().st_size for one in folder.rglob("*") if one.is_file())


def offer_remotes(memory: Memory) -> list[Remote]:
    """Return what git knows as a remote of this folder and the memory is not synced with."""
    known = open_remotes(memory).read()
    taken = {one.name for one in known} | {one.url for one in known}
    return [one for one in find_configured(memory.root) if taken.isdisjoint({one.name, one.url})]


def add_remote(
    memory: Memory,
    name: str,
    url: str,
    *,
    drop: bool = False,
    role: str = "",
    encryption: Encryption = _PLAIN,
) -> Remote:
    """Add a remote; nothing is asked of it yet.

    Args:
        memory: opened for writing.
        name: how commands call it.
        url: https, ssh, or a folder with a bare repository.
        drop: it is a folder whose files something else carries to other copies.
        role: what it is taken for: primary, replica or cache.
        encryption: for whom the bundles of a drop folder are encrypted, and what reads those
            of others.

    Raises:
        UsageError: the name, the URL or a key cannot be used, or is taken.
    """
    if memory.is_secret(name):
        raise UsageError("The name holds a secret, which git would keep. Choose another.")
    since = memory.clock().isoformat(timespec="seconds")
    remote = Remote(check_name(name), check_url(url), drop, role, since)
    folder = find_folder(remote.url)
    if folder is None and _holds_secret(memory, remote.url):
        raise UsageError(
            f"The URL of {name} holds a secret. Leave it out; git's credential helper keeps it."
        )
    if folder is not None:
        _check_folder(memory.root, folder, drop=drop)
        remote = replace(remote, url=str(folder)) if drop else remote
    elif drop:
        raise UsageError(f"{remote.url} is no folder. Bundles are dropped in a folder here.")
    if any(encryption):
        remote = _encrypt(memory, remote, encryption)
    # What an earlier remote of that name had, says nothing of this one.
    memory.history.merger().forget_seen(name)
    _forget_outcome(memory, name)
    open_remotes(memory).add(remote)
    return remote


def _holds_secret(memory: Memory, url: str) -> bool:
    """Whether the user's name or the query of a URL is a key; a path may look drawn."""
    parts = urlsplit(url)
    return memory.is_secret(parts.username or "") or memory.is_secret(parts.query)


def _encrypt(memory: Memory, remote: Remote, encryption: Encryption) -> Remote:
    """Return a remote with the keys for its bundles, each tried."""
    if not remote.drop:
        raise UsageError("Only bundles are encrypted, not a repository of git. Add it with --drop.")
    if not encryption.recipients:
        raise UsageError("--identity reads what is encrypted. Say for whom with --encrypt, too.")
    lines = tuple(line for text in encryption.recipients for line in read_lines(text))
    if not lines or not read_recipients(lines):
        raise UsageError("The files of --encrypt name no key. Put one in each line.")
    if encryption.identity is None:
        return replace(remote, recipients=lines)
    place = encryption.identity.resolve()
    # Both are carried elsewhere, the memory with all that is ever committed in it.
    for folder in (memory.root, Path(remote.url)):
        if place.is_relative_to(folder):
            raise UsageError(f"{folder} carries {place} to others. Keep that key elsewhere.")
    read_identity(place)
    return replace(remote, recipients=lines, identity=str(place))


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
        main, seen = there.list_heads(memory.copy_id).main, merger.find_seen(name)
        known = bool(main) and merger.has(main)
        replaced = known and bool(seen) and not there.descends(main, seen)
    if main in ("", merger.ours):
        status = "in step" if main else "empty"
    else:
        status = "replaced" if replaced else "behind" if known else "ahead"
    return RemoteCheck(name, remote.url, status, main)


def open_remotes(memory: Memory) -> Remotes:
    """Return the list of a memory's remotes."""
    return Remotes(memory.home.config, memory.settings.memory.id)


def _check_folder(root: Path, folder: Path, *, drop: bool) -> None:
    """Refuse a folder that is no bare repository, or where no bundles can be dropped."""
    check_outside(root, folder)
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
