"""What a person plainly states of a thing, a person or the project, and takes back.

Why it exists: most of what is worth knowing later is said in passing ("the port of
Atlas is 8080") and changed in passing ("Atlas's port is 9090 now"), or taken back
("forget what I said about the port", 别再记这个了). A statement counts when it names
what it is about, and a value; its key is the same however it is put, so that the next
value meets it. It wraps the distiller, whichever that is.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from kimi_memory import hookimpl
from kimi_memory.domain.draft import CHANGE, DATED, Draft, category_of, said_in
from kimi_memory.domain.note import CardType, Lang, Origin, Quote, Role
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.nlp.basic.patterns import fold_case, language_of, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.dates.vocabulary import names_day
from kimi_memory.nlp.rules import cues, subjects
from kimi_memory.nlp.rules.assertions import states
from kimi_memory.nlp.rules.changed_later import tells_change
from kimi_memory.nlp.rules.coreference import completed, denies
from kimi_memory.nlp.rules.cues import Bar
from kimi_memory.nlp.rules.pasted import foreign_spans, spoken
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.subjects import is_named, key_of, kin, subject_of
from kimi_memory.nlp.rules.topics import KNOWN
from kimi_memory.nlp.rules.utterance import Act, act_of

MAX_TURN = 2500
"""A longer turn of a person is a paste or a template, not speech."""
SHORT = 240
"""In a longer turn a sentence says itself what it is about."""
REACH = 6
"""So many turns back "forget that" looks for what was said."""
_MARKS = regex(r"[“”「」『』\"`>|#]")
"""Words between such marks may be somebody else's."""
_LEANS = regex(
    r"\W*(?:and |so |but )?(?:it|its|it's|their|his|her|this|that|these|those)\b|\W*[它他她这那]", 2
)
"""A sentence that begins so says whose value it gives only with the one before it."""
_TAGS = ((DATED, names_day), (CHANGE, tells_change))
"""What makes a later statement able to take the place of a fact, though it says it otherwise."""
_LABEL = regex(r"\W*(?:\d{1,2}|[A-Da-d])\W*")
_COUNTS = regex(
    r"\b(?:how (?:many|much)|(?:what|which) (?:number|version|port|age|time))\b"
    r"|几|多少|端口|版本|号",
    2,
)
VALUE = 40
"""The value of a slot has no more characters; what is longer is a story."""
_PASSING = frozenset({Bar.FLEETING, Bar.FINISHED})

_HAVE = regex(r"\b(we (?:don'?t|do not|no longer) have) (?:a|an|any)\b", 2)
# 应该是 is a doubt, but not in 说错了，应该是 9090.
_CORRECTS = regex(r"说错|弄错|记错|搞错|更正|纠正|不是")


@dataclass(frozen=True, slots=True)
class _Line:
    """One sentence of a person, or of whom a person answers."""

    turn: Turn
    text: str

    @property
    def human(self) -> bool:
        return self.turn.by_person

    @property
    def barred(self) -> bool:
        corrects = {Bar.HEDGE} if _CORRECTS.search(self.text) else set()
        return bool(cues.bars_of(self.text) - _PASSING - corrects)


@hookimpl(wrapper=True)
def distil_session(
    transcript: Transcript,
) -> Generator[None, list[Draft] | None, list[Draft] | None]:
    """Add plain statements to what was distilled, and let go what is taken back later."""
    drafts = yield
    return None if drafts is None else _merge_statements(transcript, drafts)


def _merge_statements(transcript: Transcript, drafts: list[Draft]) -> list[Draft]:
    lines = list(_yield_lines(transcript))
    quoted = {quote for draft in drafts if not _is_loose(draft) for quote in draft.quotes}
    gone = list(_taken_back(transcript, lines, drafts))
    apart = {quote for draft in gone for quote in draft.quotes}
    chat = transcript.has_several_people()
    facts = (
        []
        if chat
        else [*_find_facts(transcript, lines, quoted | apart), *_find_answers(transcript)]
    )
    told = {quote for fact in facts for quote in fact.quotes}
    rest = [one for one in drafts if not (told & set(one.quotes) and not _is_apart(one, facts))]
    kept = [draft for draft in (*rest, *facts) if not apart & set(draft.quotes)]
    standing = [draft for draft in kept if not any(_is_retracted(one, draft) for one in gone)]
    return [*gone, *standing]


def _is_loose(draft: Draft) -> bool:
    """Whether a draft only says that something was found out or has happened."""
    return draft.key.startswith("finding.") or ".news." in draft.key


def _is_apart(draft: Draft, facts: list[Draft]) -> bool:
    """Whether a draft says something else than the facts in the same words."""
    return ".news." in draft.key or any(draft.key == fact.key for fact in facts)


def _find_answers(transcript: Transcript) -> Iterator[Draft]:
    """Yield the statement of a sentence that leaves its subject to the one before it."""
    before: Turn | None = None
    for turn in transcript.turns:
        if turn.role not in (Role.USER, Role.ASSISTANT):
            continue
        if turn.by_person and len(turn.text) <= SHORT:
            yield from _draft_answers(transcript.session, before, turn)
        before = turn


def _draft_answers(session: Session, before: Turn | None, turn: Turn) -> Iterator[Draft]:
    if _MARKS.search(turn.text) or foreign_spans(turn.text):
        return
    leads = [(before, _last_sentence(before))] if before is not None else []
    for start, end in sentences(turn.text):
        own = turn.text[start:end]
        # Only the sentence right before may lend its subject; further back it is guessing.
        for by, lead in leads[-1:]:
            draft = _draft_completed(session, (by, lead), (turn, own))
            if draft is not None:
                yield draft
        leads.append((turn, own))


