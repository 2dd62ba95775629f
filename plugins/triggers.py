"""What a person wants remembered at once: requests, preferences, decisions, who they are.

Why it exists: distilling waits for the end of a session, but "remember that …" should
count in the next sentence. Only spoken sentences of a human turn trigger, in Chinese
and in English; questions, jokes, hearsay, hypotheses, quotations, markup and masked
secrets do not. Keys are those of the distiller, so that both meet on one card.

Settings, in the user's own ``config.toml``::

    [plugins.triggers]
    min_chars = 10       # narrower than [capture] of the memory; Chinese characters count double
    max_chars = 200
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.draft import Draft, category_of, said_in
from kimi_memory.domain.note import CardType, Lang, Origin, Role
from kimi_memory.domain.session import Session, Turn
from kimi_memory.errors import PluginError
from kimi_memory.nlp.basic.patterns import HAN, fold_case, language_of, rare, regex, simplify
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules import cues, self_facts, subjects
from kimi_memory.nlp.rules.assertions import states
from kimi_memory.nlp.rules.cues import Bar
from kimi_memory.nlp.rules.pasted import own_sentences
from kimi_memory.nlp.rules.strip_code import spoken_spans
from kimi_memory.nlp.rules.subjects import ME, is_named, key_of, own_of, subject_of
from kimi_memory.nlp.rules.topics import known_topic, name_of

# Hits "remember: …", "don't forget that …", 帮我记一下…; of 记得 only the order, not 记得吗.
_REMEMBER = rare(
    r"(?:^|[,.;:!] ?|\b(?:please|pls|and|also|but|so|just|to|should|must|always) )remember\b"
    r"|\bdon'?t (?:you )?(?:ever )?forget\b|\bkeep (?:this |that |it )?in mind\b"
    r"|(?:^|[,.;:!] ?|\bplease )(?:take |make a )?note (?:that|this|of|:|,)|\bfor (?:future reference|the record)\b"
    r"|记住|记下|记好|记一下|记牢|牢记|切记|谨记|备忘|(?:别|不要|勿|不能)忘|帮我记"
    r"|(?:^|[，,。；：！\s]|请|要|得|你|务必|一定)记得(?!吗|你|我|上次|不)"
)
# Somebody remembers and asks for nothing: "I still remember when …", 我记得…, 忘记密码了.
_RECALLED = regex(
    r"\b(?:i|you|we|they|he|she|don't|can't|cannot|didn't|couldn't|to) (?:\w+ )?remember (?:when|how|if|whether|where|what|who)\b"
    r"|\b(?:i|we)(?:'ll| will|'d| would)? (?:always |never |still |just |vaguely )*(?:remember|forget)\b"
    r"|\bremember (?:when|how we|the time|me)\b|\b(?:i|we) (?:still |just |don't |can't |vaguely )?remember\b"
    r"|(?:还|不|没|(?<![帮给替让])我)(?:也|都|还|能)?记得|[不没]记住|记不住|忘记(?:了|密码)|记得吗"
)
# "I like jazz" is kept, "I like it" and "I like the idea" pass with the moment.
_LIKING = rare(
    r"\bi (?:really |also |still |quite )?(?:like|love|enjoy|adore)\b(?! (?:it|that|this|to know|the idea|how|what|where)\b)"
    r"|\bi(?:'d| would) rather\b|\bi want you to (?:always|never)\b"
    r"|我[^，。]{0,4}(?:最爱|爱(?:吃|喝|看|听|用|玩)|更想用|反感|不爱|厌恶|钟爱|钟情)|我(?:们)?从(?:来)?不(?!同)"
    r"|\b(?:always|never) (?:answer|reply|respond|address|call me|greet|speak)\b"
    r"|(?:以后|今后)[^，。]{0,6}[用以][^，。]{1,10}(?:回答|回复|跟我说|和我说)"
)
# "We haven't decided between …", 还没定: holds the words of a decision and is none.
_UNDECIDED = regex(
    r"\b(?:haven't|have not|hasn't|not|didn't|never) (?:yet |really )?(?:been )?(?:decided?|settled?|chosen|agreed?)\b|\bdecided nothing\b"
    r"|\bundecided\b|\bstill (?:discussing|deciding|debating|thinking|unsure)\b|\bno decision\b"
    r"|没(?:有)?(?:最后|完全)?(?:决定|定下|定好|想好|选定|敲定)|尚未(?:决定|确定|选定)|未定|还在(?:讨论|纠结|犹豫|想)"
)
_EMPHASIS = rare(
    r"\b(?:very |really |super |most |extremely )?important(?:ly)?\b(?: that\b| to (?:note|know|remember|keep|use|never|always|check)\b|:| thing| point)"
    r"|\bit(?:'s| is) (?:very |really |absolutely )?(?:crucial|critical|essential|mandatory) (?:that|to)\b"
    r"|(?:^|[,;:] ?)(?:important|critical|crucial)\b ?[:!]"
    r"|\b(?:we|you|it|they|everyone) must (?!have\b|be\b|feel\b|admit\b|say\b)"
    r"|(?:很|最|非常|特别|尤其|极其)(?:重要|关键)(?!吗)|重要(?:的是|提示|提醒|[：:])|关键(?:的是|在于|[：:])|务必|千万|一定要"
)
# "My editor is Helix", 我的时区是…. Not "in my opinion is", nor "my code is so slow".
_MINE = rare(
    r"(?<!in )(?<!of )(?<!for )(?<!to )(?<!on )\bmy (?P<en>[a-z][a-z -]{1,28}?)(?: (?:is|are|has changed to|changed to|has moved to)| ?:) (?!not |so |too |very |about |important|really )"
    r"|我(?:们)?(?:家)?的(?P<zh>[\u3400-\u9fff]{1,7}?)(?:现在|已经|以后|目前|暂定)?"
    r"(?:是|叫|为|换成了?|改成了?|变成了?|在[\u3400-\u9fff])"
)
# "My question is …", 我的想法是…: the form of a slot without a value worth keeping.
_NOT_A_SLOT = regex(
    r"\b(?:question|point|problem|issue|guess|opinion|understanding|mistake|fault|bad|concern|idea|plan|turn"
    r"|suggestion|thoughts?|code|tests?|build|internet|head|brain|hope|goal here|impression|worry|feeling"
    r"|computer|bus|train|flight|proposal|recommendation)$"
    r"|问题|意思|想法|理解|建议|疑问|错|锅|感觉|目的|猜测|观点|看法|代码|天|印象|提议|担心|电脑"
)
_SLOTS = {
    "邮箱": "email", "邮件地址": "email", "email address": "email", "e-mail": "email", "mail": "email",
    "电话": "phone", "手机": "phone", "手机号": "phone", "手机号码": "phone", "电话号码": "phone",
    "phone number": "phone", "number": "phone", "cell": "phone", "地址": "address", "家庭住址": "address",
    "时区": "timezone", "time zone": "timezone", "生日": "birthday", "名字": "name", "微信": "wechat",
    "微信号": "wechat", "母语": "native-language", "native language": "native-language", "职业": "job",
    "工作": "job", "老板": "boss", "领导": "boss", "manager": "boss", "团队": "team", "公司": "company",
}  # fmt: skip
# The counts have limits, or a long run of letters would take its length squared.
_CONTACT = regex(r"[\w.+-]{1,64}@[\w-]{1,63}\.[a-z]{2}|\+?\d(?:[ -]?\d){9,14}")
_REACH_ME = regex(
    r"\b(?:my|reach me|contact me|call me|mail me|email me|write to me)\b|我的|联系我|打给我|找我"
)
_MARKUP = regex(r"</?[a-z][\w-]*(?:\s[^<>]*)?/?>", re.IGNORECASE)
# Three letters at least between single quotes, so that "don't" and "I'm" open none.
_QUOTED = regex(
    r"[“「『][^”」』\n]{0,300}[”」』]|\"[^\"\n]*\"|(?<![\w])'[^'\n]{3,}'(?!\w)|`[^`\n]*`"
)
_HAN = regex(f"[{HAN}]")
_NOT_NOW = frozenset({Bar.PLAN, Bar.PAST})
_UNASKED = frozenset({Bar.FLEETING, Bar.FINISHED, Bar.HEDGE, Bar.HEARSAY, *_NOT_NOW})
"""What bars a sentence unless its speaker asks to remember it."""
_THAT = regex(
    r"^(?:(?:and|so|but|also),? )?(?:please |pls )?(?:remember|(?:do not|don['’]?t) (?:ever )?forget|keep in mind|(?:take |make a )?note)"
    r"(?: (?:that|this))?[:,]? +|^(?:请|你|帮我|一定要?|务必|千万)*(?:记住|记得|记一下|记下|牢记|切记|谨记|(?:别|不要)忘(?:了|记)?)[了，,：:\s]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Sort:
    """One sort of memory a sentence can trigger."""

    type: CardType
    prefix: str
    tag: str
    importance: float
    confidence: float


_PREFERENCE = _Sort(CardType.PREFERENCE, "preference", "preference", 0.7, 0.8)
_RULE = _Sort(CardType.RULE, "rule", "preference", 0.75, 0.8)
_DECISION = _Sort(CardType.DECISION, "decision", "decision", 0.75, 0.8)
_REVERSAL = _Sort(CardType.DECISION, "reversal", "decision", 0.75, 0.8)
_ENTITY = _Sort(CardType.ENTITY, "user", "entity", 0.7, 0.8)
_FACT = _Sort(CardType.FACT, "user", "fact", 0.65, 0.75)
_NOTE = _Sort(CardType.FACT, "note", "other", 0.6, 0.6)
_GONE = _Sort(CardType.FACT, "gone", "retraction", 1.0, 1.0)
_CHOICES = (
    (_PREFERENCE, cues.PREFERENCE),
    (_PREFERENCE, _LIKING),
    (_RULE, cues.RULE),
    (_DECISION, cues.DECISION),
    (_REVERSAL, cues.REVERSAL),
)


@dataclass(frozen=True, slots=True)
class Triggers:
    """The plugin with its window of lengths."""

    min_chars: int = 0
    max_chars: int = 1 << 30

    @hookimpl
    def capture_turn(self, turn: Turn, session: Session) -> list[Draft]:
        """Return a draft for every sentence of a human turn that asks to be kept."""
        if not self._may_trigger(turn):
            return []
        # People who talk with each other remind each other: "remember to eat something".
        if turn.speaker not in ("", session.user):
            return []
        # Most turns state nothing, and whose words they are takes five times as long to find.
        spoken = (turn.text[start:end] for start, end in spoken_spans(turn.text))
        if not any(_find_sort(one, _is_asked(one), session.project) for one in spoken):
            return []
        return [
            _make_draft(turn, session, text, found, asked)
            for text in _yield_sentences(turn.text)
            if (found := _match_trigger(text, asked := _is_asked(text), session.project))
            is not None
        ]

    def _may_trigger(self, turn: Turn) -> bool:
        if turn.role is not Role.USER or turn.origin is not Origin.HUMAN:
            return False
        size = len(turn.text) + len(_HAN.findall(turn.text))
        fits = self.min_chars <= size <= self.max_chars
        return fits and not _MARKUP.search(turn.text)


SETTINGS = ("min_chars", "max_chars")
"""What may stand in ``[plugins.triggers]``."""


def create(settings: Mapping[str, Any]) -> Triggers:
    """Make the plugin with the window of lengths that the user chose.

    Raises:
        PluginError: a length is no whole number.
    """
    chosen = {name: settings[name] for name in ("min_chars", "max_chars") if name in settings}
    for name, value in chosen.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise PluginError(f"[plugins.triggers] {name} is {value!r}. Give a whole number.")
    return Triggers(**chosen)


def _yield_sentences(text: str) -> Iterator[str]:
    return (text[start:end] for start, end in own_sentences(text))


@lru_cache(maxsize=64)
def _fold_sentence(sentence: str) -> str:
    """Return a sentence for matching: simplified, lower case, quotations blanked."""
    low = fold_case(simplify(sentence))
    return _QUOTED.sub(lambda found: " " * len(found[0]), low)


def _is_asked(sentence: str) -> bool:
    """Whether the speaker asks to remember, rather than tells of remembering."""
    own = _fold_sentence(sentence)
    return _REMEMBER.search(own) is not None and _RECALLED.search(own) is None


def _match_trigger(sentence: str, asked: bool, project: str) -> tuple[_Sort, str] | None:
    """Return what sort of memory a sentence is and its key, or None."""
    found = _find_sort(sentence, asked, project)
    return None if found is None or _is_barred(sentence, asked) else found


def _find_sort(sentence: str, asked: bool, project: str) -> tuple[_Sort, str] | None:
    """Return what sort of memory a sentence would be and its key, whatever bars it."""
    own = _fold_sentence(sentence)
    contact = _match_contact(own)
    claim = _THAT.sub("", sentence)
    # From the most certain form to the loosest: "my phone is …" is a way to reach somebody before
    # it is a slot, and a slot before it is a note.
    return (
        (_ENTITY, contact)
        if contact
        else _match_retraction(claim, project)
        or _match_person(own)
        or _match_choice(own, claim, project)
        or _match_own_slot(own, claim)
        or _match_note(own, asked, claim, project)
    )


def _is_barred(sentence: str, asked: bool) -> bool:
    """Whether something in a sentence that would trigger says that it should not."""
    own = _fold_sentence(sentence)
    contact = _match_contact(own)
    bars = cues.bars_of(simplify(sentence))
    # A telephone number looks like a secret; its owner gave it to be reached.
    if contact:
        return not bars <= {Bar.SECRET}
    reported = asked and _is_reported(own)
    return (
        reported
        or bool(bars - (_UNASKED if asked else frozenset()))
        or bool(_UNDECIDED.search(own))
    )


def _is_reported(own: str) -> bool:
    """Whether it is somebody else's words that ask to remember."""
    who, ask = cues.HEARSAY.search(own), _REMEMBER.search(own)
    return who is not None and ask is not None and who.start() < ask.start()


