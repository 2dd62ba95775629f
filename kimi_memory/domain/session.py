"""A session: its header, its turns, its task and variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, pairwise

from kimi_memory.domain.json_value import Json
from kimi_memory.domain.origin import Role
from kimi_memory.domain.turn import Turn

IMPORTED = "import"
"""The host of a session that an import made."""
BY_HAND = "by hand"
"""The host of a session of what people wrote on pages and into cards."""
CODING_RECORDER = "specstory"
"""The host of sessions in which an agent is at work, however few messages they have."""


@dataclass(frozen=True, slots=True)
class Session:
    """The header of a session: the first line of its JSONL file."""

    id: str
    started: datetime
    agent: str = ""
    user: str = ""
    project: str = ""
    channel: str = ""
    host: str = ""
    """The program it was captured from: claude, codex, openclaw, cli, api …"""
    continues: str = ""
    """The ended session whose later turns these are; turn numbers go on from it."""
    title: str = ""
    area: str = ""
    """Whose is what is said in it: everybody's, or its ``agent``'s, ``user``'s or ``session``'s."""


def speaker_of(turn: Turn, session: Session) -> str:
    """Return who said a turn: by name where it is known, else by role."""
    names = {Role.USER: session.user, Role.ASSISTANT: session.agent}
    return turn.speaker or names.get(turn.role, "") or str(turn.role)


ROUNDS = 10
"""So many rounds of an open session its view and the live block show …"""
ROUND_TURNS = 60
"""… in so many turns at most: one request may keep an agent busy for hundreds."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session with all that was said in it."""

    session: Session
    turns: tuple[Turn, ...] = ()
    task: Mapping[str, Json] = field(default_factory=dict)
    """The current task, last one set."""
    variables: Mapping[str, Json] = field(default_factory=dict)
    """Temporary variables, last values set."""
    ended: datetime | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    """What its program counted: duration, model, tokens; last values set."""

    @property
    def latest(self) -> datetime:
        """The moment of the last turn, or of the start where there is none."""
        return self.turns[-1].at if self.turns else self.session.started

    def has_agent_at_work(self) -> bool:
        """Whether the agent does things, message after message, rather than only answering."""
        if self.session.host == CODING_RECORDER:
            return True
        spoken = [t.role for t in self.turns if t.role in (Role.USER, Role.ASSISTANT)]
        pairs = list(pairwise(spoken))
        runs = sum(one is other is Role.ASSISTANT for one, other in pairs)
        return runs > max(2, len(pairs) // 5)

    def has_several_people(self) -> bool:
        """Whether several named people speak, who each own what they say."""
        return len({t.speaker for t in self.turns if t.role is Role.USER} - {""}) > 1

    def turn(self, n: int) -> Turn | None:
        """Return turn number `n`, or None."""
        return next((turn for turn in self.turns if turn.n == n), None)


def last_rounds(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the turns of the last rounds; a round begins where a person speaks after another."""
    begin = max(0, len(turns) - ROUND_TURNS)
    rounds = 0
    for n in range(len(turns) - 1, begin - 1, -1):
        if turns[n].role is Role.USER and (n == 0 or turns[n - 1].role is not Role.USER):
            rounds += 1
            if rounds == ROUNDS and any(turn.role is Role.USER for turn in islice(turns, n)):
                return turns[n:]
    return turns[begin:]
