"""Labelled sessions and their texts, read from where the labels say they are.

A line of a gold file names a session (`set`, `corpus`, `session`), what a careful reader
would keep of it (`remember`) and what only looks like knowledge (`never`). Texts stand in
the line itself (`turns`), in a transcript that the product's own reader takes in, or in a
file of documents, see `benchmarks.quality`.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.capture.ingest import open_file
from kimi_memory.hooks.host import Host

Json = Mapping[str, Any]

_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?")
_WRITTEN = ("%B-%d-%Y", "%B %d, %Y", "%d %B %Y")
_HOUR = 10
"""Of a day without a time."""
_HEADER = ("agent", "user", "project", "host", "title")
_ROLES = frozenset({"user", "assistant", "tool"})


class MissingTextError(Exception):
    """The texts of a labelled session are not there."""


@dataclass(frozen=True, slots=True)
class GoldTurn:
    """A turn under the id that the labels use."""

    id: str
    role: str
    text: str
    speaker: str = ""
    at: datetime | None = None
    origin: str | None = None


class GoldSession(NamedTuple):
    """A labelled session with its texts."""

    labels: Json
    header: Mapping[str, str]
    turns: Sequence[GoldTurn]

    @property
    def id(self) -> str:
        """Its id in the labels."""
        return str(self.labels["session"])


def read_moment(text: object) -> datetime | None:
    """Return a written moment; the morning of a day."""
    said = str(text or "").strip()
    if stamp := _STAMP.match(said):
        year, month, day, hour, minute, second = (int(part or 0) for part in stamp.groups())
        hour = hour if stamp[4] else _HOUR
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    for form in _WRITTEN:
        try:
            return datetime.strptime(said, form).replace(hour=_HOUR, tzinfo=UTC)
        except ValueError:
            continue
    return None


class Texts:
    """Finds the turns of labelled sessions below some folders."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._corpora: dict[str, dict[str, Json]] = {}
        self._files: dict[str, Path] = {}

    def session(self, labels: Json) -> GoldSession:
        """Return a labelled session with its texts.

        Raises:
            MissingTextError: they are nowhere below the folders.
        """
        if labels.get("turns"):
            return GoldSession(labels, {}, [_own_turn(turn) for turn in labels["turns"]])
        if labels["set"] in ("specstory", "claude"):
            return self._transcript(labels)
        if labels["set"] == "lifebench_chat":
            return self._phone_chat(labels)
        return GoldSession(labels, {}, self._documents(labels))

    def _documents(self, labels: Json) -> list[GoldTurn]:
        corpus = self._corpus(labels["set"].split("_")[0], labels["corpus"])
        docs, session = corpus["docs"], str(labels["session"])
        parts = set(labels.get("parts") or labels.get("sessions") or [session])
        found = [doc for doc in docs if doc.get("session") in parts]
        if not found and ":" in session:
            found = [doc for doc in docs if doc.get("session") == session.partition(":")[0]]
        if not found:
            raise MissingTextError(f"no session {session} in {labels['corpus']}")
        turns = list(_document_turns(found))
        if turns[0].at is None:  # a date stands on the first turn of a batch only
            before = (read_moment(doc.get("date")) for doc in docs[: docs.index(found[0]) + 1])
            dated = [at for at in before if at]
            turns[0] = GoldTurn(**{**_members(turns[0]), "at": dated[-1] if dated else None})
        return turns

    def _corpus(self, kind: str, name: str) -> Json:
        if kind not in self._corpora:
            self._corpora[kind] = {}
            for one in _read_corpora(self._find(f"{kind}*.jsonl")):
                self._corpora[kind].setdefault(one["corpus"], one)
        if name not in self._corpora[kind]:
            raise MissingTextError(f"no corpus {name} in {self._where()}")
        return self._corpora[kind][name]

    def _phone_chat(self, labels: Json) -> GoldSession:
        user, chat = labels["corpus"], str(labels["session"]).rpartition(":")[2]
        named = [folder / str(labels.get("source") or "-") for folder in self._folders]
        paths = [*named, *self._find(f"{user}/**/agent_chat.json")]
        if labels["lang"] == "zh":
            paths = [*named, *(path for path in paths if "data_en" not in str(path))]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise MissingTextError(f"no agent_chat.json of {user} in {self._where()}")
        for one in json.loads(path.read_text("utf-8")):
            if str(one["event_id"]) == chat:
                return GoldSession(labels, {"user": user}, list(_phone_turns(one, user, chat)))
        raise MissingTextError(f"no chat {chat} of {user}")

    def _transcript(self, labels: Json) -> GoldSession:
        name = str(labels.get("source") or labels["corpus"])
        named = (folder / name for folder in self._folders)
        path = next((path for path in named if path.is_file()), None) or self._file(name)
        if path is None:
            raise MissingTextError(f"no file {name} in {self._where()}")
        sessions = list(_taken_in(path))
        for head, turns in sessions:
            if head.get("id") == labels["session"] or len(sessions) == 1:
                header = {key: str(head[key]) for key in _HEADER if head.get(key)}
                return GoldSession(labels, header, [_stored_turn(turn) for turn in turns])
        raise MissingTextError(f"the reader finds no session {labels['session']} in {path}")

    def _file(self, name: str) -> Path | None:
        if not self._files:
            both = [*self._find("*.md"), *self._find("*.jsonl")]
            for path in both:
                self._files.setdefault(path.name, path)
        return self._files.get(Path(name).name)

    def _find(self, pattern: str) -> list[Path]:
        return [path for folder in self._folders for path in sorted(folder.rglob(pattern))]

    def _where(self) -> str:
        return ", ".join(map(str, self._folders))


