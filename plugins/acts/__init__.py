"""Orders to the agent and decisions by an exchange: acts that are plain by their form.

Why it exists: "Never suggest flights before nine" is an order whatever its verb is, and
"B, please" decides what the agent offered as B. Neither holds a word that a list of words
would wait for. Between two people nothing is ordered of an agent, so there it is silent.
It wraps the distiller, whichever that is.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import replace

from kimi_memory import hookimpl
from kimi_memory.domain.draft import CHANGE, DATED, ORDER, Draft
from kimi_memory.domain.note import CardType, EventType, Quote, Role
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.nlp.basic.patterns import fold_case, language_of, regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.dates.named_days import is_of_these_days
from kimi_memory.nlp.dates.vocabulary import names_day, tells_life
from kimi_memory.nlp.rules import cues, hypotheticals, subjects
from kimi_memory.nlp.rules.assertions import states
from kimi_memory.nlp.rules.changed_later import SHARED, Changes, sets_free, tells_change
from kimi_memory.nlp.rules.chat_clauses import of_chat
from kimi_memory.nlp.rules.definitions import Definition, definitions_in, is_about
from kimi_memory.nlp.rules.lasting import gives_value, is_lasting, reports_trouble, tells_defect
from kimi_memory.nlp.rules.own_clauses import is_copied, leans, own_clauses, widen
from kimi_memory.nlp.rules.praise import is_of_thing_at_hand, only_praises, settles_nothing
from kimi_memory.nlp.rules.salience import traits_of, weight_of
from kimi_memory.nlp.rules.settled import wonders
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.small_talk import points_at_list
from kimi_memory.nlp.rules.stands_alone import asks_for_edit
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.subjects import is_named, key_of, subject_of
from kimi_memory.nlp.rules.utterance import Act, Clause, act_of, clauses, of_work

from .choices import find_agreed_order, find_choice, make_draft

MAX_VALUE = 300
"""Most characters of an order with what stands around it."""
_LEARNED = frozenset({CardType.GOTCHA, CardType.PATTERN})
MAX_DATED = 200
"""So long are the words around a day."""
SPECIFIC = 2
"""A statement of a day or a change names so many things."""
FREEING, TELLING, CHANGING, WEIGHTY = 1.0, 3.0, 3.4, 4.4
"""A permission, a statement with a day, a change, one among people weighs so much."""
LINES_OF_A_NOTE = 3
"""A message of so many clauses that nobody answers is a note."""

_BESIDE = (Act.STATEMENT,)

# A day may stand in what is still open: 周五还是周六, "considering the 12th".
_UNDECIDED = regex(
    r"\b(?:undecided|not decided|haven't decided|they offered|either"
    r"|thinking (?:about|of)|considering|talking about)\b|在考虑|没定|没想好|再说|还是",
    2,
)
_PROPOSED = regex(
    r"\b(?:what if|how about|why don['’]?t (?:we|i|you)|(?:maybe|perhaps) (?:we|i) (?:should|could)"
    r"|(?:we|i) (?:could|might) (?:always |also |just )?)\b"
    r"|(?:^|[，,。\s说])要不(?!是|断|停|到)|不如(?=[我咱干就把直别先])|何不",
    2,
)
"""What somebody only brings up: 要不干脆别做了, "what if we dropped it"."""
_WEIGHED = {cues.Bar.HYPOTHETICAL, cues.Bar.PLAN}
"""A change that is only thought of, proposed or asked not to be made is none."""
_EXAMPLE = regex(
    r"^(?:打个)?(?:比方|比如|例如|譬如)|^举个?例|^(?:for (?:example|instance)|e\.g\.|say,)"
)
_UNSETTLED = (cues.JOKE, cues.HEARSAY, _UNDECIDED, _PROPOSED, _EXAMPLE)


@hookimpl(wrapper=True)
def distil_session(
    transcript: Transcript,
) -> Generator[None, list[Draft] | None, list[Draft] | None]:
    """Add orders and picked offers to what was distilled."""
    drafts = yield
    if drafts is None:
        return None
    # "We use the following colours:" announces what it does not say.
    whole = (draft for draft in drafts if not draft.value.endswith((":", "：")))
    drafts = [draft for draft in whole if not _is_copied(draft, transcript)]
    drafts = _complete_notes(drafts, transcript)
    if transcript.has_agent_at_work():
        drafts = [draft for draft in drafts if not _is_passing(draft)]
    found = (act for act in _find_acts(transcript) if not _is_copied(act, transcript))
    acts = [act for act in found if not _is_read(act, drafts)]
    changes = _find_changes(transcript)
    over = {act.quotes[-1].n for act in acts if _is_changed(act, changes)}
    still = [act for act in acts if act.quotes[-1].n not in over]
    said = (turn for turn in transcript.turns if turn.is_speech)
    defined = [(turn.n, one) for turn in said for one in definitions_in(turn.text)]
    still = [_with_definition(act, defined) for act in still]
    merged = _merge_drafts([one for one in drafts if not _is_over(one, over)], still)
    return [one for one in merged if not _is_loose(one)]


def _is_loose(draft: Draft) -> bool:
    """Whether a draft is praise of advice, or a taste or a choice of the moment."""
    if draft.gone or len(draft.quotes) != 1:
        return False
    settled = draft.type in (CardType.RULE, CardType.PREFERENCE, CardType.DECISION)
    if points_at_list(draft.value):
        return True
    if draft.type is CardType.PREFERENCE and is_of_thing_at_hand(draft.quotes[0].text):
        return True
    return settles_nothing(draft.value) if settled else only_praises(draft.value)


def _is_copied(draft: Draft, transcript: Transcript) -> bool:
    """Whether a draft quotes a person with words of the agent's message before."""
    if len(draft.quotes) != 1:
        return False
    (quote,) = draft.quotes
    turn, before = transcript.turn(quote.n), transcript.turn(quote.n - 1)
    if turn is None or before is None or before.role is not Role.ASSISTANT or not turn.by_person:
        return False
    parts = own_clauses(quote.text)
    return bool(parts) and all(is_copied(one.text, before.text) for one in parts)


