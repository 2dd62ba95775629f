"""Knowledge distilled from a session by rules, in Chinese and English.

Why it exists: memory must work whole without a model. Sentences are recognised by
what they do (decide, prefer, rule, fail, learn, find out, introduce somebody), and
everything passing, finished, doubted, asked, joking, reported or secret is left out.
What is kept is quoted word for word. A person's word outranks the agent's: of the
agent only proposals a person agreed to, measured findings and causes of failures
count, of imported or remote words only findings, with low trust.

Importance is the sum, at most 1, of

====  =====================================================================
0.50  every kept sentence
0.10  a rule, a lesson, or a decision
0.05  a pattern, a preference or a name
0.10  said or agreed to by a person; without that, minus 0.05
0.10  a reason or a lesson stands with it
0.05  a figure with its unit
0.05  emphasis (never, must, 务必, 一定 …)
0.05  it replaces what was so before
0.05  each time it is said again, at most 0.15
====  =====================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kimi_memory import hookimpl
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, EventType, Lang, Origin, Quote, Role, least_trusted
from kimi_memory.domain.session import Transcript, Turn
from kimi_memory.nlp.basic.patterns import fold_case, language_of, regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules import cues, pasted, self_facts, subjects
from kimi_memory.nlp.rules.relations import similarity
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.subjects import is_named, key_of, subject_of
from kimi_memory.nlp.rules.topics import KNOWN, known_topic, name_of
from kimi_memory.nlp.rules.utterance import Act, act_of

MAX_TURN = 2500
"""A longer turn of a person is a paste or a template, not speech."""
REACH = 6
"""So many turns back a lesson looks for its failure."""
SAME = 0.8
"""From this similarity on, two values of a key are the same statement."""
# Prefix of the key, weight, and the event it is too.
_KINDS: dict[CardType, tuple[str, float, EventType | None]] = {
    CardType.DECISION: ("decision", 0.1, EventType.DECISION),
    CardType.RULE: ("rule", 0.1, None),
    CardType.GOTCHA: ("lesson", 0.1, EventType.FAILURE),
    CardType.PATTERN: ("pattern", 0.05, EventType.SUCCESS),
    CardType.PREFERENCE: ("preference", 0.05, None),
    CardType.FACT: ("finding", 0.0, EventType.FINDING),
    CardType.ENTITY: ("user", 0.05, None),
}
_TEMPLATE = regex(r"<(?:command-|system-|task-|relevant-memories|local-)|^#{1,3} ", re.MULTILINE)
_AMOUNT = regex(r"\d[\d,.]*(?: ?(?:ms|s|seconds|毫秒|秒|条|次|倍|人|块|字节|%)(?![a-z]))?")
_DANGLING = regex(r"^\W*(?:that )?(?:they|he|she|it|this|these)\b(?!:)|^\W*(?:它|他|她|这|那)")
_KEPT_WHATEVER = {cues.Bar.FLEETING, cues.Bar.FINISHED, cues.Bar.PLAN, cues.Bar.PAST}


@dataclass(frozen=True, slots=True)
class _Line:
    """One spoken sentence, and what may be made of it."""

    turn: Turn
    text: str
    own: str
    """Folded, with longer quotations blanked."""

    @property
    def bars(self) -> frozenset[cues.Bar]:
        return cues.bars_of(self.text)

    def says(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.own) is not None


@hookimpl(trylast=True)
def distil_session(transcript: Transcript) -> list[Draft]:
    """Distil decisions, preferences, rules, findings, lessons, patterns and people."""
    lines = _quotable_lines(transcript)
    scribe = _Scribe(transcript, lines, chat=transcript.has_several_people())
    return _rank_drafts(_merge_drafts(_drop_repeated(list(scribe.drafts()))))


def _quotable_lines(transcript: Transcript) -> list[_Line]:
    """Return the sentences that may be quoted; secrets and code are not among them."""
    lines = []
    for turn in transcript.turns:
        if turn.role not in {Role.USER, Role.ASSISTANT} or _is_pasted(turn):
            continue
        for start, end in pasted.spoken(turn.text, by_person=turn.role is Role.USER):
            text = turn.text[start:end]
            if not cues.SECRET.search(fold_case(text)):
                lines.append(_Line(turn, text, cues.own_words(text)))
    return lines


def _is_pasted(turn: Turn) -> bool:
    return turn.role is Role.USER and (
        len(turn.text) > MAX_TURN or _TEMPLATE.search(turn.text) is not None
    )


@dataclass(frozen=True, slots=True)
class _Scribe:
    """Writes drafts about the lines of one session."""

    transcript: Transcript
    lines: list[_Line]
    chat: bool
    """Whether several people speak, so that each owns what they say of themselves."""

    def drafts(self) -> Iterator[Draft]:
        """Yield a draft for every sentence worth keeping, in the order of the session."""
        for at, line in enumerate(self.lines):
            if not _is_notable(line):
                continue
            about = self._draft_people(line) if line.turn.by_person else []
            draft = None if about else self._draft_line(at, line)
            yield from [*about, *([draft] if draft else [])]

    def _draft_line(self, at: int, line: _Line) -> Draft | None:
        if line.turn.by_person:
            return self._of_person(at, line)
        if line.turn.role is Role.ASSISTANT and line.turn.origin is Origin.AGENT:
            return self._of_agent(at, line)
        return self._draft_finding(at, line) if _is_measured(line) else None

    def _of_person(self, at: int, line: _Line) -> Draft | None:
        story = self._draft_lesson(at, line) or self._draft_pattern(line)
        story = story or self._draft_mishap(line)
        if story is not None or line.bars:
            return story or (self._draft_finding(at, line) if line.says(cues.FINDING) else None)
        for type, pattern in (
            (CardType.PREFERENCE, cues.PREFERENCE),
            (CardType.RULE, cues.RULE),
            (CardType.DECISION, cues.DECISION),
        ):
            advises = type is CardType.DECISION and line.says(cues.ADVICE)
            if line.says(pattern) and not advises:
                return self._draft_choice(at, line, type, None)
        if line.says(cues.REVERSAL) and known_topic(line.own):
            return self._draft_choice(at, line, CardType.DECISION, None)
        return self._draft_finding(at, line) if line.says(cues.FINDING) else None

    def _of_agent(self, at: int, line: _Line) -> Draft | None:
        if line.says(cues.PROPOSAL):
            yes = self._find_assent(at)
            return self._draft_choice(at, line, CardType.DECISION, yes) if yes else None
        if not _is_measured(line):
            return None
        # In a chat its figures are what it teaches.
        at_work = self.transcript.session.project or self.transcript.has_agent_at_work()
        return self._draft_finding(at, line) if at_work else None

    def _find_assent(self, at: int) -> _Line | None:
        """Return the sentence by which a person agrees to the last proposal of a turn."""
        turn = self.lines[at].turn
        rest = [line for line in self.lines[at + 1 :][:40] if line.turn.n > turn.n]
        later = [line for line in self.lines[at + 1 :][:40] if line.turn.n == turn.n]
        if any(line.says(cues.PROPOSAL) for line in later):
            return None
        reply = next((t for t in self.transcript.turns if t.n > turn.n), None)
        if reply is None or reply.role is not Role.USER or len(reply.text) > 80:
            return None
        words = fold_case(reply.text.strip())
        if not cues.ASSENT.search(words) or cues.DISSENT.search(words):
            return None
        found = next((line for line in rest if line.turn.n == reply.n), None)
        return found or _Line(reply, reply.text.strip(), words)

    def _draft_choice(self, at: int, line: _Line, type: CardType, yes: _Line | None) -> Draft:
        reason = cues.split_reason(line.text)[1] or self._reason_after(at)
        personal = self.chat and type is not CardType.RULE
        owner = f"{slug(line.turn.speaker, 30)}." if personal else ""
        swap = type is CardType.DECISION and line.turn.by_person and not line.says(cues.DECISION)
        prefix = "reversal" if swap else _KINDS[type][0]
        key = owner + key_of(prefix, line.text, self.transcript.session.project)
        draft = self._write_draft(type, key, line, reason=reason, also=yes)
        if not owner and is_named(key):
            # "From now on the port of Atlas is 9090" tells how things are, and orders nothing.
            told = type is CardType.RULE and act_of(line.text) is Act.STATEMENT
            kind = CardType.FACT if told else type
            draft = replace(draft, type=kind, project="", category=key.partition(".")[0])
        value = cues.offered(line.text) if yes else draft.value
        swaps = line.says(cues.REVERSAL) or (line.says(cues.INSTEAD) and type is CardType.DECISION)
        swaps = swaps or (subject_of(line.text) is not None and subjects.changes(line.text))
        return replace(draft, value=value, title=headline(value), reversal=swaps)

    def _reason_after(self, at: int) -> str:
        for line in self.lines[at + 1 : at + 2]:
            same = line.turn.n == self.lines[at].turn.n
            if same and not line.bars and line.says(cues.REASON_OPENS):
                return line.text
        return ""

    def _draft_lesson(self, at: int, line: _Line) -> Draft | None:
        strong = line.says(cues.LESSON)
        if not strong and not line.says(cues.WEAK_LESSON):
            return None
        failure, cause = self._find_failure(at)
        if failure is None and not strong:
            return None
        topic = known_topic(line.own) or name_of(cues.clean(line.text))
        told = cause or failure
        draft = self._write_draft(CardType.GOTCHA, f"lesson.{topic}", line, also=told)
        return replace(
            draft,
            outcome=cues.clean(failure.text) if failure and failure is not told else "",
            reason=cues.clean(told.text) if told else "",
            lesson=cues.clean(line.text),
            at=line.turn.at,
        )

    def _draft_mishap(self, line: _Line) -> Draft | None:
        """Return a failure a person tells with its cause in one breath."""
        if not (line.says(cues.FAILURE) and cues.split_reason(line.text)[1]):
            return None
        topic = known_topic(line.own) or name_of(cues.clean(line.text))
        draft = self._write_draft(CardType.GOTCHA, f"lesson.{topic}", line)
        return replace(draft, reason=cues.split_reason(line.text)[1])

    def _find_failure(self, at: int) -> tuple[_Line | None, _Line | None]:
        """Return the nearest failure before a lesson, and its cause."""
        first = self.lines[at].turn.n - REACH
        near = [
            line
            for line in self.lines[max(0, at - 24) : at]
            if line.turn.n >= first and not line.bars - _KEPT_WHATEVER
        ]
        cause = next((one for one in reversed(near) if _is_cause(one)), None)
        failure = next((one for one in reversed(near) if one.says(cues.FAILURE)), None)
        return failure or cause, cause

    def _draft_pattern(self, line: _Line) -> Draft | None:
        if not (line.says(cues.SUCCESS) and line.says(cues.REUSE)):
            return None
        topic = known_topic(line.own) or name_of(cues.clean(line.text))
        return self._write_draft(CardType.PATTERN, f"pattern.{topic}", line)

    def _draft_finding(self, at: int, line: _Line) -> Draft | None:
        told = cues.FINDING.split(line.own, maxsplit=1)[-1]
        broken = line.says(cues.FAILURE) and not line.says(cues.FIGURE)
        if len(line.text) < 8 or broken or _DANGLING.search(told):
            return None
        draft = self._write_draft(CardType.FACT, f"finding.{name_of(_strip_figures(line))}", line)
        return replace(draft, reason=self._reason_after(at))

    def _draft_people(self, line: _Line) -> list[Draft]:
        """Draft what a person says of themselves; updates may be of a passing day."""
        told = self_facts.introduced(line.text)
        return [
            self._draft_person(line, known, words)
            for known, words in told
            if known.news or not line.bars
        ]

    def _draft_person(self, line: _Line, known: self_facts.Known, words: str) -> Draft:
        owner = slug(line.turn.speaker, 30) if self.chat else "user"
        type = CardType.ENTITY if known.entity else CardType.FACT
        name = name_of(self_facts.cut_to_statement(words), 3)
        several = f".{name}" if known.slot in self_facts.OPEN else ""
        value = cues.clean(words)
        return replace(
            self._write_draft(type, f"{owner}.{known.slot}{several}", line),
            value=value,
            title=headline(value),
            lang=Lang(language_of(value)),
            # Each fact of a sentence rests on its own clause, so that none hides another.
            quotes=(Quote(self.transcript.session.id, line.turn.n, words),),
            category="people",
            event=EventType.FINDING if known.news else None,
            reversal=f".{known.slot}" in self_facts.SINGLE and subjects.changes(words),
        )

    def _write_draft(
        self, type: CardType, key: str, line: _Line, *, reason: str = "", also: _Line | None = None
    ) -> Draft:
        spoken = sorted((line, also) if also else (line,), key=lambda one: one.turn.n)
        value, topic = cues.clean(line.text), key.rpartition(".")[2]
        return Draft(
            type=type,
            key=key,
            title=headline(value),
            value=value,
            quotes=tuple(Quote(self.transcript.session.id, one.turn.n, one.text) for one in spoken),
            at=max(one.turn.at for one in spoken),
            lang=Lang(language_of(value)),
            event=_KINDS[type][2],
            reason=reason,
            importance=_rate_importance(type, line, told=bool(reason or also), by=spoken),
            confidence=_rate_confidence(spoken),
            origin=least_trusted([one.turn.origin for one in spoken]),
            tags=(topic,) if topic in KNOWN else (),
            category=self._choose_category(type, topic),
            project=self.transcript.session.project,
            participants=tuple(dict.fromkeys(self._speaker_name(one.turn) for one in spoken)),
        )

    def _speaker_name(self, turn: Turn) -> str:
        of = self.transcript.session
        return turn.speaker or (of.user if turn.role is Role.USER else of.agent) or str(turn.role)

    def _choose_category(self, type: CardType, topic: str) -> str:
        if type is CardType.PREFERENCE:
            return "preferences"
        project = self.transcript.session.project
        if project:
            return slug(project, 40)
        return "engineering" if topic in KNOWN else "general"


def _is_notable(line: _Line) -> bool:
    """Whether a line may be worth keeping; most of an agent's many lines are not."""
    if not (line.turn.by_person or line.says(cues.PROPOSAL) or line.says(cues.MEASURED)):
        return False
    return not line.bars - _KEPT_WHATEVER


