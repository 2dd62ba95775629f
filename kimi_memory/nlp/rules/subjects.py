"""Whose what a sentence speaks of: "the port of Atlas", "Dana's birthday", 青鸾的端口.

A statement and its later change must meet under one key, however they are put. So the
name of the thing and of what is said of it are looked for in the forms that both
languages have for it; words of a table (`topics`) are the same in both.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import fold_case, language_of, regex, simplify
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules import possessive_en, possessive_zh
from kimi_memory.nlp.rules.attribute_nouns import is_lexical
from kimi_memory.nlp.rules.attributes import PERSONS, attribute_of, is_empty
from kimi_memory.nlp.rules.clause_form import strip_lead
from kimi_memory.nlp.rules.cues import split_reason
from kimi_memory.nlp.rules.entity_names import is_name, without_verb
from kimi_memory.nlp.rules.self_facts import self_of
from kimi_memory.nlp.rules.topics import KNOWN, topic_of

ME = "user"
"""Owner of what a person says of themselves."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a sentence is about."""

    owner: str
    """Slug of a name; ``user`` for the speaker; empty for what is ours."""
    attribute: str
    known: bool
    """Whether the attribute stands in the table of topics."""
    words: str
    """The words that name both, so that what is left is what is said of them."""
    name: str = ""
    noun: str = ""
    """Owner and attribute as the sentence has them."""
    value: str = ""
    """What is said, where the form of the sentence tells it from the rest."""
    start: int = 0
    end: int = 0
    """Where the words that name it stand in the simplified sentence."""

    @property
    def key(self) -> str:
        """The key of a card about it."""
        return f"{self.owner or 'fact'}.{self.attribute}"


_LONG_NOUN = 5
"""A run of so many characters may be more than a noun."""
_USED = regex(r"(?:都|统一|一律|就|只|全){0,2}用(?![了过完掉来前后到])")
_IS = regex(r"\b(?:is|are|will be)\b(?! (?:forbidden|not allowed|never|always)\b)|[是为]")
_I = regex(r"\b(?:i|my|me)\b|我(?!们)")
_WE = regex(r"\b(?:we|our|us|let's|everyone|everybody)\b|我们|咱们|大家|统一|团队")


@lru_cache(maxsize=4096)
def subject_of(sentence: str) -> Subject | None:
    """Return whose what a sentence speaks of, or None where it names neither."""
    text, zh = _normalise_sentence(sentence)
    grammar = possessive_zh if zh else possessive_en
    mine = own_of(sentence)
    # In Chinese 我 stands before what is mine; in English a name may own what follows.
    first, second = (mine, None) if zh else (None, mine)
    return first or _find_named_subject(text, zh=zh) or second or _find_our_subject(grammar, text)


@lru_cache(maxsize=64)
def own_of(sentence: str) -> Subject | None:
    """Return what of the speaker's own a sentence names first, or None.

    `subject_of` has more to look for, and may find that something else is meant.
    """
    text, zh = _normalise_sentence(sentence)
    return _find_self_subject(text) or _find_my_subject(
        (possessive_zh if zh else possessive_en).MY, text
    )


def _normalise_sentence(sentence: str) -> tuple[str, bool]:
    """Return a sentence as the grammars have it, and whether it is Chinese."""
    text = simplify(sentence.replace("’", "'"))
    return text, language_of(text) == "zh"


def _find_self_subject(text: str) -> Subject | None:
    told = self_of(text)
    if told is None:
        return None
    return Subject(ME, told.attribute, known=True, words=told.words, value=told.value)


SHARED = ("decision", "fact", "note")
PERSONAL = ("preference", "user", "note")
"""First words of keys under which the same matter may stand."""
_SWAPPED = {"reversal": "decision"}
_PREFIXES = frozenset({*SHARED, *PERSONAL, "rule", "lesson", "pattern", "finding", "task"})


def key_of(prefix: str, sentence: str, project: str = "") -> str:
    """Return the key of what a sentence says.

    Args:
        prefix: the first word of the key where nobody is named, such as ``decision``;
            with ``reversal`` it is ``decision``, or ``preference`` for a person's own habits.
        sentence: one statement.
        project: the project it was said in, which needs no naming.
    """
    sentence = strip_lead(sentence)
    subject = subject_of(split_reason(sentence)[0])
    if subject is None:
        return f"{_SWAPPED.get(prefix, prefix)}.{topic_of(sentence)}"
    if subject.owner == ME:
        habit = prefix == "preference" and subject.attribute in KNOWN
        return f"{prefix}.{subject.attribute}" if habit else subject.key
    if subject.owner and subject.owner != slug(project, 40):
        return subject.key
    if prefix == "preference" and subject.attribute not in PERSONS and _WE.search(sentence):
        prefix = "decision"  # What a team always uses is its choice.
    if prefix == "rule" and (_IS.search(fold_case(sentence)) or _is_used(sentence, subject)):
        prefix = "decision"  # "From now on the port is 9090" names a value, and forbids nothing.
    if prefix in ("fact", "reversal") and subject.attribute in PERSONS:
        low = fold_case(sentence)
        if _I.search(low) and not _WE.search(low):
            return f"preference.{subject.attribute}"
    return f"{_SWAPPED.get(prefix, prefix)}.{subject.attribute}"