def _match_contact(own: str) -> str:
    """Return the key of a way to reach the speaker that was not masked."""
    found = _CONTACT.search(own)
    if found is None or not _REACH_ME.search(own) or "⟦redacted" in own:
        return ""
    return "user.email" if "@" in found[0] else "user.phone"


def _match_person(own: str) -> tuple[_Sort, str] | None:
    told = self_facts.introduced(own)
    if not told:
        return None
    known, words = told[0]
    # Hobbies and the like hold several values at a time, so the value is in the key.
    several = (
        f".{name_of(self_facts.cut_to_statement(words), 3)}"
        if known.slot in self_facts.OPEN
        else ""
    )
    return (_ENTITY if known.entity else _FACT), f"user.{known.slot}{several}"


def _match_retraction(claim: str, project: str) -> tuple[_Sort, str] | None:
    """Return the key of what the speaker takes back, where it is named."""
    if subjects.takes_back(claim) and subject_of(claim) is not None:
        return _GONE, key_of("fact", claim, project)
    return None


def _match_choice(own: str, claim: str, project: str) -> tuple[_Sort, str] | None:
    for sort, pattern in _CHOICES:
        if pattern.search(own):
            return sort, key_of(sort.prefix, claim, project)
    return None


def _match_own_slot(own: str, claim: str) -> tuple[_Sort, str] | None:
    """Return the slot that "my … is …" fills, so that a new value meets the old one."""
    found = _MINE.search(own)
    if found is None and own_of(claim) is None:
        return None
    subject = subject_of(claim)
    if subject is not None and subject.known and states(claim, subject):
        if subject.owner == ME:
            return _FACT, subject.key
        if found is not None and not subject.owner:
            return _FACT, key_of("fact", claim)
    slot = (found["en"] or found["zh"] or "").strip() if found else ""
    if not slot or _NOT_A_SLOT.search(slot):
        return None
    return _FACT, f"user.{_SLOTS.get(slot) or known_topic(slot) or slug(slot, 40)}"


