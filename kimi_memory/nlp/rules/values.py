"""How a later value or claim stands to an earlier one: the same, finer, opposite, swapped, another.

Words are compared in their order with figures, units, dates and denials in one form
(`kimi_memory.nlp.rules.clause_form`). Only the same words agree; what is finer keeps every word.
"""

# ruff: noqa: E501, SIM905  lists of words are read by their groups, not by their width

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from enum import StrEnum

from kimi_memory.nlp.basic.patterns import language_of, regex
from kimi_memory.nlp.rules.clause_form import NOT, claim_words, plain_clause
from kimi_memory.nlp.rules.opposites import PAIRS, opposed
from kimi_memory.nlp.rules.slot_list import NOUNS
from kimi_memory.nlp.rules.slots import slot_of


class Relation(StrEnum):
    """How a later value stands to an earlier one."""

    SAME = "same"
    FINER = "finer"
    """The later keeps every word of the earlier and adds to it."""
    COARSER = "coarser"
    """The earlier says all of the later and more."""
    OPPOSITE = "opposite"
    """One denies what the other says, or says its antonym."""
    SWAPPED = "swapped"
    """The same words in other roles: A depends on B, B depends on A."""
    VALUE = "value"
    """The same claim with another figure, date or day."""
    OTHER = "other"


_CHECKED = regex(r"^(?:\d.*|md:.*|[dwkmy]:.*|t:.*|u:.*)$")
_TELLING = regex(r"^(?:.*\d.*|[dwkmyteu]:.*|[早晚午夜]|morning|evening|night|noon|daily|weekly)$")
_STRONG = regex(r"^(?:.*\d.*|[dwkmyteu]:.*)$")
_NAME = regex(r"(?<=[\w,;:&] )[A-Z][\w.+#-]*")
"""A name inside a sentence; at its beginning any word has a capital."""
_FRAMING = frozenset(
    """name keep use kind type own project team system number city place job work live got year old do being from now on everything code with to listen set note agreed decided
    put down jot keeping keep mind remember about team for record plan around that be will know so use period one thing please regarding by way just
    fixed assigned choice choose chose chosen picked selected settled decided decision confirmed stays remains stand happen asked checked
    official officially everyone everybody know known all we agree tell told let like fact thing settle final finally definitely sure certain certainly
    患 今 记 下 这 边 定 每 用 项 目 系 统 团 队 家 人 名 字 这 边 那 里 常 地 址 公 司 时 间 点 号 日 上 下 对 于 关 和 个 说
    确 设 敲 商 量 好 同 意 大 有 件 事 要 住 到 它 成 为 讲 提 话 告 诉 知 道 正 式 最 终 统 一""".split()
)
"""Words that put the same value in another way and add nothing to it."""
_PIECES = 3
"""In so many pieces at most an earlier claim in Chinese may stand in a later one."""


def compare_values(old: str, new: str) -> Relation:
    """Return how a later value of one slot stands to an earlier one."""
    return _compare_words(claim_words(old, whole=True), claim_words(new, whole=True), is_value=True)


def compare_claims(old: str, new: str) -> Relation:
    """Return how a later statement stands to an earlier one."""
    return _compare_words(claim_words(old), claim_words(new), is_value=False)


def compare_statements(old: str, new: str) -> Relation:
    """Return how a later statement stands to an earlier one, by the values of a common slot."""
    first, second = slot_of(old), slot_of(new)
    if first and second and first.key == second.key:
        return compare_values(first.comparable, second.comparable)
    return compare_claims(old, new)


def contradicts(old: str, new: str) -> bool:
    """Whether two statements of any subjects cannot both hold.

    That is only where one denies the very words of the other, or says their opposite.
    """
    if opposed(old, new):
        return True
    first, second = claim_words(old), claim_words(new)
    odd = (first.count(NOT) - second.count(NOT)) % 2
    return bool(odd) and _without_denial(first) == _without_denial(second) != ()


def tells_more(old: str, new: str) -> bool:
    """Whether a later statement of the same value adds words to an earlier one that tell of it."""
    if compare_claims(old, new) is not Relation.FINER:
        return False
    added = set(claim_words(new)) - set(claim_words(old)) - _FRAMING
    first, second = slot_of(old), slot_of(new)
    if first and second and second.called and not first.called:
        return True
    added -= {part for noun in NOUNS for part in noun.split()}
    # One word or character more is mostly another form of the same verb.
    return len(added) > 1 or any(map(_TELLING.match, added))


