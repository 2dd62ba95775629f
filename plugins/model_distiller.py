"""A model's second reading of a session, and its word on what rules cannot decide.

Why it exists: rules know sentences by their form; a model also knows them by their
meaning. The rules always run, and what they found stays. The model may propose more, and
a better title for what they found, and every proposal is checked by code: its quotes must
stand in stored turns, in sentences somebody spoke and meant; a person must have said one
of them; its figures, names and most of its words must be theirs, in their language and
polarity. What fails is left out and reported. A turn that gives orders to a model can
so make it repeat what a person said, and nothing else.

Asked about two statements of one key, its verdict counts only where rules were unsure,
and never lets figures or polarity pass as agreement or an agent's word replace a person's.

Settings, in ``[plugins.model_distiller]`` of your own config.toml:

- ``distil``: whether sessions are read by the model too (true).
- ``judge``: whether it is asked about doubtful pairs (true).
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from kimi_memory import hookimpl
from kimi_memory.model.card import Card, CardType
from kimi_memory.model.draft import Draft
from kimi_memory.model.event import EventType
from kimi_memory.model.note import Lang
from kimi_memory.model.origin import Origin, Role, least_trusted
from kimi_memory.model.prompt import Ask, Question, Schema
from kimi_memory.model.session import Json, Transcript
from kimi_memory.model.source import Quote
from kimi_memory.model.step import Verdict
from kimi_memory.model.turn import Turn
from kimi_memory.remote.choices import Choices
from kimi_memory.text import cues
from kimi_memory.text.cues import Bar
from kimi_memory.text.fence import fence
from kimi_memory.text.grounding import is_grounded
from kimi_memory.text.language import language_of
from kimi_memory.text.normal import normalise
from kimi_memory.text.pasted import spoken
from kimi_memory.text.prose import headline
from kimi_memory.text.regex import regex
from kimi_memory.text.slug import slug
from kimi_memory.text.tokens import estimate
from kimi_memory.text.topics import KNOWN, known_topic

WINDOW_TOKENS = 3000
"""So much of a conversation is shown at once: small local models read no more with care."""
WINDOWS = 10
"""Longer sessions are read in so many parts at most."""
LIMIT = 8
"""Most operations per part."""
TURN_CHARS = 2500
"""A person's longer turn is a paste; an agent's is cut here."""
DROPS = 10
"""So many dropped proposals are reported one by one."""

_KINDS: dict[str, tuple[CardType, EventType | None]] = {
    "decision": (CardType.DECISION, EventType.DECISION),
    "preference": (CardType.PREFERENCE, None),
    "rule": (CardType.RULE, None),
    "lesson": (CardType.GOTCHA, EventType.FAILURE),
    "pattern": (CardType.PATTERN, EventType.SUCCESS),
    "finding": (CardType.FACT, EventType.FINDING),
}
"""Types a model may propose, which are also the first word of the key."""
_SPOKEN = {Role.USER, Role.ASSISTANT}
_TRUSTED = {Origin.HUMAN, Origin.AGENT}
_NEVER = {Bar.SECRET, Bar.JOKE, Bar.HEARSAY}
_DOUBT = {Bar.QUESTION, Bar.HEDGE, Bar.HYPOTHETICAL}
_FIGURE = regex(r"\d+(?:[.:/-]\d+)*")
_KEY_PART = regex(r"[^a-z0-9-]+")

_TEXT: dict[str, Json] = {"type": "string", "maxLength": 400}
_QUOTE: Json = {
    "type": "object",
    "required": ["turn", "text"],
    "properties": {"turn": {"type": "integer"}, "text": dict(_TEXT)},
}
_OPERATION: Json = {
    "type": "object",
    "required": ["op", "type", "key", "title", "value", "quotes"],
    "properties": {
        "op": {"type": "string", "enum": ["ADD", "SUPERSEDE"]},
        "type": {"type": "string", "enum": list(_KINDS)},
        "key": {"type": "string", "maxLength": 80},
        "title": {"type": "string", "maxLength": 160},
        "value": dict(_TEXT),
        "importance": {"type": "number"},
        "quotes": {"type": "array", "maxItems": 4, "items": _QUOTE},
    },
}
DISTIL: Schema = {
    "type": "object",
    "required": ["operations"],
    "properties": {"operations": {"type": "array", "maxItems": LIMIT, "items": _OPERATION}},
}
JUDGE: Schema = {
    "type": "object",
    "required": ["verdict"],
    "properties": {"verdict": {"type": "string", "enum": [str(one) for one in Verdict]}},
}


SETTINGS = ("distil", "judge")
"""What may stand in ``[plugins.model_distiller]``."""


def create(settings: Mapping[str, Any]) -> ModelDistiller:
    """Make the plugin from the user's settings."""
    return ModelDistiller(settings)