def _members(turn: GoldTurn) -> dict[str, Any]:
    return {name: getattr(turn, name) for name in GoldTurn.__slots__}


def _own_turn(turn: Json) -> GoldTurn:
    role, speaker = turn.get("role", "user"), turn.get("speaker", "")
    return GoldTurn(turn["id"], role, turn["text"], speaker, read_moment(turn.get("date")))


def _stored_turn(line: Json) -> GoldTurn:
    at = read_moment(line["at"])
    speaker, origin = line.get("speaker", ""), line.get("origin")
    return GoldTurn(f"t{line['n']}", line["role"], line["text"], speaker, at, origin)


def _document_turns(docs: Sequence[Json]) -> Iterator[GoldTurn]:
    at = None
    for doc in docs:
        at = read_moment(doc.get("date")) or at
        name = str(doc.get("speaker") or "")
        role, speaker = (name, "") if name in _ROLES else ("user", name)
        yield GoldTurn(doc["id"], role, doc["text"], speaker, at)


def _phone_turns(one: Json, user: str, chat: str) -> Iterator[GoldTurn]:
    at, n = read_moment(one["date"]), 0
    for part in one["conversation"].values():
        for role in ("user", "assistant"):
            if part.get(role):
                n += 1
                yield GoldTurn(f"{user}:{chat}:t{n}", role, part[role]["content"], "", at)


def _read_corpora(paths: Sequence[Path]) -> Iterator[Json]:
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                if line.startswith('{"corpus"') and "docs" in (one := json.loads(line)):
                    yield one


def _taken_in(path: Path) -> Iterator[tuple[Json, list[Json]]]:
    """Take a transcript into a memory; yield header and turns of each of its sessions."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-gold-") as folder:
        place = Path(folder)
        home, host = Home(place / "config", place / "state"), Host(entry_points=False)
        opening = Opening(home=home, host=host, background=False)
        with Memory.create(place / "memory", opening=opening) as memory:
            list(memory.ingest([open_file(path)]))
        for stored in sorted((place / "memory").rglob("session_*.jsonl")):
            lines = stored.read_text("utf-8").split("\n")
            records = [json.loads(line) for line in lines if line.strip()]
            yield records[0], [one for one in records if one["kind"] == "turn"]