def _draft_completed(
    session: Session, lead: tuple[Turn, str], told: tuple[Turn, str]
) -> Draft | None:
    """Return what a sentence says once its subject is taken from the one before it."""
    turn, own = told
    if _LABEL.fullmatch(own.strip()) and not _COUNTS.search(lead[1]):
        return None  # "2" picks an option.
    whole = completed(own, lead[1]) if lead[1] else ""
    line = _Line(turn, whole)
    if not whole or line.barred or not _is_fact(whole) or _Line(turn, own).barred:
        return None
    # "Do we use QMD as our backend? Run the checks.": nothing is answered by a request.
    if act_of(own) in (Act.REQUEST, Act.QUESTION):
        return None
    if cues.SECRET.search(fold_case(whole)):
        return None
    draft = _make_draft(session, line, key_of("fact", whole, session.project))
    quotes = tuple(Quote(session.id, by.n, text) for by, text in (lead, told))
    return replace(
        draft, quotes=quotes, value=whole, reversal=subjects.changes(whole) or denies(own)
    )


def _last_sentence(turn: Turn) -> str:
    """Return the last sentence of a turn that a person's next words may be about."""
    spans = sentences(turn.text)
    last = turn.text[spans[-1][0] : spans[-1][1]] if spans else ""
    # Of the agent's words a question may be answered; its statements are none of the person's.
    asks = last.rstrip().endswith(("?", "？"))
    return last if (turn.by_person or (asks and turn.origin is Origin.AGENT)) else ""


def _yield_lines(transcript: Transcript) -> Iterator[_Line]:
    for turn in transcript.turns:
        if turn.role in (Role.USER, Role.ASSISTANT) and len(turn.text) <= MAX_TURN:
            for start, end in spoken(turn.text, by_person=turn.role is Role.USER):
                text = turn.text[start:end]
                if not cues.SECRET.search(fold_case(text)):
                    yield _Line(turn, text)


def _find_facts(transcript: Transcript, lines: list[_Line], quoted: set[Quote]) -> list[Draft]:
    session = transcript.session
    found = []
    for line in lines:
        quote = Quote(session.id, line.turn.n, line.text)
        if line.human and quote not in quoted and not line.barred and _is_fact(line.text):
            draft = _make_draft(session, line, key_of("fact", line.text, session.project))
            tags = tuple(tag for tag, says in _TAGS if says(line.text))
            found.append(replace(draft, tags=tags, reversal=subjects.changes(line.text)))
    return found


def _is_fact(text: str) -> bool:
    own = cues.own_words(text)
    if own.strip() != fold_case(text).strip():
        return False  # Part of it is quoted.
    subject = subject_of(text)
    return (subject is not None and states(text, subject)) or _fills_slot(text)


def _fills_slot(text: str) -> bool:
    """Whether a sentence gives the one value of a slot: "The CLI is written in Go."."""
    slot = slot_of(text)
    if slot is None or slot.many or len(slot.value) > VALUE or _LEANS.match(text):
        return False
    return act_of(text) is Act.STATEMENT


def _taken_back(transcript: Transcript, lines: list[_Line], drafts: list[Draft]) -> Iterator[Draft]:
    for at, line in enumerate(lines):
        if not line.human or line.barred:
            continue
        key = _named_key(line, transcript.session.project) or _just_said(lines, at, drafts)
        if key:
            draft = _make_draft(transcript.session, line, key)
            yield replace(draft, gone=True, importance=1.0)


def _named_key(line: _Line, project: str) -> str:
    # "We don't have a cache any more" speaks of the one that we had.
    text = _HAVE.sub(r"\1 our", line.text)
    if subjects.takes_back(line.text) and subject_of(text) is not None:
        return key_of("fact", text, project)
    return ""


def _just_said(lines: list[_Line], at: int, drafts: list[Draft]) -> str:
    """Return the key of the statement right before a line that takes "this" back."""
    line = lines[at]
    if not subjects.takes_this_back(line.text):
        return ""
    near = [one for one in lines[:at] if line.turn.n - one.turn.n <= REACH]
    for one in reversed(near):
        known = [d.key for d in drafts if any(_rests_on(q, one) for q in d.quotes)]
        if known:
            return known[0]
        if subject_of(one.text) is not None:
            return key_of("fact", one.text)
    return ""


def _rests_on(quote: Quote, line: _Line) -> bool:
    return quote.n == line.turn.n and quote.text in line.text


def _is_retracted(gone: Draft, draft: Draft) -> bool:
    """Whether a draft says what is taken back later in the same session."""
    # What is said after taking a value back is the new value, and stays.
    return draft.key in kin(gone.key) and draft.quotes[-1].n < gone.quotes[0].n


def _make_draft(session: Session, line: _Line, key: str) -> Draft:
    value = cues.clean(line.text)
    topic = key.rpartition(".")[2]
    named = is_named(key)
    project = "" if named else session.project
    place = key.partition(".")[0] if named else category_of(project)
    return Draft(
        type=CardType.FACT,
        key=key,
        title=headline(value),
        value=value,
        lang=Lang(language_of(value)),
        importance=0.6,
        confidence=0.8,
        tags=(topic,) if topic in KNOWN else (),
        category="people" if key.startswith("user.") else place,
        project=project,
        **said_in(session, line.turn, line.text),
    )
