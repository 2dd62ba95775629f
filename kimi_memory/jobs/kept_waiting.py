"""Files that wait for a person's word, kept waiting while the journal is begun anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kimi_memory.domain.job import digest
from kimi_memory.domain.note import Origin
from kimi_memory.jobs.purge_file import Scrub
from kimi_memory.store.reading import is_judged
from kimi_memory.store.store import Store
from kimi_memory.store.trust.versions import NONE
from kimi_memory.store.wal.records import EXTERNAL, Entry


class Unconfirmed(NamedTuple):
    """Why a file waits, and what counts until then."""

    cap: Origin
    why: str
    counts: bytes | None
    """The version that counts; None where there is none."""


def find_unconfirmed(store: Store) -> dict[str, Unconfirmed]:
    """Return the files that wait, and the sessions in which turns do, by their paths."""
    vetting, found = store.vetting, dict[str, Unconfirmed]()
    for path in filter(is_judged, store.files()) if vetting is not None else ():
        assert vetting is not None, "there are no paths without it"
        standing = vetting.standing(path, store.read(path))
        if standing.cap is not None:
            counts = vetting.version(path, standing.vetted)
            found[path] = Unconfirmed(standing.cap, standing.why, counts)
        elif path.endswith(".jsonl") and vetting.unseen_lines(path):
            found[path] = Unconfirmed(Origin.REMOTE, "turns in it were not said here", None)
    return found


def waits(store: Store, path: str) -> bool:
    """Whether a file, or turns in it, wait for a person's word."""
    vetting = store.vetting
    if vetting is None or not is_judged(path) or not store.exists(path):
        return False
    if vetting.standing(path, store.read(path)).cap is not None:
        return True
    return path.endswith(".jsonl") and bool(vetting.unseen_lines(path))


def keep_waiting(store: Store, found: Mapping[str, Unconfirmed], scrub: Scrub) -> Sequence[Entry]:
    """Return the records by which files that were washed of a text go on waiting.

    Args:
        store: the files as they are now.
        found: those that waited before.
        scrub: takes the text out of them.
    """
    entries = []
    for old, one in found.items():
        path = scrub.name(old)
        if store.exists(path):
            vetted = NONE if one.counts is None else digest(scrub.content(path, one.counts))
            after = digest(store.read(path))
            origin = f"{EXTERNAL}:{one.cap}"
            entries.append(
                Entry("edited", path, after=after, origin=origin, why=one.why, vetted=vetted)
            )
    return entries
