"""A proposal: what a model would do to the knowledge of a session, read from its answer."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from kimi_memory.domain.note import CardType, EventType, LinkRel
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.rules.strip_code import headline

LONGEST = 600
"""Most characters of a statement."""


class Act(StrEnum):
    """What a proposal does."""

    ADD = "ADD"
    SUPERSEDE = "SUPERSEDE"
    """Add what takes the place of what was so before."""
    REWRITE = "REWRITE"
    """Say better what a rule found."""
    MERGE = "MERGE"
    """Say as one what rules found as several."""
    VETO = "VETO"
    """Refuse what a rule found."""
    LINK = "LINK"
    """Link two of the statements with each other."""


KINDS: dict[str, tuple[CardType, EventType | None]] = {
    "decision": (CardType.DECISION, EventType.DECISION),
    "preference": (CardType.PREFERENCE, None),
    "rule": (CardType.RULE, None),
    "lesson": (CardType.GOTCHA, EventType.FAILURE),
    "concept": (CardType.CONCEPT, None),
    "pattern": (CardType.PATTERN, EventType.SUCCESS),
    "finding": (CardType.FACT, EventType.FINDING),
    "fact": (CardType.FACT, None),
    "entity": (CardType.ENTITY, None),
    "relation": (CardType.FACT, None),
    "event": (CardType.FACT, EventType.FINDING),
    "plan": (CardType.FACT, None),
    "task": (CardType.TASK_STATE, None),
}
"""Types a model may propose, which are also the first word of the key."""
_OTHERWISE = {
    "order": "rule",
    "instruction": "rule",
    "gotcha": "lesson",
    "failure": "lesson",
    "success": "pattern",
    "choice": "decision",
    "task-state": "task",
    "todo": "task",
    "to-do": "task",
    "person": "entity",
    "relationship": "relation",
    "self-fact": "fact",
    "result": "finding",
}
"""What models write for the same."""
_STATED = frozenset(set(LinkRel) - {LinkRel.EXTRACTED_FROM})
"""Relations a model may state; what a card was extracted from, its evidence says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One operation of an answer, of the right form and not yet proven."""

    act: Act = Act.ADD
    type: str = ""
    key: str = ""
    title: str = ""
    value: str = ""
    quotes: tuple[tuple[int, str], ...] = ()
    """Number of a turn, and words that shall stand in it."""
    targets: tuple[int, ...] = ()
    """Numbers of what rules found."""
    why: str = ""
    importance: float = 0.5
    source: str = ""
    to: str = ""
    """Of a link: key, title or number of what it leads from, and to."""
    rel: LinkRel | None = None

    @property
    def name(self) -> str:
        """What a report calls it."""
        numbers = ", ".join(map(str, self.targets))
        return self.key[:60] or self.title[:60] or f"{self.act} {numbers}".strip()


def read_proposal(item: Mapping[str, Any]) -> Proposal | str:
    """Return an operation of an answer, or why the answer holds no valid one.

    Missing titles and keys, other names of types and a single quote instead of a list are
    forgiven.
    """
    act = str(item.get("op") or "ADD").strip().upper()
    if act not in set(Act):
        return f"an unknown operation {act[:20]!r}"
    known = Act(act)
    if known is Act.LINK:
        return _parse_link(item)
    targets = _parse_numbers(item.get("target", item.get("targets", ())))
    if known in (Act.REWRITE, Act.MERGE, Act.VETO) and not targets:
        return f"{known} without the number of what it means"
    said = str(item.get("type") or "").strip().lower()
    type = _OTHERWISE.get(said, said)
    # Only these make a card; the others name one that has its type.
    if known in (Act.ADD, Act.SUPERSEDE) and type not in KINDS:
        return f"an unknown type {said[:20]!r}"
    value = " ".join(str(item.get("value") or "").split())
    if known is not Act.VETO and not 0 < len(value) <= LONGEST:
        return "a value that is empty or too long"
    return Proposal(
        act=known,
        type=type,
        key=str(item.get("key") or "")[:80],
        title=" ".join(str(item.get("title") or "").split()) or headline(value),
        value=value,
        quotes=tuple(_parse_quotes(item.get("quotes", item.get("quote")))),
        targets=targets,
        why=" ".join(str(item.get("why") or "").split())[:120],
        importance=_parse_importance(item.get("importance")),
    )


def _parse_link(item: Mapping[str, Any]) -> Proposal | str:
    rel = str(item.get("rel") or item.get("relation") or "").strip().upper()
    if rel not in _STATED:
        return f"an unknown relation {rel[:20]!r}"
    # Many models write the ends as [[links]].
    source, to = (str(item.get(name) or "").strip(" []")[:160] for name in ("from", "to"))
    if not source or not to:
        return "LINK without both of its ends"
    why = " ".join(str(item.get("why") or item.get("reason") or "").split())[:120]
    title = f"{source} {rel} {to}"
    return Proposal(act=Act.LINK, title=title, source=source, to=to, rel=LinkRel(rel), why=why)


def _parse_quotes(given: Any) -> list[tuple[int, str]]:
    several = given if isinstance(given, list) else [given]
    found = []
    for one in several[:6]:
        if isinstance(one, str):
            found.append((0, one))
        elif isinstance(one, dict) and isinstance(one.get("text"), str):
            found.append((next(iter(_parse_numbers(one.get("turn"))), 0), one["text"]))
    return found


def _parse_numbers(given: Any) -> tuple[int, ...]:
    several = given if isinstance(given, list | tuple) else [given]
    plain = (str(one).strip().lstrip("#tT") for one in several)
    # `isdigit` takes "²", too, which `int` does not.
    return tuple(int(one) for one in plain if one.isascii() and one.isdigit() and len(one) < 9)


def _parse_importance(given: Any) -> float:
    plain = isinstance(given, int | float) and not isinstance(given, bool)
    # A model may raise it a little, and never below what is usual.
    return min(0.8, max(0.5, float(given))) if plain else 0.5
