"""Rekeying: what earlier versions wrote for everybody to guess, made anew with the machine's key.

They kept plain hashes of purged words, and the words of every question. Commits made by them
keep those, until a purge of the words rewrites history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kimi_memory.domain.job import Actor, Change, Create, Delete, Update, digest, digest_of
from kimi_memory.domain.session import Json
from kimi_memory.domain.tombstone import KEYED, Keyed, asked, keyed_hash
from kimi_memory.formats.job_file import FOLDER, job_path
from kimi_memory.formats.jsonl import seal, unseal
from kimi_memory.jobs.usage import RECALLS
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import keyed_line
from kimi_memory.store.store import Store

_ACTOR = Actor("job:rekey", job="rekey")


def rekey(store: Store) -> bool:
    """Replace plain hashes in tombstones and purge receipts, and words in those of recall.

    Returns:
        Whether there was anything to replace.
    """
    keyed = store.journal.keyed
    changes = [*_rekey_lines(store, keyed), *_rekey_receipts(store, keyed)]
    if changes:
        store.apply(changes, _ACTOR, subject="rekey")
    return bool(changes)


def _rekey_lines(store: Store, keyed: Keyed) -> Iterator[Change]:
    for path, renewed in ((TOMBSTONES, _rekey_tombstone), (RECALLS, _rekey_recall)):
        if store.exists(path):
            old, held = store.read(path), store.served(path).content
            new = b"".join(renewed(line, keyed) for line in held.splitlines(keepends=True))
            if new != old:
                yield Update(path, digest(old), new)


def _rekey_tombstone(line: bytes, keyed: Keyed) -> bytes:
    try:
        return keyed_line(line, keyed)
    except ValueError:
        return line  # Reading the tombstones names the damaged line.


def _rekey_recall(line: bytes, keyed: Keyed) -> bytes:
    try:
        record: dict[str, Json] = unseal(line)
    except ValueError:
        return b""  # A receipt that nobody can read counts for nothing, and may hold words.
    words = record.pop("query", None)
    return line if words is None else seal({**record, "asked": asked(str(words), keyed)})


def _rekey_receipts(store: Store, keyed: Keyed) -> Iterator[Change]:
    """Yield the changes that give the records of purges keyed hashes, and ids made of those."""
    for path in store.files(FOLDER):
        if not path.startswith(f"{FOLDER}/purge-"):
            continue
        content = store.read(path)
        new = _rekey_receipt(content, keyed)
        # A record is named by its inputs, so with other hashes it has another name.
        if new is not None:
            yield Delete(path, digest(content))
            yield Create(job_path(str(new["id"])), _encode_record(new))


def _rekey_receipt(content: bytes, keyed: Keyed) -> dict[str, Json] | None:
    """Return a record of a purge without plain hashes, None where it has none."""
    try:
        record: dict[str, Json] = unseal(content)
    except ValueError:
        return None
    held = record.get("hashes")
    plain = [str(one) for one in held] if isinstance(held, list) else []
    # Done before, or written by this version.
    if not any(map(_is_plain, plain)):
        return None
    hashes = [keyed_hash(one, keyed) if _is_plain(one) else one for one in plain]
    inputs = digest_of(["purge", *hashes])
    effects = record.get("effects")
    left = [_drop_effect_hash(one) for one in effects] if isinstance(effects, list) else []
    named: dict[str, Json] = {"id": f"purge-{inputs[:12]}", "inputs": inputs}
    return {**record, **named, "hashes": list(hashes), "effects": left}


def _is_plain(one: str) -> bool:
    return not one.startswith((KEYED, "session:"))


def _drop_effect_hash(effect: Json) -> Json:
    """Return an effect without the hash of what was purged; the old head of git has no words."""
    if not isinstance(effect, dict) or effect.get("path") == ".git":
        return effect
    return {**effect, "before": ""}


def _encode_record(record: dict[str, Json]) -> bytes:
    return f"{json.dumps(record, ensure_ascii=False, indent=2)}\n".encode("utf-8", "replace")
