"""An agent's own folder in a memory: text files whose heads say whose they are.

Adapters, and the tools that agents write with, write nowhere else. A head has no id, so
what an agent writes is never a card or a page of ours, whatever it looks like; recall
shows it as an agent's word. Secrets are masked in every text, also within values of JSON.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from threading import RLock
from typing import Any, TypeVar

from kimi_memory.api.memory import Memory
from kimi_memory.domain.ids import stamp
from kimi_memory.domain.job import Actor, Change, Create, Delete, Move, Update, digest
from kimi_memory.domain.note import Origin
from kimi_memory.errors import FormatError, NotFoundError, UsageError
from kimi_memory.formats.frontmatter import decode, read
from kimi_memory.formats.frontmatter_patch import patch_values
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import Value, entry, slug
from kimi_memory.store.files.paths import check
from kimi_memory.store.notes.notes import read_tombstones

T = TypeVar("T")

ROOT = "mid-term/agents"
_MARKED = re.compile(r".*-[0-9a-f]{10}")

# Deeper nesting comes from no program, and would exhaust Python's stack.
_DEEPEST = 100


def says_forgotten(memory: Memory, text: str, agent: str = "") -> bool:
    """Whether a note says what was forgotten, anywhere but in a session or on a page alone.

    Raises:
        FormatError: a tombstone cannot be read.
    """
    stones = read_tombstones(memory.store)
    scopes = {one.scope for one in stones if one.scope.startswith("project:")}
    return stones.hides(text, scopes | {"memory", f"agent:{agent}"})


def file_name(label: str) -> str:
    """Return a file name for a label; different labels never share one."""
    plain = slug(label.replace(".", "-"))
    # "a.b" and "a-b" would share a file: all but the plainest names get a hash behind them.
    if plain == label and not _MARKED.fullmatch(label):
        return plain
    mark = hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{plain}-{mark}"


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the folder as it was read."""

    path: str
    values: Mapping[str, Value]
    head: str
    """The text before the body."""
    body: str
    base: str
    """The hash of its bytes."""


