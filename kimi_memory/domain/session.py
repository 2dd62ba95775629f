"""A session: its turns, its header, its task and variables, and whose it is."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from itertools import islice, pairwise, takewhile

from kimi_memory.domain.note import Origin, Role
from kimi_memory.lazy_dataclass import dataclass

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
# A pasted log full of "I" and "we" would otherwise become facts about a person.
MAX_SPEECH = 1500
"""A longer turn of a person is a paste or a template, not speech."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One screened turn as it stands in a session's JSONL file."""

    n: int
    """Position in its session, from 1."""
    at: datetime
    """When it was said, aware, in UTC."""
    role: Role
    text: str
    speaker: str = ""
    """A name where one is known, else empty."""
    origin: Origin = Origin.HUMAN
    importance: float = 0.5
    """0 to 1, by rules at capture."""
    tags: tuple[str, ...] = ()
    context: str = ""
    """First 12 hex digits of the SHA-256 chain over the turns before this one."""
    ref: str = ""
    """The host's own id of the message; the same ref is stored once per session."""
    masked: int = 0
    """How many secrets were masked in the text."""
    stripped: int = 0
    """How many characters were left out: blocks that programs put into prompts."""
    # Not hashed, as JSON holds dicts; two turns that differ in nothing else are still unequal.
    tool_calls: tuple[Json, ...] = field(default=(), hash=False)
    """What the turn had tools do, as its program wrote it; kept, and no part of what is said."""

    @property
    def by_person(self) -> bool:
        """Whether a person wrote the turn, not a program in a person's place."""
        return self.role is Role.USER and self.origin is Origin.HUMAN

    @property
    def is_speech(self) -> bool:
        """Whether a person said the turn, rather than pasted a text."""
        return self.by_person and len(self.text) <= MAX_SPEECH


IMPORTED = "import"
"""The host of a session that an import made."""
BY_HAND = "by hand"
"""The host of a session of what people wrote on pages and into cards."""
CODING_RECORDER = "specstory"
"""The host of sessions in which an agent is at work, however few messages they have."""


