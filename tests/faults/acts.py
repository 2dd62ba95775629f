"""The writes that the fault tests interrupt, and the trees before and after them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kimi_memory.domain.job import Actor, Append, Create, Delete, Move, Update, digest
from kimi_memory.formats.jsonl import seal
from kimi_memory.store.store import Store

KEY = b"k"
ME = Actor("cli")
OLD = "旧的内容\n".encode()
NEW = "新的内容，更长一些\n".encode()
LINE = seal({"n": 1, "text": "你好"})
LINE2 = seal({"n": 2, "text": "hello"})

Files = dict[str, bytes]
Act = Callable[[Store], None]
BEFORE: Files = {"semantic/a.md": OLD, "semantic/b.md": OLD, "short-term/s.jsonl": LINE}


def _create(store: Store) -> None:
    store.apply([Create("episodic/daily/新.md", NEW)], ME)


def _update(store: Store) -> None:
    store.apply([Update("semantic/a.md", digest(OLD), NEW)], ME)


def _append(store: Store) -> None:
    store.append("short-term/s.jsonl", [LINE2], ME)


def _begin(store: Store) -> None:
    store.append("short-term/新.jsonl", [LINE2], ME)


def _move(store: Store) -> None:
    store.apply([Move("semantic/a.md", "archive/a.md", digest(OLD))], ME)


def _delete(store: Store) -> None:
    store.apply([Delete("semantic/a.md", digest(OLD))], ME)


def _many(store: Store) -> None:
    store.apply(
        [
            Create("episodic/x.md", NEW),
            Update("semantic/a.md", digest(OLD), NEW),
            Append("short-term/s.jsonl", (LINE2,)),
            Move("semantic/b.md", "semantic/c.md", digest(OLD)),
        ],
        ME,
    )


def _purge(store: Store) -> None:
    store.apply([Delete(p, digest(OLD)) for p in ("semantic/a.md", "semantic/b.md")], ME)


ACTS: dict[str, tuple[Act, Files]] = {
    "create": (_create, BEFORE | {"episodic/daily/新.md": NEW}),
    "update": (_update, BEFORE | {"semantic/a.md": NEW}),
    "append": (_append, BEFORE | {"short-term/s.jsonl": LINE + LINE2}),
    "begin": (_begin, BEFORE | {"short-term/新.jsonl": LINE2}),
    "move": (_move, {"semantic/b.md": OLD, "short-term/s.jsonl": LINE, "archive/a.md": OLD}),
    "delete": (_delete, {"semantic/b.md": OLD, "short-term/s.jsonl": LINE}),
    "many": (
        _many,
        {
            "episodic/x.md": NEW,
            "semantic/a.md": NEW,
            "short-term/s.jsonl": LINE + LINE2,
            "semantic/c.md": OLD,
        },
    ),
    "purge": (_purge, {"short-term/s.jsonl": LINE}),
}


def prepare(root: Path) -> None:
    root.mkdir()
    with Store.open(root, key=KEY) as store:
        store.apply([Create("semantic/a.md", OLD), Create("semantic/b.md", OLD)], ME)
        store.append("short-term/s.jsonl", [LINE], ME)


def files(store: Store) -> Files:
    """Return what is there; a file that was opened but never written to is not."""
    found = {path: store.read(path) for path in store.files()}
    return {path: content for path, content in found.items() if content}


def leftovers(root: Path) -> list[str]:
    return [str(p) for name in ("tmp", "txn") for p in (root / ".kimi" / name).iterdir()]