class Folder:
    """What one agent keeps under one name, such as ``notes``."""

    def __init__(self, memory: Memory, agent: str, place: str) -> None:
        if not agent.strip():
            raise UsageError("An agent needs a name, so that its notes have a place.")
        self.memory, self.agent = memory, memory.screen.pass_name(agent)
        self.path = f"{ROOT}/{file_name(self.agent)}/{place}"
        self.guard = RLock()
        """Held from reading to writing, where what is written rests on what was read."""
        self._actor = Actor(f"{place}:{self.agent}", Origin.AGENT)

    def place(self, name: str) -> str:
        """Return the path of a file of this folder.

        Raises:
            UnsafePathError: the name would leave the folder, or is no plain one.
        """
        check(name)
        if self.memory.screen.spans(name):
            raise UsageError("There is a secret in that name. Give the file another one.")
        return f"{self.path}/{name}"

    def names(self, under: str = "") -> list[str]:
        """Return the names of all files, sorted, or of those in one folder and below."""
        start = f"{self.path}/"
        folder = self.place(under) if under else self.path
        return [path.removeprefix(start) for path in self.memory.store.files(folder)]

    def read(self, name: str) -> Page:
        """Return a file.

        Raises:
            NotFoundError: there is none.
            FormatError: it cannot be parsed.
        """
        path = self.place(name)
        content = self.memory.store.read(path)
        text = decode(content, path)
        found = read(text, path)
        head = text[: len(text) - len(found.body)]
        return Page(path, found.values, head, found.body, digest(content))

    def read_all(self, parse: Callable[[Page], T], under: str = "") -> Iterator[tuple[Page, T]]:
        """Yield all files, or those below one folder, with what they hold."""
        for name in self.names(under):
            try:
                page = self.read(name)
                found = parse(page)
            except (FormatError, NotFoundError):
                # Removed since it was listed, or broken by hand: the others are still known.
                continue
            yield page, found

    def lines(self, name: str) -> list[str]:
        """Return the whole lines of a file of records; none where there is no file yet."""
        path = self.place(name)
        try:
            text = decode(self.memory.store.read(path), path)
        except NotFoundError:
            return []
        # What stands behind the last line break is nothing, or a line that a crash cut off.
        return text.split("\n")[:-1]

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        return self.memory.store.exists(self.place(name))

    def clean(self, text: str) -> str:
        """Return a text as it may be kept: no secrets, no injected blocks.

        Raises:
            UsageError: it is too long to be kept whole.
        """
        screened = self.memory.screen.pass_text(text)
        if screened.cut:
            raise UsageError(f"The text is {screened.cut} bytes too long. Part it into several.")
        # What is left may be a block again once one inside of it is gone.
        return screened.text if screened.text == text else self.clean(screened.text)

    def made(self, name: str, body: str, head: Mapping[str, Value] | None = None) -> Create:
        """Return the change that makes a file."""
        now = stamp(self.memory.clock())
        values: dict[str, Value] = {**self._origin_fields(), "created": now, "updated": now}
        lines = [
            line for key, value in (values | dict(head or {})).items() for line in entry(key, value)
        ]
        return Create(
            self.place(name), self._encode_page("\n".join(["---", *lines, "---", ""]), body)
        )

    def changed(self, page: Page, body: str) -> Update:
        """Return the change that gives a file another body."""
        values = {**self._origin_fields(), "updated": stamp(self.memory.clock())}
        head = patch_values(page.head, values, page.path)
        return Update(page.path, page.base, self._encode_page(head, body))

    def gone(self, name: str) -> Delete:
        """Return the change that removes a file."""
        path = self.place(name)
        return Delete(path, digest(self.memory.store.read(path)))

    def moved(self, name: str, to: str) -> Move:
        """Return the change that gives a file another name."""
        path = self.place(name)
        return Move(path, self.place(to), digest(self.memory.store.read(path)))

    def apply(self, changes: Sequence[Change]) -> None:
        """Carry out all changes or none; they are durable, and in the journal, at return."""
        if not changes:
            return
        self.memory.store.apply(changes, self._actor)
        self._notify_changes([change.path for change in changes])

    def append(self, name: str, records: Sequence[object]) -> None:
        """Add records to a file, each a line of JSON, durably."""
        path = self.place(name)
        lines = [json.dumps(one, ensure_ascii=False) for one in records]
        for line in lines:
            # Refused and not masked: a record with a hole in it would not be read again.
            self._refuse_secrets(path, line)
        self.memory.store.append(path, [f"{line}\n".encode() for line in lines], self._actor)
        self._notify_changes([path])

    def _origin_fields(self) -> dict[str, Value]:
        return {"agent": self.agent, "trust": str(Origin.AGENT)}

    def _encode_page(self, head: str, body: str) -> bytes:
        self._refuse_secrets(self.path, body)
        if says_forgotten(self.memory, body, self.agent):
            raise UsageError(
                f"{self.path}: there is something in that which was forgotten on purpose. "
                "Write it without that."
            )
        return f"{head}{body}".encode()

    def _refuse_secrets(self, path: str, text: str) -> None:
        """Refuse what no screen has passed; this is the last look before the disk."""
        if self.memory.screen.spans(text):
            raise UsageError(f"{path}: there is a secret in that, and it cannot be masked apart.")

    def _notify_changes(self, paths: Sequence[str]) -> None:
        self.memory.written()
        self.memory.host.notice("changes_applied", paths=list(paths), job=None)


def clean_json(folder: Folder, value: Any, name: str = "", depth: int = 0) -> Any:
    """Return a JSON value as it may be kept.

    Args:
        folder: where it is to be kept.
        value: the value.
        name: the name it stands under; ``password`` makes a secret of a plain word.
        depth: how deep it lies.

    Raises:
        UsageError: it is no JSON, or too long to be kept whole.
    """
    match value:
        # Else a value could end the process with a RecursionError in any later reader.
        case _ if depth > _DEEPEST:
            raise UsageError(f"The value of {name!r} is nested too deep to be kept.")
        case str():
            return _mask_value(folder, folder.clean(value), name)
        case None | bool() | int():
            return value
        # NaN and infinity are no JSON for any other program.
        case float() if isfinite(value):
            return value
        case dict():
            below = depth + 1
            return {
                folder.clean(_require_text(key)): clean_json(folder, one, _require_text(key), below)
                for key, one in value.items()
            }
        case list() | tuple():
            return [clean_json(folder, one, name, depth + 1) for one in value]
    raise UsageError(f"{type(value).__name__} under {name!r} is no JSON. Keep texts and numbers.")


def _require_text(key: object) -> str:
    if isinstance(key, str):
        return key
    raise UsageError(f"The name {key!r} is no text. Name what you keep by texts.")


def _mask_value(folder: Folder, text: str, name: str) -> str:
    """Return a text masked as it would be right behind its name."""
    label = f"{name}: "
    masked, _ = folder.memory.screen.mask(f"{label}{text}")
    return masked.removeprefix(label) if masked.startswith(label) else masked
