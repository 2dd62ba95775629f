"""Whether a statement says no more than the words it rests on.

Words are compared, not meanings. Each part of a statement must share words with the turns
it quotes, most of its words must have been said by people or be quoted, and every figure
and name must stand in the window, all that was shown. So "it" may become the thing that it
means, 6万2 may become 6.2万, and no name, sum or cause is invented.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import HAN, fold_case, normalise, regex, simplify
from kimi_memory.nlp.rules.amounts import amounts_in, is_among
from kimi_memory.nlp.rules.cues import NEGATION

ENOUGH = 0.6
"""So much of a statement's words must stand in its evidence; the rest is grammar."""
HALF = 0.5
"""The same where the evidence is what a whole exchange says."""
SHARED = 0.4
"""So much of a statement stands in the very words that are quoted, where they are all there is."""
PART = 0.25
"""So much of each part of a statement must stand in the turns it quotes."""

_WORD = regex(r"[a-z][a-z0-9+#'’]*")
_HAN = regex(f"[{HAN}]")
_ENDING = regex(r"(?:'s|’s|ies|es|ed|ing|s|d|e)$")
# Capitals inside a word, or at its start where no sentence starts.
_NAME = regex(
    r"(?<![A-Za-z])[A-Z][A-Za-z0-9+#]*[A-Z0-9][A-Za-z0-9+#]*|(?<=[^.!?:\n] )[A-Z][a-z]{2,}"
)
_PARTS = regex(
    r"[,;:.!?]\s+|[，；：。！？]|(?<!\s)\s++(?:because|since|so that|due to|but)\s+"
    r"|因为|因此|所以|由于|但是?"
)
_DENIED = regex(
    r"\b(?:not?|never|without|cannot|can't|don't|doesn't|didn't|isn't|aren't|wasn't|won't"
    r"|no longer)\s+((?:[\w'+-]+\s*){1,3})"
)
_LIMIT = regex(
    r"\b(?:only|just|except|instead|rather than|stop(?:ped)?|drop(?:ped)?|remov|refus|incompatible"
    r"|dislik|hate|forbid|undo|revert)|只|仅|除|免|停|取消|讨厌|拒绝|忌"
)
_DENIED_HAN = regex(f"(?:不(?!过(?![敏期])|仅|但|同|错|断)|没有?|别|勿|禁止)([{HAN}]{{1,5}})")
_SMALL_WORDS = (
    "a an the is are was were be been am do does did has have had of to in on at for by with and "
    "or that this it its i you we they he she my your our their me us them will would should must "
    "can could please just really very also so then now not no as from when because user person "
    "team always never prefer prefers use uses used using like likes want wants decided decision"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_ANY_WORDS = "cli api ui id os db pc ai it url json pdf csv pr ci sql http phd"
_ANY = frozenset(_ANY_WORDS.split())
"""Short names that stand for a sort of thing."""
_SMALL_HAN = frozenset(
    "的了是在也就都很呢吗啊吧呀嘛地得着这那请我你他她它们用户团队和与或要会把被为以及使定"
)


def is_grounded(statement: str, evidence: str) -> bool:
    """Whether every figure and name, and most words, of a statement stand in its evidence.

    It compares words, not meaning: a statement made of other words than its evidence is
    refused, however true. Polarity is not looked at.
    """
    if unknown_figure(statement, evidence) or unknown_name(statement, evidence):
        return False
    told, proof = _fold_text(statement), _fold_text(evidence)
    # In a Chinese sentence every other word is the name of something.
    if _HAN.search(told) and not _find_stems(told) <= _find_stems(proof):
        return False
    return _measure_coverage(told, proof) >= ENOUGH


@dataclass(frozen=True, slots=True)
class Ground:
    """The words that a statement may rest on."""

    quoted: str
    """The turns it quotes, and the offer that one of them answers."""
    said: str
    """Those and all that people said."""
    window: str
    """All that was shown."""
    names: str = ""
    """Who takes part."""
    days: frozenset[date] = frozenset()
    """When the turns were said; a date may be worked out from one."""


def unfounded(statement: str, ground: Ground) -> str:
    """Return what of a statement stands on nothing that was said, or an empty string."""
    if figure := unknown_figure(statement, f"{ground.window}\n{ground.said}", ground.days):
        return f"whose figure {figure} nobody gave"
    if name := unknown_name(statement, f"{ground.window}\n{ground.said}\n{ground.names}"):
        return f"whose name {name} nobody said"
    told = _fold_text(statement)
    quoted, said = (_fold_text(f"{text}\n{ground.names}") for text in (ground.quoted, ground.said))
    if _measure_coverage(told, said) < HALF:
        return "which says more than its evidence"
    for part in _PARTS.split(told):
        if _count_words(part) > 1 and _measure_coverage(part, quoted) < PART:
            return f"of which “{part.strip()[:40]}” stands on nothing that it quotes"
    return ""


def unknown_figure(statement: str, window: str, days: Iterable[date] = ()) -> str:
    """Return a figure of a statement that a window neither holds nor amounts to."""
    known = amounts_in(_fold_text(window))
    told = amounts_in(_fold_text(statement))
    strange = (
        one for one in sorted(told.plain) if not is_among(one, known, days, dated=one in told.dated)
    )
    return next(strange, "")


def unknown_name(statement: str, window: str) -> str:
    """Return a name of a statement that does not stand in a window."""
    stems = _find_stems(_fold_text(window))
    names = (_fold_text(name) for name in _NAME.findall(statement))
    return next((name for name in names if not _find_stems(name) <= stems | _ANY), "")


def turned(statement: str, sentences: Sequence[str], ground: Ground) -> str:
    """Return a word whose denial a statement drops or makes up, or an empty string.

    Args:
        statement: what is to be kept.
        sentences: those its quotes stand in.
        ground: all words that it may rest on.
    """
    told = _fold_text(statement)
    if _find_denied_words(told):
        return "" if denies_any(ground.quoted) else min(_find_denied_words(told))
    if _LIMIT.search(told):
        return ""
    denied = _find_denied_words(_fold_text("\n".join(sentences)))
    plain = _bare_of_denial(_fold_text(ground.said))
    said = _bare_of_denial(told)
    return next((word for word in sorted(denied) if word in said and word not in plain), "")


def denies_any(text: str) -> bool:
    """Whether a text denies, refuses or leaves anything out."""
    low = fold_case(text)
    return NEGATION.search(low) is not None or _LIMIT.search(low) is not None


def shares(statement: str, quoted: str) -> bool:
    """Whether a statement says a good part of what is quoted for it."""
    return _measure_coverage(_fold_text(statement), _fold_text(quoted)) >= SHARED


def _find_denied_words(text: str) -> frozenset[str]:
    """Return the words that a text denies."""
    found = {stem for phrase in _DENIED.findall(text) for stem in _find_stems(phrase)}
    return frozenset(found | {run[:2] for run in _DENIED_HAN.findall(text) if len(run) > 1})


def _bare_of_denial(text: str) -> frozenset[str]:
    """Return the words of a text outside of its denials."""
    left = _DENIED_HAN.sub(" ", _DENIED.sub(" ", text))
    pairs = {left[at : at + 2] for at in range(len(left) - 1) if _HAN.match(left[at])}
    return frozenset(_find_stems(left) | pairs)


def denies(text: str) -> bool:
    """Whether a text denies something, twice denied aside."""
    return len(NEGATION.findall(fold_case(text))) % 2 == 1


def _fold_text(text: str) -> str:
    return simplify(normalise(text)).replace("’", "'")


def _measure_coverage(told: str, proof: str) -> float:
    """Return the share of the telling words of a text that stand in a proof."""
    words, stems = _find_stems(told), _find_stems(proof)
    han = [at for at, char in enumerate(told) if _HAN.match(char) and char not in _SMALL_HAN]
    known = sum(1.0 for word in words if word in stems)
    known += sum(_known_han(told, at, proof) for at in han)
    count = len(words) + len(han)
    return known / count if count else 0.0


def _known_han(told: str, at: int, proof: str) -> float:
    """Return 1 for a character that stands beside a neighbour in the proof, too, half alone."""
    pairs = (told[max(0, at - 1) : at + 1], told[at : at + 2])
    if any(len(pair) == 2 and pair in proof for pair in pairs):
        return 1.0
    return 0.5 if told[at] in proof else 0.0


def _count_words(part: str) -> int:
    return len(_find_stems(part)) + sum(c not in _SMALL_HAN for c in _HAN.findall(part)) // 2


def _find_stems(text: str) -> set[str]:
    return {_stem_word(word) for word in _WORD.findall(text) if word not in _SMALL}


def _stem_word(word: str) -> str:
    if len(word) > 6:
        return word[:6]
    return _ENDING.sub("", word) if len(word) > 4 else word
