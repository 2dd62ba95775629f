"""What made a state what it is: the commit, the job, and the reason that its record gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kimi_memory.domain.past import Cause
from kimi_memory.errors import FormatError
from kimi_memory.formats.job_file import FOLDER, job_of
from kimi_memory.past.reader import PastReader
from kimi_memory.past.table import State


def find_causes(reader: PastReader, states: Sequence[State]) -> list[Cause]:
    """Return what made each state what it is, with the reasons of the jobs."""
    records = {one: (one.commit, f"{FOLDER}/{one.job}.json") for one in states if one.job}
    contents = reader.history.contents(records.values())
    found = []
    for one in states:
        op, why, prompt = _find_reason(contents.get(records.get(one, ("", ""))), one.note)
        merged = bool(one.merged)  # SQLite has no booleans
        by = (one.job, one.job_kind, one.model, op, why, one.author, one.copy, merged, prompt)
        found.append(Cause(one.commit, one.version, reader.on_clocks(one.known), *by))
    return found


def find_commits(reader: PastReader, names: Iterable[str]) -> list[Cause]:
    """Return what is known of commits, whatever they changed."""
    rows = (reader.table().commit(name) for name in names)
    return [
        Cause(one.hash, one.version, reader.on_clocks(one.known), one.job, one.kind, one.model,
              author=one.author, copy=one.copy, merged=bool(one.merged))
        for one in rows
        if one is not None
    ]  # fmt: skip


def _find_reason(record: bytes | None, note: str) -> tuple[str, str, str]:
    """Return what a job did to a note, why, and its prompt; empty where its record has none."""
    if record is None:
        return "", "", ""
    try:
        job = job_of(record)
    except (ValueError, FormatError):
        return "", "", ""
    done = next((one for one in job.operations if one.target == note), None)
    return (str(done.op), done.why, job.prompt) if done else ("", "", job.prompt)
