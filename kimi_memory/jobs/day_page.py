"""The page of a day: lines a person added or took out stay so when it is written again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from kimi_memory.domain.job import Step
from kimi_memory.domain.pages import Day
from kimi_memory.formats import codec
from kimi_memory.formats.day_lines import read_said
from kimi_memory.formats.page_lines import split_mark
from kimi_memory.store.git.history import History
from kimi_memory.store.notes.notes import Shelf

_VERSIONS = 50
_HOUR = re.compile(r"^(?:\d\d-\d\d )?\d\d:\d\d ")
_SECTIONS = ("sessions", "events", "knowledge")


def with_edits(step: Step, shelf: Shelf, history: History) -> Step:
    """Return a step that writes a day's page anew with what a person changed on it.

    Raises:
        FormatError: the note the step would change cannot be parsed.
    """
    entry = shelf.entries().get(step.note.id)
    if entry is None:
        return step
    mine = shelf.file(entry.path).note
    if not isinstance(step.note, Day) or not isinstance(mine, Day):
        return step
    edits = _Edits()
    for before, day, by_job in _read_versions(history, entry.path):
        (edits.forget if by_job else edits.learn)(before, day)
    last = _read_page(history, "HEAD", entry.path) if history.head() else None
    if last is not None:
        edits.learn(last, mine)
    elif is_blank(step.note):
        return replace(step, note=mine)  # Without a history nobody knows whose lines they are.
    return replace(step, note=edits.over(step.note))


def is_blank(day: Day) -> bool:
    """Whether nothing stands on a page: what was on it is of another day, or is gone."""
    return not any(_section_lines(day, name) for name in _SECTIONS)


class _Edits:
    """Lines that people added to the sections of a page, and took out."""

    def __init__(self) -> None:
        self._added: dict[str, dict[str, None]] = defaultdict(dict)
        self._gone: dict[str, set[str]] = defaultdict(set)

    def learn(self, before: Day, after: Day) -> None:
        """Note what one edit changed."""
        for name in _SECTIONS:
            old, new = _section_lines(before, name), _section_lines(after, name)
            added, gone = self._added[name], self._gone[name]
            # What was taken out stays out, even if the same job would write it again tomorrow.
            for line in set(old) - set(new):
                added.pop(line, None)
                gone.add(_strip_hour(line))
            fresh = [line for line in new if line not in old]
            added.update(dict.fromkeys(fresh))
            gone.difference_update(map(_strip_hour, fresh))

    def forget(self, before: Day, after: Day) -> None:
        """Note what a job took out again of what people added: somebody asked for it."""
        for name in _SECTIONS:
            for line in set(_section_lines(before, name)) - set(_section_lines(after, name)):
                self._added[name].pop(line, None)

    def over(self, day: Day) -> Day:
        """Return a page with the edits made on it."""
        return replace(day, **{name: self._merge_lines(day, name) for name in _SECTIONS})  # type: ignore[arg-type]  # tuples of text, all three

    def _merge_lines(self, day: Day, name: str) -> tuple[str, ...]:
        kept = [
            line for line in _section_lines(day, name) if _strip_hour(line) not in self._gone[name]
        ]
        return tuple(dict.fromkeys((*kept, *self._added[name])))


def _strip_hour(line: str) -> str:
    """Return what a line says without its hour, which is another one in another time zone."""
    # Lines of earlier versions had no marks, and named turns in another form.
    said = read_said(line)
    if said is not None:
        return f"{said[0]} {said[1]}"
    return _HOUR.sub("", split_mark(line)[0])


def _section_lines(day: Day, name: str) -> tuple[str, ...]:
    lines: tuple[str, ...] = getattr(day, name)
    return lines


def _read_versions(history: History, path: str) -> Iterator[tuple[Day, Day, bool]]:
    """Yield what each commit made of a page, oldest first, and whether a job wrote it."""
    commits = history.log(limit=_VERSIONS, path=path)
    parents = {row.commit: row.parents for row in history.graph()} if commits else {}
    for commit in reversed(commits):
        # A merge edits nothing: each line it brings or drops was written on one of its sides.
        if len(parents.get(commit.hash, ())) != 1:
            continue
        before = _read_page(history, parents[commit.hash][0], path)
        after = _read_page(history, commit.hash, path)
        if before is not None and after is not None:
            yield before, after, "Kind" in commit.trailers


def _read_page(history: History, commit: str, path: str) -> Day | None:
    note = codec.read_note(history.content(commit, path) or b"", path)
    return note if isinstance(note, Day) else None