def _complete_notes(drafts: list[Draft], transcript: Transcript) -> list[Draft]:
    """Give what was drafted from a diary entry or a report the sentences around it.

    A sentence of a note leans on those before it ("He is as he always was"), and nobody is
    there to ask. It orders nothing of an agent either.
    """
    if not _is_unanswered(transcript):
        return drafts
    found: list[Draft] = []
    for draft in drafts:
        wide = _complete(draft, transcript)
        if wide is draft or not any(wide.value in one.value for one in found):
            found.append(wide)
    return found


def _is_unanswered(transcript: Transcript) -> bool:
    """Whether no agent speaks, so that a longer message is a note."""
    return all(turn.role is not Role.ASSISTANT for turn in transcript.turns)


def _complete(draft: Draft, transcript: Transcript) -> Draft:
    task = draft.type is CardType.TASK_STATE
    if len(draft.quotes) != 1 or draft.gone or task or _has_subject(draft):
        return draft
    (quote,) = draft.quotes
    turn = transcript.turn(quote.n)
    start = turn.text.find(quote.text) if turn is not None else -1
    if turn is None or start < 0 or " ".join(quote.text.split()) != draft.value:
        return draft
    own = own_clauses(turn.text)
    end = start + len(quote.text)
    within = [at for at, clause in enumerate(own) if clause.start < end and start < clause.end]
    if len(own) < LINES_OF_A_NOTE or not within:
        return draft
    limit = _max_context_chars(turn.text)
    words = turn.text[slice(*widen(own, within[0], within[-1], limit, tuple(Act)))].strip()
    value = " ".join(words.split())
    ordered = any(own[at].act is Act.ORDER for at in within)
    kind = CardType.FACT if draft.type is CardType.RULE and not ordered else draft.type
    quotes = (replace(quote, text=words),)
    return replace(draft, type=kind, value=value, title=headline(value), quotes=quotes)


def _is_passing(draft: Draft) -> bool:
    """Whether a draft is one of the work at hand: "I have a bug in a.py", 帮我改宽一点."""
    stated = draft.type in (CardType.FACT, CardType.DECISION) and len(draft.quotes) == 1
    if stated and not draft.gone and reports_trouble(draft.value):
        return True
    slot = slot_of(draft.value, project=draft.project)
    # 帮我把左侧区域改宽 names no region of a service: its holder is part of the request.
    filled = slot is not None and act_of(slot.which) is not Act.REQUEST
    if filled or is_lasting(draft.value):
        return False
    if draft.type is CardType.FACT:
        return not gives_value(draft.value) or asks_for_edit(draft.value)
    asked = clauses(draft.value)[:1]
    once = bool(asked) and asked[0].act in (Act.REQUEST, Act.QUESTION)
    once = once or asks_for_edit(draft.value)
    return once and draft.type is CardType.DECISION and len(draft.quotes) == 1


