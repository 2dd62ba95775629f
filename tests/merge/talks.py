"""Sessions that tests of merges begin with, made line by line."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from kimi_memory.domain.note import Role
from kimi_memory.domain.session import Session, Turn
from kimi_memory.formats.jsonl import (
    archive_path,
    chain_start,
    context_of,
    end_line,
    is_whole,
    session_line,
    state_line,
    turn_line,
    turn_of,
    unseal,
)
from kimi_memory.merge.sessions import SessionFile
from tests.merge.values import NOW


@dataclass
class Talk:
    """A session that grows."""

    id: str = "s1"
    started: datetime = NOW
    lines: list[bytes] = field(default_factory=list)
    archived: bool = False
    n: int = 0
    context: str = ""

    def __post_init__(self) -> None:
        self.lines = self.lines or [session_line(Session(self.id, self.started))]

    def say(self, text: str, after: int = 0) -> Talk:
        """Add a turn, so many seconds later than the last."""
        self.n += 1
        at = self.started + timedelta(seconds=self.n * 10 + after)
        line = turn_line(Turn(self.n, at, Role.USER, text, context=self.context))
        self.context = context_of(self.context, line)
        self.lines.append(line)
        return self

    def note(self, **variables: int) -> Talk:
        """Set a variable."""
        self.lines.append(state_line(variables=dict(variables)))
        return self

    def end(self, after: int = 100, *, archived: bool = True) -> Talk:
        """End the session, and archive it."""
        self.lines.append(end_line(self.started + timedelta(seconds=after)))
        self.archived = archived
        return self

    def copy(self) -> Talk:
        """Return the same session in another copy."""
        return Talk(self.id, self.started, [*self.lines], self.archived, self.n, self.context)

    @property
    def path(self) -> str:
        session = Session(self.id, self.started)
        return archive_path(session) if self.archived else f"short-term/session_{self.id}.jsonl"

    @property
    def file(self) -> SessionFile:
        return SessionFile(self.path, tuple(self.lines))

    @property
    def content(self) -> bytes:
        return b"".join(self.lines)


def assert_chained(lines: tuple[bytes, ...]) -> list[Turn]:
    """Hold a session against its seals and its chain; return its turns."""
    assert unseal(lines[0])["kind"] == "session"
    assert all(map(is_whole, lines))
    context, turns = chain_start(lines[0]), list[Turn]()
    for line in lines[1:]:
        if b'"kind":"turn"' in line:
            turns.append(turn_of(unseal(line)))
            assert turns[-1].context == context
            context = context_of(context, line)
    numbers = [turn.n for turn in turns]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True
    return turns
