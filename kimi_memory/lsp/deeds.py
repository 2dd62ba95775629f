"""Commands of an editor: what is asked of the whole memory, and what a person decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.domain.job import Actor, JobReport
from kimi_memory.domain.note import Origin, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.search_types import Query, Unit
from kimi_memory.errors import UsageError
from kimi_memory.jobs.rename import Rename
from kimi_memory.jobs.resolve_conflict import Choice, Resolve, conflicts
from kimi_memory.lsp.answers import Reader
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.forget import forget
from kimi_memory.operations.review_queue import Answer, answer, review
from kimi_memory.recall.browse import ListQuery
from kimi_memory.store.notes import sessions

# Who decides in an editor is the owner, as at a terminal.
PERSON = Actor("lsp", Origin.HUMAN)
JOBS = ("daily", "weekly", "introspect", "distil")
# What a person chooses from in a list of an editor.
_MOST = 50
# The editor filters while one types, so the list is longer than that of a search.
_HELD = 200

Json = dict[str, Any]
Deed = Callable[["Deeds", Sequence[Any]], Any]


def open_reading(root: Path) -> Memory:
    """Open a memory to read it, as its owner."""
    return Memory.open(root, Opening(actor=PERSON, background=False))


class Deeds:
    """Carries out commands on one memory.

    A job may take a minute, so each opens the memory anew; questions go on over the one that is
    open for them.

    Args:
        root: the folder.
        reader: answers what needs no job.
    """

    def __init__(self, root: Path, reader: Reader) -> None:
        self._root, self._reader = root, reader

    def recall(self, query: str) -> list[Json]:
        """Find lines, as a person who looks around."""
        found = self._reader.memory.recall(query, limit=_MOST, looking=True)
        return [
            {
                "id": hit.unit.id,
                **self._place(hit.unit),
                "text": hit.snippet,
                "kind": hit.unit.kind,
                "status": hit.unit.status,
                "score": round(hit.score, 2),
                "who": hit.unit.speaker or hit.unit.trust,
                "at": self._day(hit.unit),
            }
            for hit in found.hits
        ]

    def _place(self, unit: Unit) -> Json:
        turn = self._reader.find_turn(unit.id) if unit.kind == "turn" else None
        path, line = turn[:2] if turn else (unit.path, max(0, unit.first - 1))
        return {"path": path, "line": line}

    def _day(self, unit: Unit) -> str:
        at = unit.valid_from or unit.at
        return f"{in_zone(at, self._reader.memory.zone):%Y-%m-%d}" if at else ""

    def trace(self, id: str) -> str:
        """Return what proves a note, as Markdown."""
        return self._reader.note_text(self._reader.memory.get(id).note)

    def held(self) -> list[Json]:
        """List the cards that hold, by type."""
        filters = Query(text="", kind=("card",), status=(Status.ACTIVE, Status.CONFLICTED))
        page = self._reader.memory.browse(ListQuery(filters=filters, limit=_HELD, facets=()))
        return [
            {
                **_members(unit, "id", "key", "type", "path", "confidence", "project"),
                "text": unit.text.splitlines()[0] if unit.text else unit.title,
            }
            for unit in page.units
        ]

    def review(self) -> list[Json]:
        """List what waits for a person's word."""
        names = ("id", "fingerprint", "path", "target", "text", "reason", "diff", "problem")
        return [
            {
                **_members(one, *names),
                "title": one.title or one.path,
                "evidence": [f"{said.speaker}: {said.text}" for said in one.evidence],
            }
            for one in review(self._reader.memory)
        ]

    def conflicts(self) -> list[Json]:
        """List the keys with several answers."""
        return [
            {
                "key": one.key,
                "path": one.path,
                "sides": [
                    {"id": card.id, "text": " ".join(card.value.split()), "trust": str(card.trust)}
                    for card in one.sides
                ],
            }
            for one in conflicts(self._reader.memory)
        ]

    def sessions(self) -> list[Json]:
        """List the sessions, newest first."""
        store = self._reader.memory.store
        found = sorted(sessions.places(store), key=lambda one: (one.open, one.path))[::-1]
        pages = ((one, one.path.removesuffix("jsonl") + "md") for one in found[:_HELD])
        return [
            {"id": one.id, "open": one.open, "path": page if store.exists(page) else one.path}
            for one, page in pages
        ]

    def count(self) -> Json:
        """Count what waits."""
        return {"review": len(self.review()), "conflicts": len(self.conflicts())}

    def decide(self, id: str, said: Answer, *, dry_run: bool = False) -> Json:
        """Accept or reject what waits, as the person read it or with other words.

        Raises:
            UsageError: it is not said what the person read, or that changed since.
        """
        if not said.shown:
            words = f"A decision about {id} needs the fingerprint of what was shown."
            raise UsageError(f"{words} Take it from kimi.review.")
        with open_reading(self._root) as memory:
            return _told(memory, answer(memory, id, said, dry_run=dry_run))

    def settle(self, key: str, keep: str, *, dry_run: bool = False) -> Json:
        """Settle a contradiction: one side is so."""
        with open_reading(self._root) as memory:
            job = Resolve(memory, key, Choice(keep=keep))
            return _told(memory, memory.run(job, dry_run=dry_run))

    def rename_key(self, old: str, new: str, *, dry_run: bool = False) -> Json:
        """Give what is known under a key another key."""
        with open_reading(self._root) as memory:
            return _told(memory, memory.run(Rename(memory, old, new), dry_run=dry_run))

    def forget(self, id: str, *, dry_run: bool = True) -> Json:
        """Archive a note so that it does not come back; by default only say what would go."""
        with open_reading(self._root) as memory:
            return _told(memory, forget(memory, Wanted(note=id), dry_run=dry_run))

    def take_edits(self, *, dry_run: bool = False) -> Json:
        """Take over what a person changed on pages and in files of cards."""
        with open_reading(self._root) as memory:
            return _told(memory, memory.take_edits(dry_run=dry_run))

    def run(self, job: str, *, dry_run: bool = True) -> Json:
        """Run a job over all that is new; by default only say what it would do.

        Raises:
            UsageError: there is no such job.
        """
        if job not in JOBS:
            raise UsageError(f"{job!r} is no job to run here. Use {', '.join(JOBS)}.")
        with open_reading(self._root) as memory:
            if job == "distil":
                return _told(memory, *memory.distil_waiting(dry_run=dry_run))
            return _told(memory, *memory.consolidate(job, dry_run=dry_run))

    def undo(self, job: str) -> Json:
        """Take a job back."""
        with open_reading(self._root) as memory:
            done = memory.undo(job)
        return {"jobs": [done.id], "paths": [effect.path for effect in done.effects], "diff": ""}

    def blame(self, what: str) -> list[Json]:
        """Say since when, by which job, the fields of a note say what they say."""
        found = self._reader.memory.blame(what)
        return [
            {
                "field": one.field,
                "text": one.text,
                "at": one.cause.at.isoformat() if one.cause else "",
                "job": one.cause.job if one.cause else "",
                "why": one.cause.why if one.cause else "",
            }
            for one in found
        ]