def _is_read(act: Draft, drafts: list[Draft]) -> bool:
    """Whether a decision, or a draft whose key names something, holds what a day or change says."""
    if not {CHANGE, DATED} & set(act.tags) or act.type is CardType.RULE:
        return False
    words = act.quotes[-1]
    return any(
        (quote.n, quote.session) == (words.n, words.session)
        and (quote.text in words.text or words.text in quote.text)
        and (draft.type is CardType.DECISION or draft.gone or _has_subject(draft))
        for draft in drafts
        for quote in draft.quotes
    )


def _has_subject(draft: Draft) -> bool:
    """Whether a draft says what it is about: by its key, or by the slot that it fills."""
    return is_named(draft.key) or slot_of(draft.value, project=draft.project) is not None


def _find_changes(transcript: Transcript) -> Changes:
    return Changes((turn.n, turn.text) for turn in transcript.turns if turn.is_speech)


def _is_changed(act: Draft, changes: Changes) -> bool:
    """Whether the same session changes an act later."""
    # An offer is long: one rare word is enough for a later change to mean it.
    shared = SHARED if act.type is CardType.RULE else 1
    return changes.after(act.quotes[-1].n, act.value, shared)


def _is_over(draft: Draft, over: set[int]) -> bool:
    """Whether a draft reads an order that was changed in the same session."""
    ordered = draft.type in (CardType.RULE, CardType.PREFERENCE) and not draft.gone
    return ordered and any(quote.n in over for quote in draft.quotes)


def _merge_drafts(drafts: list[Draft], acts: list[Draft]) -> list[Draft]:
    """Return both; an act takes the place of a weaker reading of the same words, no lesson's."""
    learned = {(q.session, q.n) for one in drafts if one.type in _LEARNED for q in one.quotes}
    # A lesson says what failed and why; the order it ends with would say only half of that.
    acts = [act for act in acts if not {(q.session, q.n) for q in act.quotes[-1:]} & learned]
    said = {(quote.session, quote.n): act for act in acts for quote in act.quotes[-1:]}
    kept = [one for one in drafts if one.gone or not _is_same(one, said)]
    return [*kept, *acts]


def _is_same(draft: Draft, acts: dict[tuple[str, int], Draft]) -> bool:
    """Whether a draft reads a clause that an act holds, under a key that names nothing."""
    return any(
        (act := acts.get((quote.session, quote.n))) is not None
        and not is_named(draft.key)
        and (quote.text in act.value or act.quotes[-1].text in quote.text)
        for quote in draft.quotes[-1:]
    )


def _find_acts(transcript: Transcript) -> Iterator[Draft]:
    named = transcript.has_several_people()
    at_work = transcript.has_agent_at_work()
    before: Turn | None = None
    alone = _is_unanswered(transcript)
    for turn in transcript.turns:
        if turn.is_speech and not at_work:
            beside = tuple(Act) if alone else _BESIDE
            yield from _find_plans_and_changes(transcript.session, turn, beside, named=named)
        if turn.is_speech and not named:
            orders = list(_find_orders(transcript.session, before, turn, at_work=at_work))
            yield from orders or find_agreed_order(transcript.session, before, turn)
            yield from find_choice(transcript.session, before, turn)
        before = turn if turn.role in (Role.USER, Role.ASSISTANT) else before


def _find_plans_and_changes(
    session: Session, turn: Turn, beside: Collection[Act], *, named: bool
) -> Iterator[Draft]:
    """Yield the plans and events of a turn whose day is named, and what it changes.

    Among people only what turns somebody's life is kept: they tell each other every day's
    small things, too.
    """
    own = own_clauses(turn.text)
    done = 0
    for at, clause in enumerate(own):
        freed = not named and sets_free(clause.text)
        change = freed or (not named and tells_change(clause.text))
        weighed = _is_weighed(clause.text, change=change)
        if clause.start < done or weighed or not (change or names_day(clause.text)):
            continue
        least = TELLING if names_day(clause.text) else FREEING if freed else CHANGING
        if not _is_plain(clause, named=named, least=least):
            continue
        start, done = clause.start, clause.end
        if not named:
            start, done = widen(own, at, at, _max_context_chars(turn.text), beside)
        words = turn.text[start:done].strip()
        # Words that lean on the sentence before, or announce a list, say nothing alone.
        # 不想再上班了，不知道该不该辞职 changes nothing yet.
        unsettled = change and wonders(words)
        # What happened this week stands in the digest: of a day that is over no card is of use.
        passing = not change and is_of_these_days(words, turn.at) and not tells_life(words)
        if unsettled or passing or cues.NEEDS_LEAD.search(words) or words.endswith((":", "：")):
            continue
        name = slug(headline(words), 40)
        draft = make_draft(session, turn, words, f"user.dates.{name}")
        draft = replace(draft, type=CardType.FACT, tags=(DATED,), event=EventType.FINDING)
        if change:
            draft = replace(draft, type=CardType.DECISION, key=f"decision.{name}")
            draft = replace(draft, event=EventType.DECISION, tags=(CHANGE,))
        if freed:
            draft = replace(draft, type=CardType.RULE, key=f"rule.{name}")
            draft = replace(draft, event=None, tags=(ORDER, CHANGE))
        yield replace(draft, importance=0.6, confidence=0.8, stated=True)


