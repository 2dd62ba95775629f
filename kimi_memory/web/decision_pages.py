"""Pages on which a person decides: what waits, contradictions, what shall be forgotten."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import JobReport, Op, digest
from kimi_memory.domain.note import Card
from kimi_memory.domain.operation_types import Waiting, Wanted
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.formats.diff_text import split_diff
from kimi_memory.jobs.correct import Correct
from kimi_memory.jobs.purge_file import DoomedLine
from kimi_memory.jobs.resolve_conflict import Choice, Resolve, conflicts
from kimi_memory.operations.forget import Doomed, forget, purge
from kimi_memory.operations.id_names import title_of
from kimi_memory.operations.review_queue import Answer, answer, pending
from kimi_memory.web.edit_form import fill_again, parse_day, read_form
from kimi_memory.web.page_types import Asked, Redirect, View, link

DESTROY = ("DESTROY", "销毁")
"""What a person types before a purge."""
_DOOMED, _LONGEST = 20, 400
"""So many lines of a file, and so much of each, are shown before a purge."""
TOGETHER = ("proposal", "line", "link")
"""What a person may accept all of. A file from outside may hold anything, and is read by itself."""
_GOES = (Op.FORGET, Op.ARCHIVE)


def show_review(memory: Memory, asked: Asked) -> View:
    """Show what waits, one at a time, with its proof and its diff."""
    found = pending(memory)
    at = min(asked.number("at", 0), max(0, len(found) - 1))
    one = found[at].build() if found else None
    values = {
        "one": one,
        "was": one.fingerprint if one else "",
        "number": at + 1,
        "total": len(found),
        "titles": [(number, item.title or item.id) for number, item in enumerate(found)],
        "files": split_diff(one.diff) if one else [],
        "before": link("/review", at=str(at - 1)) if at > 0 else "",
        "after": link("/review", at=str(at + 1)) if at + 1 < len(found) else "",
        "at": at,
        "kind": found[at].kind if found else "",
        "alike": sum(item.kind == found[at].kind for item in found) if found else 0,
        "together": bool(found) and found[at].kind in TOGETHER,
    }
    return View("review", "review", values)


def decide_review(memory: Memory, asked: Asked) -> Redirect:
    """Accept or reject what waits."""
    if asked.get("do") not in ("accept", "reject"):
        raise UsageError("Say 'accept' or 'reject'.")
    accept, id = asked.get("do") == "accept", asked.get("id")
    found = next((one for one in pending(memory) if one.id == id), None)
    if found is None:
        raise NotFoundError("thing that waits", id)
    waiting = found.build()
    if waiting.fingerprint != asked.get("was", waiting.fingerprint):
        raise UsageError("It changed since the page was shown. Read it again, then decide.")
    text = asked.get("text")
    # The field holds the proposed words; only other ones are an edit.
    said = Answer(accept, "" if text == " ".join(waiting.text.split()) else text, asked.get("why"))
    report = answer(memory, id, said)
    return done("/review", "accepted" if accept else "rejected", report, at=asked.get("at"))


def show_alike(memory: Memory, asked: Asked) -> View:
    """Show all of a kind that waits, each with its diff."""
    kind = asked.get("kind", TOGETHER[0])
    found = _find_alike(memory, kind)
    values = {
        "kind": kind,
        "was": _mark_of(found),
        "found": [(one, split_diff(one.diff)) for one in found],
        "ready": sum(not one.problem for one in found),
    }
    return View("review_alike", "review", values)


def accept_alike(memory: Memory, asked: Asked) -> Redirect:
    """Accept all of a kind, as they were shown; what cannot be accepted goes on waiting."""
    found = _find_alike(memory, asked.get("kind"))
    if _mark_of(found) != asked.get("was"):
        raise UsageError("They changed since the page was shown. Read them again, then decide.")
    jobs = []
    for one in found:
        if not one.problem:
            # A later one may have become impossible by an earlier one: it goes on waiting.
            with suppress(UsageError, NotFoundError):
                jobs.append(answer(memory, one.id, Answer(accept=True)).id)
    return Redirect(link("/review", said="accepted", job=tuple(jobs)))


def _find_alike(memory: Memory, kind: str) -> list[Waiting]:
    if kind not in TOGETHER:
        raise UsageError(f"Of {kind[:40] or 'files'!r} each is decided by itself.")
    return [one.build() for one in pending(memory) if one.kind == kind]


def _mark_of(found: Iterable[Waiting]) -> str:
    return digest("\n".join(one.fingerprint for one in found).encode())


def done(path: str, what: str, report: JobReport, **query: str) -> Redirect:
    """Return the page that shows what was done, with its undo."""
    return Redirect(link(path, said=what, job=report.id, **query))


def show_conflicts(memory: Memory, asked: Asked) -> View:
    """Show what contradicts what, side by side."""
    return View("conflicts", "conflicts", {"disputes": conflicts(memory)})


def decide_conflict(memory: Memory, asked: Asked) -> Redirect:
    """Settle a contradiction: one side, another value, or both."""
    since = asked.get("since")
    choice = Choice(
        keep=asked.get("keep"), value=asked.get("value"), both=asked.get("do") == "both"
    )
    if choice.both and since:
        choice = replace(choice, since=parse_day(since, memory.zone))
    if asked.get("do") != "value":
        choice = replace(choice, value="")
    report = memory.run(Resolve(memory, asked.get("id"), choice))
    return done("/conflicts", "settled", report)


def correct(memory: Memory, asked: Asked) -> View | Redirect:
    """Set what a card says and what it is: first the diff, then, with a word, the job.

    Where the card was changed since its page was opened, nothing is done: both are shown.
    """
    id = asked.get("id")
    filed = memory.get(id)
    card, was = filed.note, digest(filed.text.encode())
    if not isinstance(card, Card):
        raise NotFoundError("card", id)
    form = fill_again(asked, card, memory.zone)
    values = {"id": id, "said": card.value, "form": form, "was": was, "now": "", "files": []}
    if asked.get("was", was) != was:
        return View("correct", "correct", {**values, "now": card.value})
    job = Correct(memory, id, str(form["value"]), read_form(form, card, memory.zone))
    report = memory.run(job, dry_run=not asked.get("sure"))
    if not asked.get("sure"):
        # The card first: pages that repeat it may be long.
        files = sorted(split_diff(report.diff), key=lambda one: one.path != filed.path)
        return View("correct", "correct", {**values, "files": files})
    new = next((one.target for one in report.operations if one.op is Op.ADD), id)
    # Undone, there may be no new card: what is led back to is the one that was opened.
    return done(f"/note/{new}", "corrected", report, back=f"/note/{id}")


def show_forget(memory: Memory, asked: Asked) -> View:
    """Show what would be forgotten; nothing is changed."""
    wanted, ids = _wanted(asked), asked.all("note")
    reports: list[JobReport] = []
    for one in [replace(wanted, note=id) for id in ids] or [wanted]:
        if one != Wanted():
            reports.append(forget(memory, one, dry_run=True))
    done_to = [one for report in reports for one in report.operations]
    values = {
        "ids": ids,
        "key": wanted.key,
        "session": wanted.session,
        "query": wanted.query,
        "shown": bool(reports),
        "gone": [(one.target, title_of(memory, one.target)) for one in done_to if one.op in _GOES],
        "kept": [one for one in done_to if one.op not in _GOES],
        "files": [file for report in reports for file in split_diff(report.diff)],
        "left_out": [line for report in reports for line in report.left_out],
    }
    return View("forget", "forget", values)


def decide_forget(memory: Memory, asked: Asked) -> Redirect:
    """Forget what the page before showed."""
    wanted, ids = replace(_wanted(asked), why=asked.get("why")), asked.all("note")
    report = JobReport("", "forget", "")
    for one in [replace(wanted, note=id) for id in ids] or [wanted]:
        report = forget(memory, one)
    return done("/held", "forgotten", report)


def _wanted(asked: Asked) -> Wanted:
    return Wanted(key=asked.get("key"), session=asked.get("session"), query=asked.get("query"))


def show_purge(memory: Memory, asked: Asked) -> View:
    """Ask what shall be destroyed."""
    return View(
        "purge", "purge", {"report": None, "lines": {}, "text": "", "session": asked.get("session")}
    )


def decide_purge(memory: Memory, asked: Asked) -> View:
    """Show what would be destroyed; with the word typed, destroy it and show the receipt."""
    text, session = asked.get("text"), asked.get("session")
    doomed = Doomed((text,) if text else (), (session,) if session else ())
    typed = asked.get("word")
    if typed and typed not in DESTROY:
        raise UsageError(f"Type {DESTROY[0]} or {DESTROY[1]} to destroy it. Nothing was changed.")
    report = purge(memory, doomed, yes=bool(typed))
    values: dict[str, Any] = {"report": report, "session": "" if report.done else session}
    values["lines"] = _show_doomed(report.shown, text)
    # A form and no address carries the words: what shall vanish must not stay in a history.
    return View("purge", "purge", {**values, "text": "" if report.done else text})


def _show_doomed(
    lines: Iterable[DoomedLine], text: str
) -> Mapping[str, list[tuple[int, tuple[tuple[str, bool], ...]]]]:
    """Return the lines that would go by file: each by its number, in pieces, the words marked."""
    found = defaultdict[str, list[tuple[int, tuple[tuple[str, bool], ...]]]](list)
    words = re.compile(f"({re.escape(text)})", re.IGNORECASE) if text else None
    for line in lines:
        if len(found[line.path]) < _DOOMED:
            said = _words_of(line.text)[:_LONGEST]
            parts = words.split(said) if words else [said]
            pieces = ((part, at % 2 == 1) for at, part in enumerate(parts) if part)
            found[line.path].append((line.number, tuple(pieces)))
    return found


def _words_of(line: str) -> str:
    """Return what a line says; of a record of a turn its speaker and its words alone."""
    try:
        record = json.loads(line) if line.startswith("{") else None
    except ValueError:
        record = None
    if isinstance(record, dict) and isinstance(record.get("text"), str):
        return f"{record.get('speaker') or record.get('role', '')}: {record['text']}"
    return line