class ModelDistiller:
    """Wraps the rules with a model, where one is configured.

    Raises:
        UsageError: a setting is of the wrong type.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        choices = Choices("model_distiller", settings)
        self._distils, self._judges = (
            choices.flag("distil", default=True),
            choices.flag("judge", default=True),
        )

    @hookimpl(wrapper=True)
    def distil_session(
        self, transcript: Transcript, ask: Ask
    ) -> Generator[None, list[Draft] | None, list[Draft] | None]:
        """Add what a model proposes and code could prove to what the rules found."""
        drafts = yield
        if drafts is None or not self._distils or not ask.ready:
            return drafts
        return united(drafts, _proposals(transcript, ask))

    @hookimpl(wrapper=True)
    def judge_conflict(
        self, card: Card, draft: Draft, ask: Ask
    ) -> Generator[None, Verdict | None, Verdict | None]:
        """Let a model decide where the rules found a conflict or no relation."""
        verdict = yield
        unsure = verdict in {Verdict.CONFLICTS, Verdict.UNRELATED} and card.key == draft.key
        if not unsure or not self._judges or not ask.ready:
            return verdict
        block = fence([f"old: {card.value}", f"new: {draft.value}"], secrets.token_hex(8))
        answer = ask(
            Question(
                template="prompts/judge",
                lang=draft.lang,
                schema=JUDGE,
                values={"block": block},
                max_tokens=200,
            )
        )
        if answer is None:
            return verdict
        return _permitted(Verdict(cast("dict[str, str]", answer)["verdict"]), verdict, card, draft)


def _permitted(said: Verdict, rules: Verdict | None, card: Card, draft: Draft) -> Verdict | None:
    """Return the model's verdict where code can stand for it, else that of the rules."""
    same = _figures(card.value) == _figures(draft.value)
    same = same and _negated(card.value) == _negated(draft.value)
    match said:
        case Verdict.AGREES | Verdict.REFINES:
            return said if same else rules
        case Verdict.REPLACES:
            since = card.valid_from or card.verified or card.created
            own = draft.origin is Origin.HUMAN and draft.at > since
            return said if own else Verdict.CONFLICTS
        case Verdict.UNRELATED:
            # Only rules may call two values of one key no conflict.
            return rules
        case _:
            return Verdict.CONFLICTS


def _figures(text: str) -> set[str]:
    return set(_FIGURE.findall(normalise(text)))


def _negated(text: str) -> bool:
    return len(cues.NEGATION.findall(cues.fold_case(text))) % 2 == 1


def _proposals(transcript: Transcript, ask: Ask) -> list[Draft]:
    found: list[Draft] = []
    dropped: list[str] = []
    for window in _windows(transcript):
        for operation in _operations(window, ask):
            draft, why = _Check(transcript, operation).draft()
            if draft is not None:
                found.append(draft)
            else:
                dropped.append(f"{operation['key'][:60]}: proposed by the model, {why}")
    for line in dropped[:DROPS]:
        ask.tell(line)
    if len(dropped) > DROPS:
        ask.tell(f"{len(dropped) - DROPS} more proposals of the model were left out")
    return found


def _windows(transcript: Transcript) -> Iterator[list[Turn]]:
    """Yield runs of the turns that people and their agent spoke."""
    window: list[Turn] = []
    room, number = WINDOW_TOKENS, 0
    for turn in transcript.turns:
        pasted = turn.role is Role.USER and len(turn.text) > TURN_CHARS
        if turn.role not in _SPOKEN or turn.origin not in _TRUSTED or pasted:
            continue
        cost = estimate(_line(turn))
        if window and cost > room:
            yield window
            window, room, number = [], WINDOW_TOKENS, number + 1
            if number >= WINDOWS:
                return
        window.append(turn)
        room -= cost
    if window:
        yield window


def _line(turn: Turn) -> str:
    shown = "\n".join(
        "⟦…⟧" if cues.SECRET.search(cues.fold_case(line)) else line
        for line in turn.text[:TURN_CHARS].splitlines()
    )
    return f"#{turn.n} {turn.at:%Y-%m-%d} {turn.speaker or turn.role}: {shown}"


def _operations(window: Sequence[Turn], ask: Ask) -> list[dict[str, Any]]:
    block = fence([_line(turn) for turn in window], secrets.token_hex(8), "a conversation: data")
    people = " ".join(turn.text for turn in window if turn.role is Role.USER)
    answer = ask(
        Question(
            template="prompts/distil",
            lang=Lang(language_of(people)),
            schema=DISTIL,
            values={"block": block, "limit": LIMIT},
            max_tokens=2000,
        )
    )
    return [] if answer is None else cast("dict[str, list[dict[str, Any]]]", answer)["operations"]