def _members(value: object, *names: str) -> Json:
    return {name: getattr(value, name) for name in names}


def _told(memory: Memory, *reports: JobReport) -> Json:
    """Return what jobs did, or would do."""
    memory.batch.flush()
    return {
        "jobs": [report.id for report in reports if report.id],
        "paths": [path for report in reports for path in report.paths],
        "left_out": [note for report in reports for note in report.left_out],
        "failed": [report.failed for report in reports if report.failed],
        "diff": "\n".join(report.diff for report in reports if report.diff),
    }


def _text(given: Sequence[Any], at: int, default: str | None = None) -> str:
    """Return an argument of a command.

    Raises:
        UsageError: it is missing, or no text.
    """
    value = given[at] if len(given) > at else default
    if not isinstance(value, str):
        raise UsageError(f"Argument {at + 1} should be a text.")
    return value


def _dry(given: Sequence[Any], at: int) -> bool:
    # Only a plain false runs a job: whatever else came by mistake changes nothing.
    return len(given) <= at or given[at] is not False


COMMANDS: Mapping[str, Deed] = {
    "kimi.recall": lambda d, given: d.recall(_text(given, 0)),
    "kimi.trace": lambda d, given: d.trace(_text(given, 0)),
    "kimi.blame": lambda d, given: d.blame(_text(given, 0)),
    "kimi.held": lambda d, given: d.held(),
    "kimi.review": lambda d, given: d.review(),
    "kimi.conflicts": lambda d, given: d.conflicts(),
    "kimi.sessions": lambda d, given: d.sessions(),
    "kimi.count": lambda d, given: d.count(),
    "kimi.accept": lambda d, given: d.decide(
        _text(given, 0), Answer(accept=True, text=_text(given, 2, ""), shown=_text(given, 1, ""))
    ),
    "kimi.reject": lambda d, given: d.decide(
        _text(given, 0), Answer(accept=False, shown=_text(given, 1, ""))
    ),
    "kimi.settle": lambda d, given: d.settle(_text(given, 0), _text(given, 1)),
    "kimi.rename": lambda d, given: d.rename_key(
        _text(given, 0), _text(given, 1), dry_run=_dry(given, 2)
    ),
    "kimi.forget": lambda d, given: d.forget(_text(given, 0), dry_run=_dry(given, 1)),
    "kimi.takeEdits": lambda d, given: d.take_edits(),
    "kimi.run": lambda d, given: d.run(_text(given, 0), dry_run=_dry(given, 1)),
    "kimi.undo": lambda d, given: d.undo(_text(given, 0)),
}
"""What an editor may ask, by the name of the command."""
READING = frozenset(
    f"kimi.{name}"
    for name in ("recall", "trace", "blame", "held", "review", "conflicts", "sessions", "count")
)
"""Those that change nothing."""
