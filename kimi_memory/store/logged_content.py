"""What a file is by its change log, for a folder in which somebody changed it."""

from __future__ import annotations

import json
from collections.abc import Callable

from kimi_memory.domain.change_log import ChangeLog, LogRecord
from kimi_memory.formats.log_record import is_snapshot, parse_record

Committed = Callable[[str, str], bytes | None]
"""Returns the file of a path in a commit."""


def read_logged(
    log: ChangeLog, memory: str, path: str, upto: int, committed: Committed
) -> bytes | None:
    """Return a file as the records up to a number have it; None where they do not say.

    Args:
        log: the change logs.
        memory: its id.
        path: the file.
        upto: the last record that counts.
        committed: what the commit of a snapshot has.
    """
    content: bytes | None = None
    named, seq = json.dumps(path, ensure_ascii=False).encode(), 0
    while found := log.read(memory, seq):
        for seq, body in found:
            if seq > upto:
                return content
            if is_snapshot(body):
                content = committed(json.loads(body)["about"]["commit"], path)
            elif named in body:
                record = parse_record(body, lambda sha: log.get_blob(memory, sha))
                read = lambda of: read_logged(log, memory, of, seq - 1, committed)  # noqa: B023, E731  called at once
                content = _apply(record, path, content, read)
    return content


def _apply(
    record: LogRecord, path: str, content: bytes | None, read: Callable[[str], bytes | None]
) -> bytes | None:
    for step in record.steps:
        if step.kind == "move" and path in (step.path, step.to):
            content = None if path == step.path else read(step.path)
        elif step.path == path and step.kind == "append":
            content = (content or b"")[: step.offset] + (step.content or b"")
        elif step.path == path and step.kind != "confirmed":
            content = step.content
    return content if record.commit is None else record.commit.carried.get(path, content)