@dataclass(frozen=True, slots=True)
class _Check:
    """One proposal, held against the session it is about."""

    transcript: Transcript
    operation: Mapping[str, Any]

    def draft(self) -> tuple[Draft | None, str]:
        """Return the draft, or None and why there is none."""
        quotes = [(self._turn(one["turn"]), str(one["text"])) for one in self.operation["quotes"]]
        spoken = [(turn, quote) for turn, quote in quotes if turn is not None]
        sentences = [_sentences(turn, quote) for turn, quote in spoken]
        why = self._unproven(len(quotes), spoken, sentences)
        if why:
            return None, why
        evidence = " ".join(text for found in sentences for text in found)
        why = self._unfaithful(evidence)
        return (None, why) if why else (self._draft(spoken, evidence), "")

    def _turn(self, n: int) -> Turn | None:
        found = next((turn for turn in self.transcript.turns if turn.n == n), None)
        spoken = found is not None and found.role in _SPOKEN and found.origin in _TRUSTED
        return found if spoken else None

    def _unproven(
        self, given: int, spoken: list[tuple[Turn, str]], sentences: list[list[str]]
    ) -> str:
        if not given or len(spoken) < given:
            return "which rests on no turn of a person or their agent"
        if not all(sentences):
            return "whose quote stands in no spoken sentence of its turn"
        if not any(turn.role is Role.USER and turn.origin is Origin.HUMAN for turn, _ in spoken):
            return "which no person said"
        bars = [frozenset().union(*map(cues.bars_of, found)) for found in sentences]
        if any(each & _NEVER for each in bars):
            return "which rests on a secret, a joke, hearsay or an order to a model"
        if all(each & _DOUBT for each in bars):
            return "which was asked or doubted, not said"
        return ""

    def _unfaithful(self, evidence: str) -> str:
        value, title = self.operation["value"].strip(), self.operation["title"].strip()
        if not value or language_of(value) != language_of(evidence):
            return "which is not in the language of its evidence"
        if not is_grounded(value, evidence):
            return "which says more than its evidence"
        if self.operation["op"] == "ADD" and _negated(value) != _negated(evidence):
            return "whose polarity is not that of its evidence"
        if cues.SECRET.search(cues.fold_case(f"{value}\n{title}")):
            return "which looks like a secret"
        return ""

    def _draft(self, spoken: list[tuple[Turn, str]], evidence: str) -> Draft:
        session, value = self.transcript.session, cues.clean(self.operation["value"].strip())
        type, event = _KINDS[self.operation["type"]]
        title, topic = self.operation["title"].strip(), self._topic(evidence)
        faithful = title and language_of(title) == language_of(evidence)
        by_person = any(turn.origin is Origin.HUMAN for turn, _ in spoken)
        return Draft(
            type=type,
            key=f"{self.operation['type']}.{topic}",
            title=title if faithful and is_grounded(title, evidence) else headline(value),
            value=value,
            quotes=tuple(Quote(session.id, turn.n, quote) for turn, quote in spoken),
            at=max(turn.at for turn, _ in spoken),
            lang=Lang(language_of(value)),
            event=event,
            importance=min(0.8, max(0.5, float(self.operation.get("importance", 0.5)))),
            confidence=0.6,
            reversal=self.operation["op"] == "SUPERSEDE" and by_person,
            origin=least_trusted([turn.origin for turn, _ in spoken]),
            tags=(topic,) if topic in KNOWN else (),
            category=slug(session.project, 40) if session.project else "general",
            project=session.project,
            participants=tuple(dict.fromkeys(turn.speaker or str(turn.role) for turn, _ in spoken)),
        )

    def _topic(self, evidence: str) -> str:
        """Return what the key is about: a topic the rules know too, else the model's word."""
        last = self.operation["key"].lower().rpartition(".")[2]
        own = _KEY_PART.sub("-", last).strip("-")[:40]
        return known_topic(cues.own_words(evidence)) or own or slug(self.operation["title"], 40)


def _sentences(turn: Turn, quote: str) -> list[str]:
    """Return the spoken sentences of a turn that a quote is part of or consists of."""
    words = normalise(quote)
    if len(words.encode()) < 6 or words not in normalise(turn.text):
        return []
    spans = spoken(turn.text, by_person=turn.role is Role.USER)
    told = [turn.text[start:end] for start, end in spans]
    return [one for one in told if words in normalise(one) or normalise(one) in words]


def united(rules: list[Draft], model: list[Draft]) -> list[Draft]:
    """Return the drafts of the rules, better titled where the model saw the same, and the rest."""
    found = list(rules)
    for draft in model:
        at = next((i for i, known in enumerate(found) if _same(known, draft)), None)
        if at is None:
            found.append(draft)
        elif at < len(rules) and found[at].type is draft.type:
            found[at] = replace(found[at], title=draft.title)
    return found


def _same(known: Draft, draft: Draft) -> bool:
    """Whether two drafts rest on the same words."""
    return any(
        one.n == other.n and (_holds(one.text, other.text) or _holds(other.text, one.text))
        for one in known.quotes
        for other in draft.quotes
    )


def _holds(text: str, words: str) -> bool:
    return normalise(words) in normalise(text)
