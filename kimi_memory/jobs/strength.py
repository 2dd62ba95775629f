"""Drafts by the strength of their acts: kept, kept as candidates, or left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from kimi_memory.domain.brief import SELF
from kimi_memory.domain.draft import BY_WORDS, CHANGE, DATED, Draft
from kimi_memory.domain.note import CardType, Lang, Origin, Role
from kimi_memory.domain.session import Transcript, Turn
from kimi_memory.nlp.basic.patterns import fold_case, language_of, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.assertions import values_given
from kimi_memory.nlp.rules.attribute_nouns import is_lexical
from kimi_memory.nlp.rules.card_odds import is_kept
from kimi_memory.nlp.rules.changed_later import names_old
from kimi_memory.nlp.rules.chat_clauses import LONGEST
from kimi_memory.nlp.rules.entity_names import is_person_zh
from kimi_memory.nlp.rules.handed_over import is_handed_over
from kimi_memory.nlp.rules.lasting import is_lasting, reports_trouble
from kimi_memory.nlp.rules.led_in import is_any_led_in, stands_below_name
from kimi_memory.nlp.rules.odds import best_odds_of
from kimi_memory.nlp.rules.praise import is_of_thing_at_hand, praises
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.self_facts import OPEN, SINGLE
from kimi_memory.nlp.rules.settled import settles
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.stands_alone import (
    asks_for_edit,
    asks_for_help,
    gives_own_value,
    is_of_now,
    is_others_choice,
    is_reported,
    joins_value,
    only_names_habit,
    points_at_talk,
    scolds,
    speaks_of_moment,
    tells_wish,
    uses_agent,
)
from kimi_memory.nlp.rules.strength import Strength, strength_of
from kimi_memory.nlp.rules.subjects import ME, is_named, subject_of
from kimi_memory.nlp.rules.utterance import Act, Clause, clauses

_ASKED = regex(
    r"(?:^|[,.;:!，。；：！] ?)(?:please |pls |and |also |so |but |请|帮我|你|一定要?|务必|千万)*"
    r"(?:remember (?:that|this|:|my|our|the|to|i|we)"
    r"|don'?t (?:ever )?forget (?:that|my|our|the|i|we)|keep (?:this |that |it )?in mind"
    r"|(?:take |make a )?note (?:that|this|:)|for (?:future reference|the record)"
    r"|(?:add|put|write) (?:this|that|it) (?:to|in|into|down)\b|(?:put|note|jot|write) down\b"
    r"|(?:i'd like|i would like|i want) you to (?:note|know|remember)\b|let me tell you (?:that|:)"
    r"|(?:just )?so you know\b|fyi\b|for your information\b"
    r"|记住(?!了\W*(?:$|\n))|记下(?!了)|记一下|记牢|牢记|切记|(?:别|不要|勿)忘|记得(?!吗|你|我|上次)|记到|写进)",
    2,
)
_DECIDED = regex(
    r"\b(?:(?P<one>i)|we|the (?:team|board|group))(?:'ve| have)? "
    r"(?:all |now |finally |just |also )?(?:decided|agreed|voted|settled on)\b"
    r"|\bit (?:was|is|has been) (?:decided|agreed)\b"
    r"|(?:(?P<who>我(?!们))|我们|咱们|大家|团队|会上)"
    r"[^，。]{0,6}(?:决定|商定|说定|敲定|定下|定了)",
    2,
)
"""Words with which people say that they have decided something."""
_LEADS = regex(r"[^\S\n]*(?:[:：]|\n\s*(?:[-*•]|\(?\d{1,2}[.、)）]) ?\S)")
"""A colon or a list right behind a quote: the quote is the first half of what was said."""
_BOUND = regex(
    r"\b(?:just|but|only) not\b|\bonly (?:for|in|on|with|when)\b|除了|除非|只[有在能许]",
    2,
)
"""A bound beside a permission: what it leaves forbidden is an order."""
_LISTED = regex(r"(?:[-*•] |\*\*)")
"""An item of a list, or a bold name: a plan that somebody wrote down, and not what they say."""
_BOLD, _WRITTEN = regex(r"\*\*[^*\n]{1,120}\*\*"), 3
"""So many words in bold are no message that somebody typed."""
_ADVISES = regex(
    r"\bI(?:'d|’d| would)? (?:recommend|suggest|propose|advise)\b|我(?:建议|推荐|提议)"
)
UNLIKELY = -1.0
"""Below these log odds that a reader keeps the words, a line of a form is one."""
_FORM = regex(r"\w{1,20}(?: \w{1,20}){0,2}[:：]\s?\S{1,40}(?: \S{1,40}){0,2}$")
_LABEL = regex(r"^[ \t]{0,4}[A-Za-z]\w{0,20}(?: \w{1,20}){0,2}: ?\S", 8)  # MULTILINE
"""A line of a form or of a log: "Name: Ann Lee"."""
_ROW = regex(r"[^，。,.:：]{2,24}[:：]\s?[^，。,.:：]{1,24}$")
"""One row of a report: 平均时长：60分钟."""
_SHORT = {"zh": 32, "en": 64}
"""Most characters of a sentence that says no more than a value."""
_STATED = {"zh": 40, "en": 80}
"""Most characters of a sentence that gives a thing its value and says no more."""
_BEGINNING = 12
"""So many characters of a quote find its place."""
_SLOTS = (*SINGLE, *(f".{name}" for name in OPEN))


def graded(
    drafts: Iterable[Draft], changes_known: Callable[[Draft], bool] = lambda _: False
) -> tuple[list[Draft], list[str]]:
    """Return the drafts that may become notes, and a line for each that states nothing.

    What is weak is marked so that it becomes a candidate. A draft that ends something, a
    task, and what rests on no person's or agent's words are left as they are. So is a request
    to change what is known of a named thing: "please update the port of Larkspur to 8081".

    Args:
        drafts: what was proposed.
        changes_known: whether a draft gives another value to what is known under its key.
    """
    kept: list[Draft] = []
    left_out: list[str] = []
    for draft in drafts:
        asked = _asks_for_change(draft) and changes_known(draft)
        strength = Strength.STRONG if asked or _is_settled(draft) else _rate_strength(draft)
        if strength is Strength.NONE:
            left_out.append(f"{draft.key}: it states nothing")
        else:
            weak = strength is Strength.WEAK or (not asked and _leans_on_talk(draft))
            kept.append(replace(draft, weak=draft.weak or weak))
    return kept, left_out


def _asks_for_change(draft: Draft) -> bool:
    """Whether a draft is a request to give a named thing another value."""
    if not draft.reversal or not is_named(draft.key) or len(draft.quotes) != 1:
        return False
    said = clauses(draft.quotes[0].text)
    asks = bool(said) and all(one.act is Act.REQUEST for one in said)
    return asks and not traits_of(draft.value).doubt


def _leans_on_talk(draft: Draft) -> bool:
    """Whether an order, a decision or a taste does not hold by itself beyond the talk around it.

    It points at the talk, is asked for once, reports trouble, or is an item of a list.
    """
    if draft.gone or draft.origin is not Origin.HUMAN or len(draft.quotes) != 1:
        return False
    if any(is_loose(draft.value) for is_loose in _LOOSE.get(draft.type, ())):
        return True
    edits = draft.type in (CardType.FACT, CardType.DECISION) and asks_for_edit(draft.value)
    return (edits and not _fills_slot(draft)) or (draft.reversal and tells_wish(draft.value))


def _is_listed(value: str) -> bool:
    return _LISTED.match(value) is not None


def _is_praise(value: str) -> bool:
    return praises(value) and slot_of(value) is None


def _is_half(value: str) -> bool:
    return value.rstrip().endswith((";", "；"))


_LOOSE: Mapping[CardType, tuple[Callable[[str], bool], ...]] = {
    CardType.RULE: (is_of_now, points_at_talk, scolds),
    CardType.PREFERENCE: (only_names_habit, points_at_talk, is_of_thing_at_hand, praises),
    CardType.DECISION: (
        *(reports_trouble, uses_agent, asks_for_help, _is_listed, points_at_talk, scolds),
    ),
    CardType.FACT: (asks_for_help, scolds, _is_half, _is_praise),
    CardType.TASK_STATE: (_is_listed,),
}
"""By what each sort of draft shows that it is of the talk around it."""


def with_doubt(draft: Draft, turns: Mapping[int, Turn]) -> Draft:
    """Return a draft marked weak where its words may be somebody else's, or half of what was said.

    Args:
        draft: what was proposed.
        turns: the turns that its quotes are from, by their numbers.
    """
    said = fold_case("\n".join(quote.text for quote in draft.quotes))
    if draft.type is CardType.GOTCHA and not cues.LESSON.search(said):
        others = (turns.get(one.n) for one in draft.quotes)
        # A cause that only the agent named may be of another fault.
        if any(one and not one.by_person for one in others):
            return replace(draft, weak=True)
    task = draft.type is CardType.TASK_STATE and bool(draft.quotes) and not draft.gone
    if draft.weak or draft.origin is not Origin.HUMAN or (_is_settled(draft) and not task):
        return draft
    quote = draft.quotes[-1]
    turn = turns.get(quote.n)
    if turn is None or not turn.by_person:
        return draft
    # A quote may have other white space than its turn.
    at = max(turn.text.find(quote.text), turn.text.find(quote.text[:_BEGINNING]), 0)
    if task:
        # Tasks stand below a heading mostly; the name of somebody makes them theirs.
        return replace(draft, weak=stands_below_name(turn.text, at))
    written = draft.type is not CardType.RULE and len(_BOLD.findall(turn.text)) >= _WRITTEN
    if written or _stands_in_form(draft.value, turn.text):
        return replace(draft, weak=True)
    # What stands behind a colon, or in the list below, is the half that tells.
    end = at + len(quote.text)
    ahead = _LEADS.match(turn.text, end) is not None
    handed = _is_handed_over(turn, turns)
    return replace(draft, weak=ahead or handed or is_any_led_in(turn.text, at, end))


def _is_handed_over(turn: Turn, turns: Mapping[int, Turn]) -> bool:
    """Whether the turns before one say that it is a text, or ask for one."""
    before = turns.get(turn.n - 1)
    answers = before is not None and before.role is Role.ASSISTANT
    lead = turns.get(turn.n - 2) if answers else before
    asked = lead.text if lead is not None and lead.by_person else ""
    return is_handed_over(asked, before.text if answers and before is not None else "")


def with_odds(draft: Draft, *, chat: bool, change: bool = False) -> Draft:
    """Return a draft marked weak, if a reader would most likely not keep it.

    What was asked to be remembered, what gives a known thing its value, a decision that says
    so or has its reason, and a lesson are kept anyway.

    Args:
        draft: what was proposed.
        chat: whether it is from a chat with an assistant that only talks.
        change: whether it takes the place of something that is known.
    """
    # At work much is otherwise for an hour; in a chat a change is said once.
    by_words = not chat and draft.stated and bool(BY_WORDS & set(draft.tags))
    if draft.weak or _is_settled(replace(draft, stated=draft.stated and not by_words)):
        return draft
    if draft.origin is not Origin.HUMAN:
        # A row of an agent's report says of what only with the report.
        return replace(draft, weak=_ROW.match(draft.value) is not None)
    decided = draft.type is CardType.DECISION and _says_decided(draft.value, chat=chat)
    whole = draft.type in (CardType.GOTCHA, CardType.PATTERN) or draft.reason or decided
    # 记住今天不要再犯错 is said for this day.
    asked = any(_ASKED.search(quote.text) for quote in draft.quotes)
    asked = asked and not speaks_of_moment(draft.value)
    if whole or asked or _gives_value(draft):
        return draft
    of_user = draft.key.startswith(SELF)
    # What its words alone tell the topic of says plainly that something is so, or otherwise.
    plain = change or by_words
    kept = is_kept(draft.value, str(draft.type), chat=chat, of_user=of_user, change=plain)
    return replace(draft, weak=not kept)


def _says_decided(value: str, *, chat: bool) -> bool:
    """Whether people say that something is decided; one alone in a chat says so of the hour."""
    found = _DECIDED.search(value)
    return found is not None and not (chat and (found["one"] or found["who"]))


def _gives_value(draft: Draft) -> bool:
    """Whether a draft gives a thing of the list, or of a name, its value: "the CLI is in Zig"."""
    slot = slot_of(draft.value)
    if slot is not None and len(slot.value) > 1 and joins_value(draft.value):
        return True
    subject = subject_of(draft.value)
    if subject is None or len(draft.value) > _STATED[language_of(draft.value)]:
        return _is_of_known_thing(draft)
    # "2.4.1 is our version", "Osprey got Kelso as its customer": the value may stand anywhere.
    owned = subject.owner == ME and gives_own_value(draft.value)
    named = (owned or is_named(draft.key)) and bool(values_given(draft.value, subject))
    return named or subject.known or _is_of_known_thing(draft)


def _stands_in_form(value: str, text: str) -> bool:
    """Whether words are a line of a form or a log that somebody pasted, and name nobody."""
    if not _FORM.match(value) or traits_of(value).me:
        return False
    return len(_LABEL.findall(text)) > 1 and best_odds_of(value) < UNLIKELY


def with_chat_doubt(draft: Draft, *, scene: bool = False) -> Draft:
    """Return a draft of a chat with an assistant marked weak, but where its act is plain.

    Who has a text written, plays a game or thinks aloud picks options, tells of findings and
    names days all the time: of the cards that a reader judged, none of these was worth it. Plain
    are an order by its form, what fills a slot of the list, a taste, a decision in one
    sentence, and what was asked to be remembered.

    Args:
        draft: what was proposed.
        scene: whether the talk is a game or a scene, where only what was asked for is so.
    """
    proven = draft.stated and not BY_WORDS & set(draft.tags)
    if draft.weak or proven or draft.gone or not draft.quotes:
        return draft
    if draft.origin is not Origin.HUMAN:
        # "I recommend a structured order" is a move of the hour, even where it is agreed to.
        advised = draft.type is CardType.DECISION and _ADVISES.search(draft.value) is not None
        return replace(draft, weak=advised)
    if any(_ASKED.search(quote.text) for quote in draft.quotes):
        return draft
    apart = draft.type in (CardType.PREFERENCE, CardType.ENTITY, CardType.TASK_STATE)
    return replace(draft, weak=scene or not (apart or _is_plain(draft)))


def _is_plain(draft: Draft) -> bool:
    """Whether a draft says plainly what shall hold, without a word of somebody else's."""
    if draft.type is CardType.RULE:
        if CHANGE in draft.tags:
            # Leave alone orders nothing; leave with a bound does: "fine for guests, not for us".
            plain = names_old(draft.value) or _BOUND.search(draft.value) is not None
        else:
            said = (one for quote in draft.quotes for one in clauses(quote.text))
            short = len(draft.value) <= LONGEST[language_of(draft.value)]
            plain = short or any(_is_short_order(one) for one in said)
        return plain and not is_reported(draft.value)
    # In a long sentence a thing is named by the way, but where it is decided.
    short = len(draft.value) <= _STATED[language_of(draft.value)]
    whole = short if draft.type is CardType.FACT else len(draft.quotes) == 1
    if whole and _is_of_known_thing(draft):
        return True
    if draft.type is CardType.FACT:
        if DATED in draft.tags:
            alone = len(sentences(draft.value)) <= 2
            return is_lasting(draft.value) or (alone and traits_of(draft.value).kin)
        filled = draft.key.endswith(_SLOTS) or gives_own_value(draft.value)
        return filled or (slot_of(draft.value) is not None and joins_value(draft.value))
    if draft.type is not CardType.DECISION:
        return True
    changes = CHANGE in draft.tags
    plain = is_named(draft.key) if changes else settles(draft.value, at_work=False)
    return plain and len(draft.quotes) == 1 and not is_others_choice(draft.value)


