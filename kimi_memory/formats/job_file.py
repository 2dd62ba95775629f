"""The record of a job: its id, where it lies, and its text form, a JSON file each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from kimi_memory.domain.ids import moment, zulu
from kimi_memory.domain.job import NOTHING, Effect, Job, Op, Operation, Spent
from kimi_memory.domain.session import Json
from kimi_memory.formats.jsonl import (
    Record,
    get_integer,
    get_records,
    get_required,
    get_table,
    get_text,
    unseal,
)

FOLDER = "mid-term/jobs"


def job_path(id: str) -> str:
    """Return the path of a job's record."""
    return f"{FOLDER}/{id}.json"


def job_id(kind: str, inputs: str) -> str:
    """Return the id of the job over these inputs: the same inputs, the same job."""
    return f"{kind}-{inputs[:12]}"


def record_path(kind: str, inputs: str) -> str:
    """Return where the record of a job lies once it ran over these inputs and was not undone."""
    return job_path(job_id(kind, inputs))


def job_json(job: Job, **more: Json) -> bytes:
    """Return the file of a job, with further members where a kind of job has some."""
    operations: list[Json] = [
        {"op": str(one.op), "target": one.target, "key": one.key, "why": one.why}
        for one in job.operations
    ]
    effects: list[Json] = [
        {"path": one.path, "before": one.before, "after": one.after} for one in job.effects
    ]
    texts = {"id": job.id, "kind": job.kind, "at": zulu(job.at), "inputs": job.inputs}
    texts |= {"subject": job.subject, "model": job.model, "prompt": job.prompt}
    record: dict[str, Json] = {**texts, "operations": operations, "effects": effects}
    if job.spent != NOTHING:
        record["spent"] = asdict(job.spent)
    record |= more
    return f"{json.dumps(record, ensure_ascii=False, indent=2)}\n".encode("utf-8", "replace")


def add_member(content: bytes, name: str, value: Json) -> bytes:
    """Return the file of a job with one more member."""
    record = {**json.loads(content), name: value}
    return f"{json.dumps(record, ensure_ascii=False, indent=2)}\n".encode("utf-8", "replace")


def job_of(content: bytes) -> Job:
    """Return the job of its file; ValueError says what is wrong."""
    record = unseal(content)
    return Job(
        id=get_required(record, "id"),
        kind=get_required(record, "kind"),
        at=moment(get_required(record, "at")),
        inputs=get_text(record, "inputs"),
        subject=get_text(record, "subject"),
        model=get_text(record, "model"),
        prompt=get_text(record, "prompt"),
        operations=tuple(_parse_operation(one) for one in get_records(record, "operations")),
        effects=tuple(
            Effect(get_required(one, "path"), get_text(one, "before"), get_text(one, "after"))
            for one in get_records(record, "effects")
        ),
        spent=_parse_spent(get_table(record, "spent", {})),
    )


def counts_of(content: bytes) -> Mapping[str, int]:
    """Return what a purge counted, of its file: files, lines, objects; nothing for other jobs."""
    counts = get_table(unseal(content), "counts", {})
    return {name: value for name, value in counts.items() if isinstance(value, int)}


def _parse_spent(counts: Record) -> Spent:
    return Spent(*(get_integer(counts, name) for name in ("calls", "tokens_in", "tokens_out")))


def _parse_operation(record: Record) -> Operation:
    op, key = Op(get_required(record, "op")), get_text(record, "key")
    return Operation(op, get_text(record, "target"), key, get_text(record, "why"))