def _is_weighed(clause: str, *, change: bool) -> bool:
    """Whether a clause only supposes, proposes, or says what a thing had once."""
    bars = cues.bars_of(clause)
    if change:
        return bool(bars & _WEIGHED)
    # "Until last year it had Postgres" is no date of it; where I lived last year is of my life.
    subject = subject_of(clause) if cues.Bar.PAST in bars else None
    former = subject is not None and not subject.key.startswith("user.")
    return former or cues.Bar.HYPOTHETICAL in bars


def _with_definition(act: Draft, defined: Sequence[tuple[int, Definition]]) -> Draft:
    """Return a draft with what the name that it begins with was said to stand for before."""
    said = act.quotes[-1]
    for n, one in reversed(defined):
        if n < said.n and len(act.quotes) == 1 and is_about(act.value, one):
            quotes = (Quote(said.session, n, one.said), said)
            return replace(act, value=f"{act.value} ({one.body})", quotes=quotes)
    return act


def _max_context_chars(text: str) -> int:
    """Return how many characters may stand around a day: a hanzi says as much as two letters."""
    return MAX_DATED if language_of(text) == "zh" else 2 * MAX_DATED


def _is_plain(clause: Clause, *, named: bool, least: float) -> bool:
    """Whether a clause states something firmly enough for a card of its own."""
    traits = traits_of(clause.text)
    low = clause.text.lower()
    few = traits.specific < (SPECIFIC if least > FREEING else 1)
    if clause.act is not Act.STATEMENT or traits.doubt or few:
        return False
    # What only ends something says nothing of its own.
    ends = least > FREEING and subjects.takes_back(clause.text)
    if ends or tells_defect(clause.text) or any(words.search(low) for words in _UNSETTLED):
        return False
    if named:
        return tells_life(clause.text) and traits.me and weight_of(traits) >= WEIGHTY
    return weight_of(traits) >= least


def _find_orders(
    session: Session, before: Turn | None, turn: Turn, *, at_work: bool
) -> Iterator[Draft]:
    own = own_clauses(turn.text)
    if before is not None and before.role is Role.ASSISTANT:
        # Somebody who pastes the agent's words back quotes an order and gives none.
        own = [clause for clause in own if not is_copied(clause.text, before.text)]
    own = of_work(own) if at_work else of_chat(own)
    orders = [
        clause
        for clause in own
        if clause.act is Act.ORDER and not _is_keep_or_drop_order(clause.text)
    ]
    for group in _group_orders(orders):
        # "Never again!" orders something that only the talk around it names.
        if max(traits_of(one.text).words for one in group) < 3:
            continue
        start, end = group[0].start, group[-1].end
        # What stands beside an order to an agent at work is mostly the errand of the day.
        if not at_work or leans(turn.text[start:end]):
            beside = [_set_apart(one) for one in own]
            at = own.index(group[0]), own.index(group[-1])
            start, end = widen(beside, *at, MAX_VALUE, _BESIDE)
        words = turn.text[start:end]
        yield make_draft(session, turn, words, key_of("rule", group[0].text, session.project))


def _set_apart(clause: Clause) -> Clause:
    """Return a clause that no order takes in where it gives the value of a slot by itself."""
    subject = subject_of(clause.text) if clause.act is Act.STATEMENT else None
    apart = subject is not None and subject.known and states(clause.text, subject)
    return replace(clause, act=Act.REMARK) if apart else clause


def _group_orders(orders: Sequence[Clause]) -> list[list[Clause]]:
    """Return the orders of a turn, those near each other together: what stands apart is apart."""
    groups: list[list[Clause]] = []
    for order in orders:
        if groups and order.end - groups[-1][0].start <= MAX_VALUE:
            groups[-1].append(order)
        else:
            groups.append([order])
    return groups


def _is_keep_or_drop_order(text: str) -> bool:
    """Whether an order is about what is held to be so: to leave it, or to let go of it."""
    low = fold_case(text)
    return hypotheticals.REFUSAL.search(low) is not None or subjects.takes_back(text)
