"""Proposals for the identity page: who the agent is, its mission, beliefs and abilities.

Why it exists: people tell an agent who it is and what it is for, and rules that held all
week are what it stands for. None of that changes the page before a person says yes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time
from typing import NamedTuple

from kimi_memory import hookimpl
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import Op, Step, WeekView
from kimi_memory.domain.note import CardType, Lang, Quote, Source, Status
from kimi_memory.domain.pages import IDENTITY_PATH, Digest, DigestLine, Identity, Part, Proposal
from kimi_memory.formats.card_form import Cards, Head
from kimi_memory.nlp.basic.patterns import normalise, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.dates.vocabulary import day_in
from kimi_memory.nlp.rules.framing import orders_for_always

SURE = 0.75
"""From this confidence on a card may be proposed as a belief or an ability."""
LONGEST = 240
"""What is longer is an instruction for one piece of work, and no line of an identity."""
_ROLES = (
    r"assistant|agent|helper|companion|tutor|teacher|coach|partner|engineer|developer|programmer|"
    r"editor|reviewer|secretary|butler|copilot|bot|colleague|teammate|advis[eo]r|analyst"
)
_ROLES_ZH = (
    "助手|助理|管家|教练|老师|搭档|伙伴|智能体|机器人|秘书|工程师|程序员|顾问|编辑|队友|同事"
)
_WHO = regex(
    r"^(?:from now on,? |hi,? |hello,? |hey,? )?you(?:'re| are|'ll be| will be)(?: called| named)? "
    r"(?!(?:\w+ing|right|wrong|correct|welcome|sure|so|very|done|too)\b)"
    rf"(?P<en>(?:(?:my|our|the|an?) )?[^.!?]{{0,60}}?\b(?:{_ROLES})\b[^.!?]*)"
    r"|^(?:from now on,? )?(?:your name (?:is|will be)|i(?:'ll| will) call you) "
    r"(?P<name>(?-i:[A-Z])[^.!?]*)"
    r"|^(?:从现在起|以后|今后)?[,，]?你就?(?:是|担任|扮演)"
    rf"(?P<zh>[^。！？?]{{0,30}}?(?:{_ROLES_ZH})[^。！？?]*)"
    r"|^(?:从现在起|以后|今后)?[,，]?(?:你的名字就?[是叫]|你就叫|你叫|我就?叫你)(?P<called>[^。！？?]+)",
    re.IGNORECASE,
)
_MISSION = regex(
    r"^your (?:main |only |real |overall |first )?(?:mission|purpose|role|job|responsibility) "
    r"(?:here )?(?:is|will be) (?:to )?(?P<en>[^.!?]{8,})"
    r"|^you(?:'re| are) here to (?P<to>[^.!?]{8,})"
    r"|^你的(?:使命|职责|责任|角色|工作|任务)(?:就?是|[:：])(?P<zh>[^。！？?]{4,})",
    re.IGNORECASE,
)
# "You are a great assistant", 你真是个好助手: thanks, and no order to be one.
_PRAISE = regex(
    r"\b(?:a|an|such|the) (?:\w+ )?(?:good|great|best|better|amazing|awesome|terrible|useless|bad|"
    r"worst|smart|wonderful|fantastic|helpful)\b|\bnot\b|n't\b|\?|？|吗|不是|好棒|真棒|真好|厉害|最好的"
    r"|很好的|糟糕|没用",
    re.IGNORECASE,
)
# "Your task is to fix the following test": a piece of work, not a mission.
_FOR_NOW = regex(
    r"\b(?:this|these|today|tonight|now|next|following|below|above|here|attached|currently|first"
    r"|tomorrow|by (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|[这此]|明天|(?:周|星期)[一二三四五六日天]|前完成|今天|现在|接下来|下面|以下|如下|上面|当前|本次|先",
    re.IGNORECASE,
)

_TAIL = regex(r",? from now on\W*$|[吧啦呗]\W*$", re.IGNORECASE)


class _Said(NamedTuple):
    """What a person said to the agent about itself."""

    section: str
    text: str
    """The words that tell it, cut out of the sentence."""
    line: DigestLine
    digest: Digest


@hookimpl
def consolidate_week(week: WeekView) -> list[Step]:
    """Propose what the week taught about the agent itself; a person says yes or no."""
    if week.identity is None:
        return []
    return [*_propose_stated(week, week.identity), *_propose_lasting(week, week.identity)]


def _propose_stated(week: WeekView, identity: Identity) -> Iterator[Step]:
    """Yield proposals of who the agent is and what it is for; the last word of a week counts."""
    last: dict[str, _Said] = {}
    for digest in sorted(week.digests, key=lambda digest: (digest.at, digest.id)):
        for line in digest.lines:
            # Words of the agent itself, and of people among themselves, say nothing about the
            # agent.
            if line.part is not Part.FOUND and line.first and not line.who:
                last |= {said.section: said for said in _said_in(line, digest)}
    known = {"who": normalise(identity.who), "mission": normalise(identity.mission)}
    for section, said in last.items():
        if normalise(said.text) not in known[section]:
            turn = f"session:{said.digest.session}#{said.line.first}"
            proof = Source.from_quote(Quote(said.digest.session, said.line.first, said.text))
            about = _About(section, said.text, said.digest.lang, (proof,), f"said in {turn}")
            yield Step(Op.ADD, _make_proposal(about, turn, week), about.reason)


def _said_in(line: DigestLine, digest: Digest) -> Iterator[_Said]:
    for first, end in sentences(line.text):
        sentence = line.text[first:end].strip()
        if len(sentence) > LONGEST:
            continue
        if (found := _WHO.match(sentence)) and not _PRAISE.search(sentence):
            yield _Said("who", _matched_words(found), line, digest)
        if (found := _MISSION.match(sentence)) and not _FOR_NOW.search(_matched_words(found)):
            yield _Said("mission", _matched_words(found), line, digest)


def _matched_words(found: re.Match[str]) -> str:
    words = next(words for words in found.groups() if words)
    return _TAIL.sub("", words).strip(" ，,。.；;")


def _propose_lasting(week: WeekView, identity: Identity) -> Iterator[Step]:
    """Yield proposals of what held all week: rules as beliefs, what works as abilities."""
    known = {normalise(text) for text in (*identity.beliefs, *identity.abilities)}
    for card in Cards.of(week.cards).where(lambda head: _is_proposed(head, week)):
        text = _order_in(card.value) if card.type is CardType.RULE else card.value
        if normalise(text) not in known:
            known.add(normalise(text))
            reason = f"{card.id} ({card.key}), confidence {card.confidence:.2f}"
            section = _target_section(Head.of(card))
            about = _About(section, text, card.lang, card.sources, reason, card.title)
            yield Step(Op.ADD, _make_proposal(about, card.id, week), f"{card.id} held all week")


def _order_in(text: str) -> str:
    """Return the sentences of a card that order something; all of it where none does."""
    parts = [text[first:end].strip() for first, end in sentences(text)]
    return " ".join(part for part in parts if orders_for_always(part)) or text


def _is_proposed(head: Head, week: WeekView) -> bool:
    fresh = (
        head.verified is not None and week.first <= day_in(head.verified, week.zone) <= week.last
    )
    return fresh and bool(_target_section(head))


def _target_section(head: Head) -> str:
    """Return which part of the identity a card could become, if any."""
    if head.status is not Status.ACTIVE or head.confidence < SURE:
        return ""
    return {CardType.RULE: "beliefs", CardType.PATTERN: "abilities"}.get(head.type, "")


class _About(NamedTuple):
    """What is proposed, and why."""

    section: str
    text: str
    lang: Lang
    sources: tuple[Source, ...]
    reason: str
    title: str = ""


def _make_proposal(about: _About, seed: str, week: WeekView) -> Proposal:
    start = datetime.combine(week.first, time(), UTC)
    return Proposal(
        id=derived_id("proposal", start, seed, about.section),
        created=week.now,
        updated=week.now,
        status=Status.CANDIDATE,
        sources=about.sources,
        lang=about.lang,
        title=about.title or about.text[:60],
        target=IDENTITY_PATH,
        section=about.section,
        text=about.text,
        reason=about.reason,
    )
