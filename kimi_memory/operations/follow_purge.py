"""Purges that follow to other copies: each destroys there what it finds by its own old history.

What was destroyed does not travel. A copy that still has the text lays its history beside the one
that was purged, and learns from its own bytes what stood where the marks stand now.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.memory_identity import read_id
from kimi_memory.errors import HistoryError, KimiMemoryError, UsageError
from kimi_memory.jobs.purge_file import Scrub, Targets
from kimi_memory.jobs.purged_words import find_purged_words
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.bundles import open_bundle
from kimi_memory.operations.forget import Doomed, Following, PurgeReport, is_purgeable, purge
from kimi_memory.operations.remotes import open_remotes
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.incoming import list_purges
from kimi_memory.store.git.network import Deadline
from kimi_memory.store.git.purged_pairs import (
    Onto,
    has_washed_message,
    pair_commits,
    read_replaced,
    read_washed,
)
from kimi_memory.store.git.read import read_blobs, read_content
from kimi_memory.store.git.tree import list_tree
from kimi_memory.store.notes import sessions

# A remote that does not answer must not hold up a purge for ever.
_SECONDS = 300.0
_NAMED = "session:"
_NO_FOLDER = "it is a folder of bundles. Name the file of one of them."


@dataclass(frozen=True, slots=True)
class Followed:
    """What following the purges of another copy did, or without leave would do."""

    source: str
    purges: tuple[str, ...]
    """Their ids there; none where all were carried out here."""
    texts: int = 0
    """How many texts were found that went there; they are not named."""
    sessions: tuple[str, ...] = ()
    """Sessions that went there as a whole, and are here."""
    report: PurgeReport | None = None
    """What that destroys here; None where nothing of it is here."""
    failed: str = ""
    """Why it could not be followed; empty where it could."""
    code: int = 0
    """The exit code of that error."""


def follow_all(memory: Memory, *, yes: bool = False) -> list[Followed]:
    """Follow the purges of each copy on this machine and of each remote, as `follow_purges` does.

    One that cannot be reached, or whose purges nobody can find out, keeps no other from it.

    Args:
        memory: opened for writing.
        yes: do it; else only report what would be destroyed.

    Raises:
        UsageError: no other copy and no remote is known here.
    """
    remotes = open_remotes(memory).read()
    sources = [*memory.other_copies(), *(one.name for one in remotes if not one.drop)]
    found = []
    for source in sources:
        try:
            found.append(follow_purges(memory, source, yes=yes))
        except KimiMemoryError as error:
            # Other remotes are still asked; the outcome of each is said.
            found.append(Followed(source, (), failed=str(error), code=error.exit_code))
    # What lies in such a folder is said by name, as it may be why the text is still about.
    found += [Followed(one.name, (), failed=_NO_FOLDER) for one in remotes if one.drop]
    if not found:
        raise UsageError("No other copy and no remote is known here. Name what to follow.")
    return found


def follow_purges(
    memory: Memory, source: str, *, identity: Path | None = None, yes: bool = False
) -> Followed:
    """Carry out here what another copy purged, and go on upon the history that it has now.

    Args:
        memory: opened for writing.
        source: the folder of another copy, a bundle, or the name of a remote.
        identity: a file with the key that the bundle is encrypted for.
        yes: do it; else only report what would be destroyed.

    Raises:
        UsageError: there is no such source.
        HistoryError: it is another memory, or nobody can tell what was purged.
        StoreError: the proof found a place that still holds a text; it is named.
    """
    # What waits for a commit must be in the history that is written anew.
    memory.batch.flush("Before purge")
    with _open_source(memory, source, identity) as (git, head):
        marker = read_content(git, head, MARKER) or b""
        if read_id(marker) != memory.settings.memory.id:
            raise HistoryError(f"{source} is another memory. Only copies of one purge alike.")
        ours = memory.history.head()
        known = list_purges(git, ours)
        new = {path: blob for path, blob in list_purges(git, head).items() if path not in known}
        purges = tuple(sorted(PurePosixPath(path).stem for path in new))
        pairs = pair_commits(git, ours, head)
        # Commits that are the same on both sides hold nothing that was purged.
        if not new or all(old == now for old, now in pairs.items()):
            return Followed(source, ())
        whole = _find_sessions(read_blobs(git, new.values()))
        here = tuple(place.id for place in sessions.places(memory.store) if place.id in whole)
        contents = read_blobs(git, sorted({one.blob for one in list_tree(git, head).values()}))
        found = find_purged_words(read_washed(git, pairs), whole, list(contents.values()))
        texts = tuple(one for one in found.texts if is_purgeable(one))
        if not texts and not here and not _only_renames(memory, git, pairs, found.names):
            raise HistoryError(
                f"What {source} purged cannot be told from its history. Copy this memory anew from "
                "there, and import what only this copy knows."
            )
        doomed = Doomed(texts, here, found.names)
        following = Following(Onto(git, head, pairs), purges)
        report = purge(memory, doomed, yes=yes, following=following)
        return Followed(source, purges, len(texts), here, report)


def _only_renames(
    memory: Memory, git: Git, pairs: Mapping[str, str], names: Mapping[str, str]
) -> bool:
    """Whether the other copy only gave ids and hashes anew of what both have.

    Then what it purged was said after this copy heard of it last, and no word of that is here.
    """
    scrub = Scrub(Targets(ids=names, digests=names), memory.store.journal.keyed)
    return not has_washed_message(git, pairs) and all(
        {scrub.name(path): scrub.content(path, content) for path, content in one.old.items()}
        == one.new
        for one in read_replaced(git, pairs)
    )


def _find_sessions(records: Mapping[str, bytes]) -> set[str]:
    """Return the sessions that the records of purges name."""
    found = set[str]()
    for content in records.values():
        try:
            # Another machine's records may hold anything; what cannot be read names no session.
            hashes = json.loads(content).get("hashes", [])
        except (ValueError, AttributeError):
            continue
        named = (str(one) for one in hashes if isinstance(one, str))
        found |= {one.removeprefix(_NAMED) for one in named if one.startswith(_NAMED)}
    return found


@contextmanager
def _open_source(memory: Memory, source: str, identity: Path | None) -> Iterator[tuple[Git, str]]:
    """Give git that sees the other copy's objects beside ours, and its last commit."""
    merger, folder = memory.history.merger(), Path(source)
    if folder.is_dir():
        yield merger.see(folder.resolve())
    elif folder.is_file():
        with open_bundle(folder, identity) as bundle, merger.open_bundle(bundle) as git:
            yield git, bundle.manifest.head
    else:
        remote = open_remotes(memory).find(source)
        if remote.drop:
            raise UsageError(f"{source}: {_NO_FOLDER}")
        with memory.store.lock("sync"), merger.reach(remote, Deadline(_SECONDS)) as there:
            yield there.git, there.fetch()