def _is_measured(line: _Line) -> bool:
    return not line.bars and line.says(cues.MEASURED) and line.says(cues.FIGURE)


def _is_cause(line: _Line) -> bool:
    return line.says(cues.CAUSE) and (line.says(cues.FAILURE) or not line.turn.by_person)


def _strip_figures(line: _Line) -> str:
    """Return a finding without its figures, so that a new measurement has the same name."""
    return _AMOUNT.sub(" ", cues.FINDING.sub(" ", line.own))


def _rate_importance(type: CardType, line: _Line, *, told: bool, by: list[_Line]) -> float:
    person = any(one.turn.by_person for one in by)
    weight = 0.5 + _KINDS[type][1] + (0.1 if person else -0.05)
    weight += 0.1 * told + 0.05 * line.says(cues.FIGURE) + 0.05 * line.says(cues.EMPHASIS)
    return round(min(1.0, weight + 0.05 * line.says(cues.REVERSAL)), 2)


def _rate_confidence(by: list[_Line]) -> float:
    # A draft is as weak as its weakest quote: words of the web gain no trust beside a person's.
    if any(one.turn.origin.rank > Origin.AGENT.rank for one in by):
        return 0.3
    if all(one.turn.by_person for one in by):
        return 0.8
    return 0.7 if any(one.turn.by_person for one in by) else 0.5


