"""A memory folder for tests of index and recall: real files, a real store, real plugins."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kimi_memory.config import RecallTable
from kimi_memory.domain.note import Card, CardType, Role
from kimi_memory.domain.search_types import Answer, Query
from kimi_memory.domain.session import Session, Turn
from kimi_memory.formats.codec import render
from kimi_memory.formats.jsonl import session_line, state_line, turn_line
from kimi_memory.hooks.host import Host
from kimi_memory.index.index import Index
from kimi_memory.recall.engine import Recall
from kimi_memory.store.store import Store

NOW = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)
KEY = b"k" * 32
NEEDED = ("words", "markdown", "dates", "whoosh_index", "usearch_index", "weights", "ngrams")

OPENED: list[Index] = []
"""What a test opened; it is closed when the test ends."""


def make_host(*extra: tuple[object, str]) -> Host:
    """Return a host with every plugin recall needs, whatever the bundle lists."""
    host = Host(entry_points=False)
    known = {plugin.name for plugin in host.loaded}
    for name in NEEDED:
        if name not in known:
            host.register(importlib.import_module(f"kimi_memory.plugins.{name}"), name)
    for plugin, name in extra:
        host.register(plugin, name)
    return host


class Folder:
    """Writes files into a memory and asks it."""

    def __init__(self, root: Path, host: Host | None = None, key: bytes = KEY) -> None:
        self.root = root
        self.host = host or make_host()
        self.store = Store.open(root, key=KEY)
        self.key = key

    def index(self) -> Index:
        """Open the index anew, as another process would."""
        index = Index(self.store, self.host, key=self.key, clock=lambda: NOW)
        OPENED.append(index)
        return index

    def recall(self, index: Index | None = None, **settings: float) -> Recall:
        table = RecallTable(**settings)
        return Recall(index or self.index(), self.host, table, lambda: NOW)

    def ask(self, text: str, index: Index | None = None, **filters: object) -> Answer:
        return self.recall(index).search(Query(text=text, **filters))

    def write(self, path: str, text: str | bytes) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def session(
        self,
        id: str,
        turns: Sequence[tuple[str, str]],
        *,
        at: datetime = NOW,
        archived: bool = False,
        **header: str,
    ) -> str:
        """Write a session of (speaker or role, text); return its path."""
        lines = [session_line(Session(id=id, started=at, **header))]
        for n, (who, text) in enumerate(turns, start=1):
            role = Role(who) if who in list(Role) else Role.USER
            name = "" if who in list(Role) else who
            lines.append(turn_line(Turn(n, at + timedelta(seconds=n), role, text, name)))
        where = "episodic/sessions/2026-02" if archived else "short-term"
        path = f"{where}/session_{id}.jsonl"
        self.write(path, b"".join(lines))
        return path

    def stream(self, id: str, turns: Sequence[tuple[datetime, str]]) -> str:
        """Write a session of a user that goes on for days, each turn at its own moment."""
        lines = [session_line(Session(id=id, started=turns[0][0]))]
        for n, (at, text) in enumerate(turns, start=1):
            lines.append(turn_line(Turn(n, at, Role.USER, text)))
        path = f"short-term/session_{id}.jsonl"
        self.write(path, b"".join(lines))
        return path

    def state(self, path: str, **task: str) -> None:
        with (self.root / path).open("ab") as file:
            file.write(state_line(task=task))

    def card(self, slug: str, title: str, value: str, **fields: object) -> str:
        path = f"semantic/general/{slug}.md"
        defaults: dict[str, object] = {
            "type": CardType.FACT,
            "key": slug.replace("-", "."),
            "confidence": 1.0,
            "created": NOW,
            "updated": NOW,
        }
        card = Card(
            id=f"card-{slug}",
            title=title,
            value=value,
            **{**defaults, **fields},
        )
        self.write(path, render(card))
        return path


def seen(answer: Answer) -> list[tuple[str, float, str, dict[str, float]]]:
    """Return everything of an answer that must not depend on the state of the index."""
    return [(hit.unit.id, hit.score, hit.snippet, dict(hit.parts)) for hit in answer.hits]


CHATS = {
    "a": [
        ("Alice", "Which database should the billing service use?"),
        ("Bob", "We choose PostgreSQL 16 because SQLite locks under concurrent writes."),
        ("Alice", "Fine. The migration runs on March 3."),
        ("Bob", "I like green tea while I wait."),
    ],
    "b": [
        ("user", "部署脚本为什么失败了？"),
        ("assistant", "因为磁盘空间不足，日志没有轮转。"),
        ("user", "我们决定每天清理日志，保留七天。"),
        ("user", "我喜欢喝乌龙茶。"),
    ],
    "c": [
        ("user", "The nightly backup failed again last Friday."),
        ("assistant", "The token of the object store had expired; I renewed it."),
        ("user", "Please remind me before the next expiry."),
    ],
}
QUERIES = [
    "which database did we choose and why",
    "部署失败的原因",
    "喜欢喝什么茶",
    "tea",
    "what happened last Friday",
    "Bob PostgreSQL",
    "日志保留几天",
]


def fill(folder: Folder) -> None:
    """Write a small bilingual memory with all kinds of units."""
    for name, turns in CHATS.items():
        folder.session(name, turns, archived=name == "c")
    folder.card("db-choice", "Database of billing", "PostgreSQL 16, for concurrent writes.")
    folder.card("log-keep", "日志保留", "日志每天清理，保留七天。")
    folder.write("PROJECT.md", "# Billing\n\nMoves money.\n\n## 部署\n\n用脚本部署到两台机器。\n")