# Texts with empty defaults and no None: each is a line of a record that leaves out what is empty.
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
    after: str = ""
    """The context of the turn that its first one follows, where a merge parted them."""


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
        # Its reader leaves out what passed between tools, so few messages are no sign of a mere
        # answer.
        if self.session.host == CODING_RECORDER:
            return True
        spoken = [t.role for t in self.turns if t.role in (Role.USER, Role.ASSISTANT)]
        pairs = list(pairwise(spoken))
        runs = sum(one is other is Role.ASSISTANT for one, other in pairs)
        # At work an agent sends several messages in a row; one that only answers hardly ever does.
        if runs > max(2, len(pairs) // 5):
            return True
        # A log kept by hand has one message a round; there the files tell that it is about work,
        # and what the agent says that it is looking at.
        texts = [turn.text[:SAMPLE] for turn in self.turns if turn.role is Role.ASSISTANT]
        at_work = sum(bool(_FILE.search(text) or _LOOKING.search(text)) for text in texts)
        coding = sum("```" in turn.text for turn in self.turns if turn.role is Role.ASSISTANT)
        # Of a short talk about code most answers show some.
        return at_work > max(2, len(texts) // 8) or 2 * max(at_work, coding) > len(texts) > 1

    def has_several_people(self) -> bool:
        """Whether several named people speak, who each own what they say."""
        return len({t.speaker for t in self.turns if t.role is Role.USER} - {""}) > 1

    def is_chat(self) -> bool:
        """Whether one person talks with an assistant that only answers."""
        answered = any(turn.role is Role.ASSISTANT for turn in self.turns)
        return answered and not (self.has_several_people() or self.has_agent_at_work())

    def turn(self, n: int) -> Turn | None:
        """Return turn number `n`, or None."""
        return next((turn for turn in self.turns if turn.n == n), None)


def exchanges_of(turns: Iterable[Turn]) -> Iterator[tuple[Turn | None, list[Turn]]]:
    """Yield each turn of a person with the turns of the agent that answer it."""
    asker: Turn | None = None
    answers: list[Turn] = []
    for turn in turns:
        if turn.by_person:
            if asker or answers:
                yield asker, answers
            asker, answers = turn, []
        else:
            answers.append(turn)
    if asker or answers:
        yield asker, answers


def last_rounds(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the turns of the last rounds; a round begins where a person speaks after another."""
    # Bounded before it is looked through: a session of an agent may have ten thousand turns.
    begin = max(0, len(turns) - ROUND_TURNS)
    rounds, user = 0, Role.USER  # Python asks a class for its member each time anew.
    for n in range(len(turns) - 1, begin - 1, -1):
        if turns[n].role is user and (n == 0 or turns[n - 1].role is not user):
            rounds += 1
            if rounds == ROUNDS and any(turn.role is user for turn in islice(turns, n)):
                return turns[n:]
    return turns[begin:]


SHARED = ""
"""The scope of what is everybody's."""
AREAS = ("agent", "user", "session")
"""Private areas of a session; without one, what is said in it is shared."""
SAMPLE = 2000
"""So many characters of a message are searched for the name of a file."""
# "Node.js" is no file.
_FILE = re.compile(
    r"(?<![\w./-])(?!(?:node|vue|next|nuxt|nest|react|express|three|d3)\.js\b)[\w./-]{1,200}\.(?:py|[jt]sx?|md|kt|java|go|rs|css|html|json|ya?ml|toml|cs|cpp|sql|sh|vue|php|rb|swift)\b",
    re.IGNORECASE,
)
_LOOKING = re.compile(
    r"\b(?:let me|i['’]ll|i['’]m going to) (?:now |also |first |quickly |just )*"
    r"(?:check|read|examine|inspect|investigate|debug|run|scaffold|search (?:for|the|your)|diff"
    r"|grep|look (?:at|into|for) the)\b"
    r"|(?:让我|我(?:来|先|再)|正在|现在)(?:先|来|再)?(?:检查|查看|读取|运行|搜索|调试|修改|阅读)",
    re.IGNORECASE,
)
"""Someone who only answers looks at nothing."""
_CONTINUATION = re.compile(r"(.+)\.(?:[2-9]|[1-9]\d+)")


def root_of(session: Session) -> str:
    """Return the id a session shares with those it continues."""
    id = session.continues or session.id
    found = _CONTINUATION.fullmatch(id)
    return found[1] if found and session.continues else id


STATEMENTS = "remembered-"
"""So begin the sessions of what is remembered outside of any other, one a day and owner."""


def scope_of(session: Session) -> str:
    """Return the scope of what is said in a session.

    An area that cannot be understood, or that lacks its name, is the session's own:
    what was meant to be private must not become shared.
    """
    if not session.area:
        return SHARED
    # The name belongs to the scope: two agents of one memory must not read each other's.
    name = {"agent": session.agent, "user": session.user}.get(session.area, "")
    return named(session.area, name) or f"session:{root_of(session)}"


def in_scope(session: Session, scope: str) -> Session:
    """Return a header under which what is said has a private scope."""
    area, _, name = scope.partition(":")
    match area:
        case "agent":
            return replace(session, area=area, agent=name)
        case "user":
            return replace(session, area=area, user=name)
        case "session":
            return replace(session, area=area, continues=name)
    return replace(session, area="session")


def named(area: str, name: str) -> str:
    """Return the scope of an area and a name; none without a name."""
    # One line, as a scope stands in front matter and in a column of the index.
    line = " ".join(name.split())
    return f"{area}:{line}" if line else SHARED


def problem_of(session: Session) -> str:
    """Return what is wrong with the area of a new session, or an empty string."""
    if session.area and session.area not in AREAS:
        return f"{session.area!r} is no area. Use {', '.join(AREAS)}, or none for shared."
    if session.area == "agent" and not session.agent.strip():
        return "The area of an agent needs its name. Give agent, or leave out area."
    if session.area == "user" and not session.user.strip():
        return "The area of a user needs its name. Give user, or leave out area."
    return ""


def owner(scope: str, area: str) -> str:
    """Return the name behind a scope of this area, or an empty string."""
    kind, _, name = scope.partition(":")
    return name if kind == area else ""


def is_private(scope: str) -> bool:
    """Whether the scope of a tombstone is one that notes have too."""
    return scope.partition(":")[0] in AREAS


def owned(scope: str) -> dict[str, str]:
    """Return the fields of a unit that tell whose it is."""
    line = " ".join(scope.split())
    return {"scope": line, "agent": owner(line, "agent"), "user": owner(line, "user")}


def visible(scope: str, within: Container[str] | None) -> bool:
    """Whether something of a scope may be shown.

    Args:
        scope: whose it is.
        within: the private scopes that the reader may see; None for the owner, who sees all.
    """
    return within is None or scope == SHARED or scope in within


def agent_words(turns: Iterable[Turn]) -> str:
    """Return what is said in turns before the next one of a person, a turn a line."""
    return "\n".join(turn.text for turn in takewhile(lambda turn: not turn.by_person, turns))
