"""Importing other stores: their statements become turns that cards quote, in step with the source.

What was imported under which words stands in the sessions of imports, where each turn's
``ref`` is ``<path>#<id>@<hash>``. So a second import finds what is new, what changed and
what is gone, and an undo or a purge of an import takes that knowledge with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.scaffold import starter_lines
from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.session import IMPORTED
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.foreign_stores import Skipped, read_store
from kimi_memory.operations.import_notes import Adopt, Offer, imported_from
from kimi_memory.store.notes import sessions

_NOTHING = (
    "nothing in it is a statement. Of our own exports, cards and json come back; index and "
    "graphml are for reading only"
)
# One transaction and one commit each: a crash costs a batch, and a person can read the diff.
_BATCH = 400
# Pages and records of the job change beside the cards, and count at the gate.
_SPARE = 10
_ERA = datetime(2020, 1, 1, tzinfo=UTC)
"""Ids of imported cards begin alike whatever their dates: those may change at the source."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did, or with a dry run would do."""

    name: str
    """Under which the source is known."""
    seen: int
    """Statements at the source."""
    unchanged: int
    gone: tuple[str, ...]
    """Imported once and not at the source any more; their cards stay."""
    skipped: tuple[str, ...]
    jobs: tuple[JobReport, ...]
    """One a batch; `Memory.undo` takes each back."""


def list_sources(memory: Memory) -> list[str]:
    """Return the names of all sources that were imported, in order."""
    found = (place for place in sessions.places(memory.store) if place.id.startswith("import-"))
    headers = (sessions.read(memory.store, place.path).session for place in found)
    return sorted({one.channel for one in headers if one.host == IMPORTED and one.channel})


def import_store(
    memory: Memory, root: Path, *, system: str = "", name: str = "", dry_run: bool = False
) -> Imported:
    """Import the statements of another store as cards, or bring them up to date.

    Args:
        memory: an open memory.
        root: a file or a folder.
        system: the one system to look for; any if empty.
        name: under which the source is known later; its place if empty.
        dry_run: report the diffs and write nothing.

    Raises:
        UsageError: there is nothing at `root`.
    """
    skipped = Skipped()
    name = memory.screen.pass_name(name or str(root.resolve()))
    offers = list(_yield_offers(memory, root, system, name, skipped))
    if not offers:
        skipped.lines.append(f"{root}: {_NOTHING}")
    # Oldest first, so the latest wording of each is the one compared.
    known = dict(_yield_imported(memory, name))
    fresh = [one for one in offers if known.get(one.identity, ("", ""))[0] != one.hash]
    here = {one.identity for one in offers}
    # Each batch is a job below the limit of files, and can be undone by itself.
    batch = max(1, min(_BATCH, memory.settings.gates.max_files - _SPARE))
    parts = (fresh[at : at + batch] for at in range(0, len(fresh), batch))
    jobs = [Adopt(memory, name, part, offers) for part in parts]
    return Imported(
        name,
        len(offers),
        len(offers) - len(fresh),
        tuple(f"{identity} ({id})" for identity, (_, id) in known.items() if identity not in here),
        tuple(skipped.lines),
        tuple(memory.run(job, dry_run=dry_run) for job in jobs),
    )


def _yield_offers(
    memory: Memory, root: Path, system: str, name: str, skipped: Skipped
) -> Iterator[Offer]:
    seen: set[str] = set()
    templates = starter_lines()
    for file in read_store(root, memory.host, skipped, system):
        if file.problem:
            skipped.lines.append(f"{file.path}: {file.problem}")
        for memo in file.memos:
            identity = memory.screen.pass_name(f"{file.path}#{memo.id}")
            empty = not memo.text.strip() or memo.text in templates
            # Pages of a new memory come along with every copied folder: nobody wrote them.
            if memo.past or not memo.live or empty or identity in seen:
                continue
            seen.add(identity)
            at = memo.updated or memo.created or file.modified
            yield Offer(memo, identity, _hash_memo(memory, memo), _card_id(name, identity), at)


def _hash_memo(memory: Memory, memo: Memo) -> str:
    # Masked: on a digest of a secret anybody could try codes.
    words = memory.screen.mask(memo.title)[0], memory.screen.mask(memo.text)[0]
    parts = (*words, *memo.tags, "", *memo.links, "", str(memo.type or ""))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:12]


def _card_id(name: str, identity: str) -> str:
    return derived_id("card", _ERA, "import", name, identity)


def _yield_imported(memory: Memory, name: str) -> Iterable[tuple[str, tuple[str, str]]]:
    """Yield identity, hash and card of everything imported from a source, oldest first."""
    found = []
    for place in sessions.places(memory.store):
        if place.id.startswith(imported_from(name)):
            transcript = sessions.read(memory.store, place.path)
            found.append((transcript.session.started, place.id, transcript))
    for _, _, transcript in sorted(found, key=lambda one: one[:2]):
        for turn in transcript.turns:
            identity, _, mark = turn.ref.rpartition("@")
            yield identity, (mark, _card_id(transcript.session.channel, identity))
