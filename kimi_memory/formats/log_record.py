"""Records of a change log as text: canonical JSON, whose SHA-256 the next record names."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any, cast

from kimi_memory.domain.change_log import LoggedCommit, LoggedStep, LogRecord, RecordKind
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin

FORMAT = 1
_ACTOR = 4
"""So many fields of an actor stand together."""
LONGEST_INLINE = 64 * 1024
"""Longer contents stand beside the log, under their SHA-256."""
_PutBlob = Callable[[str, bytes], None]
_GetBlob = Callable[[str], bytes]


def hash_record(body: bytes) -> str:
    """Return what the next record names as the one before it; empty for no record."""
    return hashlib.sha256(body).hexdigest() if body else ""


def is_purge(body: bytes) -> bool:
    """Whether a record says that texts were destroyed, in a text that need not be parsed."""
    return b'"kind":"purge"' in body


def is_snapshot(body: bytes) -> bool:
    """Whether a copy may begin at a record."""
    return b'"kind":"snapshot"' in body or is_purge(body)


def epoch_of(body: bytes) -> int:
    """Return the epoch of a record, without its contents."""
    return int(json.loads(body)["epoch"])


def canonical(value: object) -> bytes:
    """Return the one text of a value."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8")


def render_record(record: LogRecord, put_blob: _PutBlob) -> bytes:
    """Return the text of a record; long contents are given to `put_blob` before."""
    body: dict[str, Any] = {
        "v": FORMAT,
        "memory": record.memory,
        "seq": record.seq,
        "epoch": record.epoch,
        "node": record.node,
        "kind": record.kind,
        "txn": record.txn,
        "at": record.at,
        "actor": list(record.actor[:_ACTOR]),
        # Apart: an earlier version reads an actor of four.
        "for": [*record.actor[_ACTOR:]] if any(record.actor[_ACTOR:]) else None,
        "prev": record.prev,
        "steps": [_render_step(step, put_blob) for step in record.steps],
        "commit": _render_commit(record.commit, put_blob),
        "about": record.about,
    }
    return canonical({name: value for name, value in body.items() if value not in (None, "", [])})


def parse_record(body: bytes, get_blob: _GetBlob) -> LogRecord:
    """Return the record of a text.

    Raises:
        ValueError: it is none, or of a newer format.
    """
    try:
        found = json.loads(body)
        if found["v"] != FORMAT:
            raise ValueError(f"format {found['v']} is newer than this kimi_memory")
        name, origin, session, job = found["actor"]
        actor = Actor(name, Origin(origin), session, job, *found.get("for", ()))
        return LogRecord(
            found["memory"], found["seq"], found["epoch"], found["node"],
            cast("RecordKind", found["kind"]), found["txn"], found["at"],
            actor, found.get("prev", ""),
            tuple(_parse_step(step, get_blob) for step in found.get("steps", ())),
            _parse_commit(found.get("commit"), get_blob),
            found.get("about"),
        )  # fmt: skip
    except (KeyError, TypeError) as error:
        raise ValueError(f"no record of a change log: {error}") from error


def _render_step(step: LoggedStep, put_blob: _PutBlob) -> dict[str, Any]:
    body: dict[str, Any] = {"kind": step.kind, "path": step.path}
    more = {"to": step.to, "before": step.before, "after": step.after, "offset": step.offset}
    body |= {name: value for name, value in more.items() if value}
    if step.mode != 0o600:
        body["mode"] = step.mode
    if step.content is not None:
        body |= _render_content(step.content, put_blob)
    if step.waits is not None:
        body["waits"] = list(step.waits)
    return body


def _parse_step(body: Mapping[str, Any], get_blob: _GetBlob) -> LoggedStep:
    waits = body.get("waits")
    return LoggedStep(
        body["kind"], body["path"], body.get("to", ""), body.get("before", ""),
        body.get("after", ""), body.get("offset", 0), body.get("mode", 0o600),
        _parse_content(body, get_blob), (waits[0], waits[1], waits[2]) if waits else None,
    )  # fmt: skip


def _render_content(content: bytes, put_blob: _PutBlob) -> dict[str, Any]:
    if len(content) > LONGEST_INLINE:
        sha = hashlib.sha256(content).hexdigest()
        put_blob(sha, content)
        return {"blob": sha}
    try:
        return {"content": content.decode("utf-8")}
    except UnicodeDecodeError:
        # Bytes of another encoding, such as a picture: JSON can hold them only like this.
        return {"base64": b64encode(content).decode("ascii")}


def _parse_content(body: Mapping[str, Any], get_blob: _GetBlob) -> bytes | None:
    if "blob" in body:
        content = get_blob(body["blob"])
        if hashlib.sha256(content).hexdigest() != body["blob"]:
            raise ValueError(f"the content {body['blob'][:12]} beside the log is damaged")
        return content
    if "base64" in body:
        return b64decode(body["base64"])
    text = body.get("content")
    return None if text is None else str(text).encode("utf-8")


def _render_commit(commit: LoggedCommit | None, put_blob: _PutBlob) -> dict[str, Any] | None:
    if commit is None:
        return None
    head, _, message = commit.raw.partition(b"\n\n")
    lines = dict(line.split(b" ", 1) for line in head.split(b"\n") if b" " in line)
    named = {name: lines.get(name.encode(), b"") for name in ("tree", "author", "committer")}
    # What they say stands in the raw object as well; here it can be read without git.
    shown = {name: value.decode("utf-8", "replace") for name, value in named.items()}
    return {
        "id": commit.id,
        "parent": commit.parent,
        **shown,
        "message": message.decode("utf-8", "replace"),
        "raw": _render_content(commit.raw, put_blob),
        "files": [list(one) for one in commit.files],
        "carried": {path: _render_content(one, put_blob) for path, one in commit.carried.items()},
        **({"pack": _render_content(commit.pack, put_blob)} if commit.pack else {}),
    }


def _parse_commit(body: Mapping[str, Any] | None, get_blob: _GetBlob) -> LoggedCommit | None:
    if body is None:
        return None
    carried = {path: _parse_content(one, get_blob) for path, one in body["carried"].items()}
    return LoggedCommit(
        body["id"],
        body["parent"],
        _parse_content(body["raw"], get_blob) or b"",
        tuple((path, mode, blob) for path, mode, blob in body["files"]),
        {path: one for path, one in carried.items() if one is not None},
        _parse_content(body.get("pack", {}), get_blob) or b"",
    )
