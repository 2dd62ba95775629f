"""The gist of a conversation: what it decided, left open and found out, within a budget of tokens.

Made in stages without a model: what distilling finds in each part, then the sentences
that hold the most of what the part is about. A model, where one is configured, adds a
paragraph in front; what it says with figures that nobody said is dropped.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, Lang, Quote, Role
from kimi_memory.domain.prompt import Question
from kimi_memory.domain.session import Json, Transcript, Turn
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.patterns import language_of, normalise, regex
from kimi_memory.nlp.basic.safe_text import fence
from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.nlp.dates.timestamps import EPOCH
from kimi_memory.nlp.rules.relations import words_of
from kimi_memory.nlp.rules.strip_code import spoken_spans
from kimi_memory.nlp.rules.tasks import finishes, tasks_in

STAGE_TURNS = 60
"""So many turns are looked at in one stage."""

_HEADINGS: dict[str, tuple[str, str]] = {
    "overview": ("概要", "Overview"),
    "tasks": ("待办", "Open tasks"),
    "decisions": ("决定", "Decisions"),
    "rules": ("规则与偏好", "Rules and preferences"),
    "findings": ("发现与教训", "Findings and lessons"),
    "said": ("还谈到", "Also said"),
}
_SECTION = {
    CardType.TASK_STATE: "tasks",
    CardType.DECISION: "decisions",
    CardType.RULE: "rules",
    CardType.PREFERENCE: "rules",
    CardType.ENTITY: "rules",
}
_WEIGHT = {"overview": 5.0, "tasks": 4.0, "decisions": 3.0, "rules": 2.0, "findings": 1.0}
_FIGURE = regex(r"\d+(?:[.:]\d+)*")
# A summary of a long session would else be all of its last stage.
_PER_STAGE = 6
_CROWD = 6
# A point is one line; whole answers would use up the room of all others.
_LONGEST = 300
_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"summary": {"type": "string", "maxLength": 1200}},
    "required": ["summary"],
}


@dataclass(frozen=True, slots=True)
class Point:
    """One line of a gist."""

    section: str
    text: str
    weight: float = 0.0
    order: int = 0
    """Where in the conversation it was said."""
    quote: Quote | None = None
    """None where it was taken over from an earlier gist."""


def points_of(
    host: Host, parts: Sequence[Transcript], carried: Sequence[Point] = ()
) -> Iterator[Point]:
    """Yield what stages of a conversation come to, in no order.

    Args:
        host: asked to distil each stage.
        parts: the conversation, in the sessions that hold it.
        carried: points of an earlier gist; a task among them may be done since.
    """
    open_tasks = [point for point in carried if point.section == "tasks"]
    yield from (point for point in carried if point.section != "tasks")
    for part in parts:
        for first in range(0, len(part.turns), STAGE_TURNS):
            stage = replace(part, turns=part.turns[first : first + STAGE_TURNS])
            found = host.answer("distil_session", transcript=stage)
            drafts = cast("list[Draft]", found or [])  # what the hook's annotation says
            for done in (draft.value for draft in drafts if draft.done):
                open_tasks = _drop_finished_task(open_tasks, done)
            told = [_point_from_draft(draft) for draft in drafts if draft.quotes and not draft.done]
            open_tasks += [point for point in told if point.section == "tasks"]
            yield from (point for point in told if point.section != "tasks")
            yield from _pick_sentence_points(stage, {normalise(point.text) for point in told})
    yield from open_tasks


def _drop_finished_task(tasks: list[Point], done: str) -> list[Point]:
    """Return tasks without the one that is done; where two may be meant, both stay open."""
    named = [point for point in tasks if finishes(done, point.text)]
    return [point for point in tasks if len(named) != 1 or point is not named[0]]


def _point_from_draft(draft: Draft) -> Point:
    section = _SECTION.get(draft.type, "findings")
    # A to-do with a day is distilled as a dated statement.
    section = "tasks" if draft.type is CardType.FACT and tasks_in(draft.value) else section
    text = " ".join(draft.value.split())
    if draft.reason and normalise(draft.reason) not in normalise(text):
        text += f"（{draft.reason}）" if draft.lang is Lang.ZH else f" ({draft.reason})"
    weight = _WEIGHT[section] + draft.importance
    return Point(section, text[:_LONGEST], weight, draft.quotes[-1].n, draft.quotes[-1])


def _pick_sentence_points(stage: Transcript, known: set[str]) -> list[Point]:
    """Return the sentences with the most of the words that the stage repeats."""
    spoken = [turn for turn in stage.turns if turn.role in (Role.USER, Role.ASSISTANT)]
    lines = [(turn, turn.text[a:b]) for turn in spoken for a, b in spoken_spans(turn.text)]
    sets = [words_of(text) for _, text in lines]
    often = Counter(word for words in sets for word in words)
    scored = []
    for at, ((turn, text), words) in enumerate(zip(lines, sets, strict=True)):
        # How many other lines hold each word: what a stage keeps coming back to.
        shared = sum(often[word] - 1 for word in words)
        # By length, or long sentences always win; the five keeps those of two words from it.
        score = shared / (len(words) + 5) + (0.5 if turn.role is Role.USER else 0)
        if normalise(text) not in known and words:
            scored.append((score, -at, turn, text))
    best = sorted(scored, key=lambda one: one[:2], reverse=True)[:_PER_STAGE]
    top = best[0][0] if best else 1.0
    return [_point_from_sentence(turn, text, score / (top or 1.0)) for score, _, turn, text in best]


def _point_from_sentence(turn: Turn, text: str, weight: float) -> Point:
    who = turn.speaker or str(turn.role)
    quote = Quote("", turn.n, text)
    return Point("said", f"{who}: {' '.join(text.split())[:_LONGEST]}", weight, turn.n, quote)


def paragraph(host: Host, parts: Sequence[Transcript], lang: Lang) -> Iterator[Point]:
    """Yield what a model says the conversation is about, if there is one and it is sound."""
    line, summary = host.line, ""
    turns = [turn for part in parts for turn in part.turns]
    for first in range(0, len(turns) if line.ready else 0, STAGE_TURNS):
        shown = [f"{t.speaker or t.role}: {t.text[:1500]}" for t in turns[first:][:STAGE_TURNS]]
        nonce = hashlib.sha256("\0".join(shown).encode("utf-8", "replace")).hexdigest()[:16]
        values = {"block": fence(shown, nonce), "summary": fence([summary], nonce)}
        question = Question(
            schema=_SCHEMA, template="prompts/compact", lang=lang, values=values, max_tokens=700
        )
        reply = line(question)
        fresh = reply.get("summary") if isinstance(reply, dict) else None
        if not isinstance(fresh, str):
            return
        summary = " ".join(fresh.split())
    figures = {figure for turn in turns for figure in _FIGURE.findall(turn.text)}
    # A model may leave out what it likes; a figure that nobody said makes all of it worthless.
    if summary and language_of(summary) == lang and set(_FIGURE.findall(summary)) <= figures:
        yield Point("overview", summary, _WEIGHT["overview"])


def choose(points: Iterable[Point], room: int) -> list[Point]:
    """Return the weightiest points that fit, each said once, in the order they were said.

    Args:
        points: what could be said.
        room: tokens that all lines together may cost.
    """
    chosen: dict[str, Point] = {}
    for point in _rank_points(points):
        cost = estimate(f"| - {point.text}\n") + 3
        if normalise(point.text) not in chosen and cost <= room:
            chosen[normalise(point.text)] = point
            room -= cost
    return sorted(chosen.values(), key=lambda p: (p.order, p.text))


def _rank_points(points: Iterable[Point]) -> list[Point]:
    """Return points by weight; one more of many of a sort weighs less."""
    many: Counter[str] = Counter()
    ranked = []
    for point in sorted(points, key=lambda p: (-p.weight, -p.order, p.text)):
        ranked.append((point.weight - many[point.section] // _CROWD, point))
        many[point.section] += 1
    return [point for _, point in sorted(ranked, key=lambda one: -one[0])]


def lines_of(points: Sequence[Point], head: str, lang: Lang) -> list[str]:
    """Return a gist as lines: its head, then sections with their points."""
    lines = [head]
    for section, words in _HEADINGS.items():
        here = [point for point in points if point.section == section]
        if here:
            lines.append(f"{words[0] if lang is Lang.ZH else words[1]}:")
            lines += [f"- {point.text}" for point in here]
    return lines


def points_in(text: str) -> Iterator[Point]:
    """Yield the points of an earlier gist, which come before everything said since."""
    named = {word: section for section, words in _HEADINGS.items() for word in words}
    section = ""
    for order, line in enumerate(text.splitlines()):
        plain = line.removeprefix("| ").strip()
        if plain.endswith(":") and plain[:-1] in named:
            section = named[plain[:-1]]
        elif plain.startswith("- ") and section:
            weight = _WEIGHT.get(section, 0.3)
            # Before every turn of the chat: numbers of turns begin at 1.
            yield Point(section, plain[2:].strip(), weight, order - 10**6)


def allowed(points: Iterable[Point], objection: Callable[[Draft], str]) -> Iterator[Point]:
    """Yield the points that no gate objects to: no secrets, nothing that was forgotten."""
    for point in points:
        quote = point.quote or Quote("earlier", 1, point.text)
        # The line has the speaker's name in front, which stands in no turn.
        words = quote.text if point.section == "said" else point.text
        draft = _build_draft(words, quote)
        if not objection(draft):
            yield point


def _build_draft(words: str, quote: Quote) -> Draft:
    lang = Lang(language_of(words))
    return Draft(
        type=CardType.FACT,
        key="",
        title=words[:60],
        value=words,
        quotes=(quote,),
        at=EPOCH,
        lang=lang,
    )


def tongue(texts: Sequence[str]) -> Lang:
    """Return the language most texts are in."""
    counts: Mapping[str, int] = Counter(map(language_of, texts))
    return Lang(max(("en", "zh"), key=lambda lang: counts.get(lang, 0)))