def _match_note(own: str, asked: bool, claim: str, project: str) -> tuple[_Sort, str] | None:
    if not asked and not _EMPHASIS.search(own):
        return None
    # A plan, or what was so once, is worth a note when asked for, but states no value.
    if subject_of(claim) is not None and not cues.bars_of(claim) & _NOT_NOW:
        return _NOTE, key_of("note", claim, project)
    plain = _EMPHASIS.sub(" ", _REMEMBER.sub(" ", own))
    return _NOTE, f"note.{known_topic(plain) or name_of(plain)}"


def _make_draft(
    turn: Turn, session: Session, sentence: str, found: tuple[_Sort, str], asked: bool
) -> Draft:
    sort, key = found
    value = cues.clean(sentence)
    own = _fold_sentence(sentence)
    return Draft(
        type=sort.type,
        key=key,
        title=_shorten_title(_THAT.sub("", value) or value),
        value=value,
        lang=Lang(language_of(value)),
        importance=min(1.0, sort.importance + (0.15 if asked else 0.0)),
        confidence=min(1.0, sort.confidence + (0.15 if asked else 0.0)),
        reversal=cues.REVERSAL.search(own) is not None or _is_change(key, sentence),
        gone=sort is _GONE,
        tags=(sort.tag,),
        category=key.partition(".")[0] if is_named(key) else _choose_category(sort, session),
        project="" if is_named(key) else session.project,
        **said_in(session, turn, sentence),
    )


def _is_change(key: str, sentence: str) -> bool:
    """Whether a sentence gives something that holds one value at a time a new one."""
    one = subject_of(sentence) is not None or key.endswith(self_facts.SINGLE)
    return one and subjects.changes(sentence)


def _choose_category(sort: _Sort, session: Session) -> str:
    if sort.prefix == "user":
        return "people"
    if sort.type is CardType.PREFERENCE:
        return "preferences"
    return category_of(session.project)


def _shorten_title(value: str) -> str:
    limit = 60 if value.isascii() else 32
    short = value if len(value) <= limit else f"{value[:limit].rstrip()}…"
    return short.rstrip(" .。,，;；!！")