def same_told(old: str, new: str, subjects: str) -> bool:
    """Whether two statements tell the same of a subject that both name, in whatever form.

    Args:
        old: the earlier statement.
        new: the later one.
        subjects: the words that name the subject in both.
    """
    about = set(claim_words(subjects)) | _FRAMING
    plain = [plain_clause(text, zh=language_of(text) == "zh") for text in (old, new)]
    told = [[w for w in claim_words(text) if w not in about] for text in plain]
    if told[0] == told[1] and told[0]:
        return True  # Sofia's day off, the day off of Sofia: only the subject is put otherwise.
    first, second = map(Counter, told)
    if first == second and first:
        return compare_claims(old, new) is not Relation.SWAPPED
    if first[NOT] != second[NOT]:
        return False
    strong = [{w for w in words if _STRONG.match(w)} for words in (first, second)]
    if strong[0] or strong[1]:
        return strong[0] == strong[1]
    names = [set(claim_words(" ".join(_NAME.findall(text)))) - about for text in plain]
    # An otter in Berlin and a fox in Berlin share a name and not the value.
    rest = [words.keys() - named for words, named in zip((first, second), names, strict=True)]
    return bool(names[0]) and names[0] == names[1] and not all(rest)


def repeats_value(old: str, new: str) -> bool:
    """Whether one of two statements of a subject gives it the very value that stands in the other.

    Forms of which no list has all ("Berlin was fixed as the office") say the same value so.
    """
    return any(
        (slot := slot_of(one)) is not None
        and not slot.denied
        and _holds_words(claim_words(other), claim_words(slot.comparable, whole=True))
        for one, other in ((old, new), (new, old))
    )


def _holds_words(many: tuple[str, ...], few: tuple[str, ...]) -> bool:
    """Whether words stand together in others that deny nothing."""
    spans = (many[at : at + len(few)] for at in range(len(many) - len(few) + 1))
    return bool(few) and NOT not in many and few in spans


def _compare_words(old: tuple[str, ...], new: tuple[str, ...], *, is_value: bool) -> Relation:
    if old == new or not old or not new:
        return Relation.SAME if old == new and old else Relation.OTHER
    plain_old, plain_new = (_without_denial(words) for words in (old, new))
    if plain_old == plain_new:
        odd = (old.count(NOT) - new.count(NOT)) % 2
        return Relation.OPPOSITE if odd else Relation.SAME
    if Counter(old) == Counter(new):
        return Relation.SWAPPED
    steps = [
        s for s in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if s[0] != "equal"
    ]
    kinds = {step[0] for step in steps}
    if kinds == {"insert"}:
        added = [(step[3], step[4]) for step in steps]
        return _compare_added_words(old, new, added, is_value=is_value)
    if kinds == {"delete"}:
        left_out = [(step[1], step[2]) for step in steps]
        grown = _compare_added_words(new, old, left_out, is_value=is_value)
        return Relation.COARSER if grown is Relation.FINER else grown
    return _compare_replaced_words([(old[a:b], new[c:d]) for _, a, b, c, d in steps], old)


def _without_denial(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if word != NOT)


def _compare_added_words(
    few: tuple[str, ...], many: tuple[str, ...], runs: list[tuple[int, int]], *, is_value: bool
) -> Relation:
    """Return how many words stand to few that all stand in them, in order."""
    added = [many[start:end] for start, end in runs]
    # "Deploys to staging, never to production" only adds a clause to "deploys to staging".
    if any(_is_denial(words, runs[at], len(many)) for at, words in enumerate(added)):
        return Relation.OPPOSITE if sum(words.count(NOT) for words in added) % 2 else Relation.OTHER
    # Single hanzi are words here, and they stand in many sentences in the same order by accident.
    if _is_han(few) and len(_matching_block_sizes(few, many)) > (1 if is_value else _PIECES):
        return Relation.OTHER
    return Relation.FINER


def _is_denial(words: tuple[str, ...], run: tuple[int, int], length: int) -> bool:
    """Whether added words deny what they are added to, and not a thing of their own."""
    if NOT not in words:
        return False
    outside = run[0] == 0 or run[1] == length
    return not (outside and len(words) > words.count(NOT))


def _is_han(words: tuple[str, ...]) -> bool:
    return any("\u3400" <= word[0] <= "\u9fff" for word in words)


def _matching_block_sizes(few: tuple[str, ...], many: tuple[str, ...]) -> list[int]:
    blocks = SequenceMatcher(None, few, many, autojunk=False).get_matching_blocks()
    return [block.size for block in blocks if block.size]


def _compare_replaced_words(
    changed: list[tuple[tuple[str, ...], tuple[str, ...]]], old: tuple[str, ...]
) -> Relation:
    """Return how claims differ that each have words the other has not."""
    kept = len(old) - sum(len(before) for before, _ in changed)
    if len(changed) == 1 and kept >= len(changed[0][0]):
        before, after = (("" if _is_han(words) else " ").join(words) for words in changed[0])
        if frozenset((before, after)) in PAIRS:
            return Relation.OPPOSITE
    checked = [all(map(_CHECKED.match, before + after)) for before, after in changed]
    if all(checked) and kept > 0:
        return Relation.VALUE
    return Relation.OTHER