def _drop_repeated(drafts: list[Draft]) -> list[Draft]:
    """Drop failures that a lesson also names."""
    told = {quote for draft in drafts if draft.lesson for quote in draft.quotes}
    return [
        d for d in drafts if d.type is not CardType.GOTCHA or d.lesson or d.quotes[0] not in told
    ]


def _merge_drafts(drafts: list[Draft]) -> list[Draft]:
    """Let the latest choice of a key stand; saying the same again makes it weigh more."""
    kept: dict[str, Draft] = {}
    for new in drafts:
        before = kept.get(new.key)
        apart = before is not None and not (
            similarity(before.value, new.value) >= SAME or _has_one_value(new)
        )
        draft = replace(new, key=f"{new.key}.{name_of(new.value, 3)}") if apart else new
        known = kept.get(draft.key)
        again = known is not None and similarity(known.value, draft.value) >= SAME
        kept[draft.key] = _merge_repeated(known, draft) if known and again else draft
    return list(kept.values())


def _has_one_value(draft: Draft) -> bool:
    """Whether a key holds one choice at a time, so that another value takes its place."""
    choice = draft.type in {CardType.DECISION, CardType.PREFERENCE} or draft.reversal
    known = choice and draft.key.rpartition(".")[2] in KNOWN
    return known or is_named(draft.key) or draft.key.endswith(self_facts.SINGLE)


def _merge_repeated(before: Draft, draft: Draft) -> Draft:
    longer = max(draft, before, key=lambda one: len(one.value))
    most = max(before.importance, draft.importance)
    return replace(
        longer,
        quotes=tuple(dict.fromkeys((*before.quotes, *draft.quotes)))[:4],
        at=draft.at,
        importance=round(min(1.0, most + 0.05, longer.importance + 0.15), 2),
        reason=draft.reason or before.reason,
        reversal=before.reversal or draft.reversal,
    )


def _rank_drafts(drafts: list[Draft]) -> list[Draft]:
    return sorted(drafts, key=lambda d: (-d.importance, d.quotes[0].n, d.key))