def _is_used(sentence: str, subject: Subject) -> bool:
    """Whether a thing that has a name of its own is what is used: 以后主分支都用 trunk."""
    return subject.known and _USED.match(_normalise_sentence(sentence)[0], subject.end) is not None


def is_named(key: str) -> bool:
    """Whether a key begins with the name of a thing or a person, of any project."""
    return key.partition(".")[0] not in _PREFIXES


def kin(key: str) -> frozenset[str]:
    """Return the keys under which the same matter may stand, this one included."""
    first, _, rest = key.partition(".")
    near = [names for names in (SHARED, PERSONAL) if first in names]
    return frozenset({key, *(f"{name}.{rest}" for names in near for name in names if rest)})


def _find_named_subject(text: str, *, zh: bool) -> Subject | None:
    grammar = possessive_zh if zh else possessive_en
    for form in grammar.FORMS:
        for found in _yield_overlapping_matches(form, text, zh=zh):
            name = possessive_zh.bare_name(found["e"]) if zh else without_verb(found["e"])
            noun = found["a"] or found.groupdict().get("b") or ""
            attribute, known = attribute_of(noun)
            unsaid = not known and (
                (form in grammar.LOOSE and not is_lexical(noun))
                or is_empty(noun)
                or (
                    zh
                    and form not in possessive_zh.VALUED
                    and not _is_stated(text, found.start("e"), found.end("a"))
                )
            )
            unsaid = unsaid or (zh and _ends_attribute(text, found.end("e")))
            if is_name(name, zh=zh) and not unsaid:
                start, end = _subject_span(found, text)
                return Subject(
                    slug(name, 40), attribute, known, f"{name} {noun}", name, noun, "", start, end
                )
    return None


_RUN = regex(r"[\u3400-\u9fff]{2,8}$")


def _ends_attribute(text: str, end: int) -> bool:
    """Whether the Chinese words up to a place are what is known of things, as in 许可证：MIT."""
    run = _RUN.search(text, max(0, end - 8), end)
    return run is not None and attribute_of(run[0])[1]


def _yield_overlapping_matches(
    form: re.Pattern[str], text: str, *, zh: bool
) -> Iterator[re.Match[str]]:
    """Yield matches, each looked for behind the name of the one before."""
    found = form.search(text)
    while found:
        yield found
        # From behind the name, not behind the match: the next name may stand inside of this match.
        found = form.search(text, found.end("e") if zh else found.start("e") + 1)


# Between a name and a noun that stand together.
_GAP = regex(
    r"^(?:'s?)?(?: (?:project|team|service|server|system|app)(?:'s)?)?[,:]?(?: (?:(?:I|we) have|of|for|on|at|in|the|our|its|their|his|her|new|current|old|official|actual|real|right|I|we|that|which|gave|give|told|you|mentioned|project|team))* ?$"
    r"|^ ?(?:项目组?|团队|[这那][边里儿]|系统|服务|目前|现在|用|选|定)*的?(?:新的?|现在的|老|旧|这个)?[，,]?(?:它的|他的|她的|其)?$"
)


def _subject_span(found: re.Match[str], text: str) -> tuple[int, int]:
    """Return where a name and its noun stand; of two that stand apart, where the noun does."""
    name = found.span("e")
    noun = found.span("a" if found["a"] else "b")
    first, second = sorted((name, noun))
    together = _GAP.match(text[first[1] : second[0]])
    return (first[0], second[1]) if together else noun


def _is_stated(text: str, start: int, end: int) -> bool:
    """Whether something is said of a Chinese subject, after it or before it."""
    if possessive_zh.is_stated_after(text, end):
        return True
    return (
        not text[end:].strip("。.!！~ ") and possessive_zh.BEFORE.search(text[:start]) is not None
    )


def _find_my_subject(pattern: re.Pattern[str], text: str) -> Subject | None:
    found = pattern.search(text)
    if found is None:
        return None
    attribute, known = attribute_of(found["a"])
    if not known and is_empty(found["a"]):
        return None
    return Subject(
        ME, attribute, known, found[0], noun=found["a"], start=found.start(), end=found.end("a")
    )


def _find_our_subject(grammar: ModuleType, text: str) -> Subject | None:
    for form in (grammar.OUR, grammar.OURS):
        at = 0
        while found := form.search(text, at):
            at = found.start() + 1
            noun = next(word for word in found.groups() if word)
            group = found.lastgroup or "a"
            if grammar is possessive_zh and form is grammar.OUR and noun.isascii():
                continue  # Between Chinese words MySQL names a value.
            attribute, known = attribute_of(noun)
            zh = grammar is possessive_zh
            stated = not zh or _is_stated(text, found.start(group), found.end(group))
            short = noun.isascii() or len(noun) < _LONG_NOUN
            sure = known or is_lexical(noun)
            said = sure if form is grammar.OUR else not is_empty(noun) and stated
            if said and (stated or (known and short)):
                start, end = found.span(group)
                return Subject("", attribute, known, noun, noun=noun, start=start, end=end)
    return None