def _is_short_order(clause: Clause) -> bool:
    """Whether a clause orders something in fewer words than a dictation or a page has."""
    return clause.act is Act.ORDER and len(clause.text) <= 2 * LONGEST[language_of(clause.text)]


def _is_of_known_thing(draft: Draft) -> bool:
    """Whether a draft gives its value to something of the list, of a name or of ours."""
    subject = subject_of(draft.value)
    if subject is None or not draft.key.endswith(f".{subject.attribute}"):
        return False
    values = values_given(draft.value, subject)
    if not values or subject.known or is_lexical(subject.noun):
        return bool(values)
    # What no list has is given a value by a short sentence; a long one only brings it in.
    short = len(draft.value) <= _SHORT[language_of(draft.value)] and subject.owner != ME
    return (short and is_person_zh(subject.name)) or any(
        char.isdigit() for value in values for char in value
    )


def with_holder(draft: Draft, transcript: Transcript) -> Draft:
    """Return a draft that names who said it, where several people speak."""
    turn = transcript.turn(draft.quotes[-1].n) if draft.quotes else None
    if turn is None or not turn.speaker or turn.speaker in draft.value or draft.gone:
        return draft
    mark = "：" if draft.lang is Lang.ZH else ": "
    who = f"{turn.speaker}{mark}"
    # What people tell each other to do is no rule for an agent.
    weak = draft.weak or draft.type is CardType.RULE
    return replace(draft, value=f"{who}{draft.value}", title=f"{who}{draft.title}", weak=weak)


def _is_settled(draft: Draft) -> bool:
    return (
        draft.gone
        or draft.stated
        or draft.type is CardType.TASK_STATE
        or not draft.quotes
        or draft.origin not in (Origin.HUMAN, Origin.AGENT)
    )


def _rate_strength(draft: Draft) -> Strength:
    if draft.type is CardType.DECISION and len(draft.quotes) > 1:
        # Who agrees to what an agent proposes decides it; who picks of its list mostly says what
        # to do next.
        return Strength.STRONG if draft.origin is Origin.AGENT else Strength.WEAK
    # An answer says the rest of what it answers: then the value is the whole of it.
    text = draft.quotes[0].text if len(draft.quotes) == 1 else draft.value
    # 不用了 ends something, and names nothing.
    ends = draft.reversal and traits_of(text).specific > 0
    return strength_of(
        text,
        str(draft.type),
        asked=_ASKED.search(text) is not None,
        slot=ends or _fills_slot(draft) or _is_of_known_thing(draft),
    )


def _fills_slot(draft: Draft) -> bool:
    named = is_named(draft.key) or draft.key.endswith(_SLOTS)
    return named or slot_of(draft.value) is not None
