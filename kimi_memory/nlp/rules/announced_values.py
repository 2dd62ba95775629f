"""Find the values that a word for secrets announces, wherever it stands and whatever they are.

The rules of `kimi_memory.nlp.rules.secret_rules` know how vendors write their keys and how people
mostly tell a password. Here stand candidates in any form: behind a word of the family of
*password*, *token* or *code*, or before it, in names of fields and flags, in code, tables and
sentences. What such a word, what stands between and what the value looks like tell together
whether it is a secret is learned (`kimi_memory.nlp.learned.secrets`; the lines and the fit are in `benchmarks.secrets`).
"""

# ruff: noqa: E501  patterns are read as a table

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.learned.secrets import is_secret
from kimi_memory.nlp.rules.announced_signs import (
    ARROW,
    ENDS,
    JOINS,
    Candidate,
    Label,
    looks_of_phrase,
    signs_of_label,
    signs_of_value,
)
from kimi_memory.nlp.rules.credentials import ENDS as GOES_ON
from kimi_memory.nlp.rules.private_numbers import tells_of_programs
from kimi_memory.nlp.rules.secret_words import family_of, has_digit, is_fingerprint, looks_of

Place = tuple[int, int]

_LONGEST = 80
"""Characters between a word and the value that it announces, at most."""
_BACK = 48
"""Characters between a value and a word behind it that says what it is, at most."""
_FURTHEST_BACK = 88
"""Characters before a word in which such a value begins, at most."""
_WIDEST = 200
"""Characters of a candidate, at most."""
_MOST = 5
"""Candidates that are looked at behind one word."""
_STOPS = regex(r"[。！；]|[.!;](?:\s|$)|\n\s*\n|\n[^\n]{0,200}\n")
_BACK_STOPS = regex(r"[\n。！？；]|[.!?;]\s")
_SIGN = r"[^\s\"'`“”「」『』，。；、：（）【】《》！？⟦⟧|→]"
# Most words end at the first look: how a word for a digit begins.
_SPELLED = r"(?i:\b(?=[zotfsend]|[a-z]\b)(?:(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|double|triple|[a-z])\b[ ,-]{0,2}){3,16})|[零〇一二三四五六七八九幺]{4,12}"
_CANDIDATE = regex(
    r"\"(?P<double>[^\"\n]{3,120})\"|'(?P<single>[^'\n]{3,120})'|`(?P<tick>[^`\n]{3,120})`|[“「『](?P<curled>[^”」』\n]{3,60})[”」』]"
    rf"|(?P<spelled>{_SPELLED})"
    r"|\$\{\w{1,40}:?[-=](?P<default>[^}\s]{3,60})\}"
    r"|(?P<bytes>(?i:(?:0x[0-9a-f]{2}|\d{1,3})(?:\s?,\s?(?:0x[0-9a-f]{2}|\d{1,3})){7,63}))"
    r"|(?P<number>(?<![\w.,:/#-])[*#]?\d{1,6}(?:[ -]\d{1,6}){1,7}[*#]?(?![\w.:/-]))"
    rf"|(?P<word>[A-Za-z]{{3,199}}(?!{_SIGN}))|(?P<run>{_SIGN}{{3,200}})"
)
_NUMBER_WORDS = regex(_SPELLED)
_HAN = regex(r"[\u3400-\u9fff]")
_HAN_RUN = regex(r"[\u3400-\u9fff]{3,12}")
_ASCII_RUN = regex(r"[!-~\u00c0-\u024f]{3,200}")
_PHRASE = regex(r"[A-Za-z0-9]{1,14}(?:[ ,]{1,2}[A-Za-z0-9]{1,14}){1,11}$")
_SPLIT = regex(
    r"^[\w.-]{1,40}(?:=|:=)(?=[^=])|^[\w.@+-]{1,60}[/:](?=[^/:]{5,})|^-{1,2}[A-Za-z][\w-]{0,30}[=:]"
)
_NEXT_FIELD = regex(r"</|[&;,](?=[\w.-]{1,40}=)|[,;][^,;]{0,2}\Z|,(?=[A-Za-z]+\Z)")
"""Where the next field of a connection or of an address begins."""
_OPENING, _CLOSING = "([{<=:,;|*>&@-", ")]}>,;:.|*"
_IS = regex(r"\s(?:is|was|to)\s")
_PUBLIC = regex(r"\barn:|public|\bpub\b|fingerprint|\bsha-?\d|ssh-|公钥|指纹", re.IGNORECASE)
"""Beside a key: everybody may know it."""
_FURTHEST = _LONGEST + _WIDEST
"""Characters behind a word in which such a value ends, at most."""
_ODD = regex(r"[\"'`“「『!#$%&*@^~+=_-]")
"""What values hold that are no words."""
_FEW = 40
"""A longer name has nothing that is read at its start."""


def find_announced_values(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield where a secret stands that a word at `start` to `end` announces."""
    for value, signs in find_candidates(text, start, end):
        if is_secret(signs):
            yield value.start, value.end


def find_candidates(text: str, start: int, end: int) -> Iterator[tuple[Candidate, list[str]]]:
    """Yield what a word at `start` to `end` may announce, with what speaks for and against it."""
    family = family_of(text[start:end])
    is_numbered = family in _NUMBERED and "secret" not in text[start:end].lower()
    if is_numbered and not _tells_number(
        text, start - _FURTHEST_BACK - _FEW, end + _FURTHEST + _FEW
    ):
        return  # The code of the parser: nothing that it announces is near.
    name = _find_name(text, start, end)
    line = max(text.rfind("\n", 0, start) + 1, start - _BACK)
    if family == "key" and _PUBLIC.search(text, line, name[1] + 24):
        return
    if _COUNTED.search(text, *name):
        return
    label = Label(family, name, (start, end))
    lines = _find_line(text, name[1]) if _takes_phrases(text, label) else ()
    behind = islice(chain(lines, _find_behind(text, name[1])), _MOST)
    labels: list[str] = []
    for value in chain(behind, _find_before(text, name[0])):
        looks = _look_at(text, label, value)
        if looks:
            labels = labels or list(signs_of_label(text, label))
            seen = value._replace(looks=looks)
            yield seen, list(signs_of_value(text, label, labels, seen))


def _tells_number(text: str, first: int, last: int) -> bool:
    """Whether digits, or words for them, stand in a part of a text."""
    first = max(0, first)
    return has_digit(text, first, last) or bool(_NUMBER_WORDS.search(text, first, last))


def _find_name(text: str, start: int, end: int) -> Place:
    """Return from where to where the name goes in which a word stands: db_password_prod."""
    while start > 0 and end - start < _FEW and _is_of_name(text[start - 1]):
        start -= 1
    stop = end
    if not _is_of_name(text[end - 1]):
        return start, end
    while stop < len(text) and stop - end < _FEW and _is_of_name(text[stop]):
        stop += 1
    if text[stop - 1] in ".-" and stop > end:
        stop -= 1
    return start, stop


def _is_of_name(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign in "_-.")


def _find_behind(text: str, ends: int) -> Iterator[Candidate]:
    stop = min(len(text), ends + _LONGEST)
    halt = _STOPS.search(text, ends, stop)
    if halt:
        stop = halt.start()
    for found in _CANDIDATE.finditer(text, ends, min(len(text), stop + _WIDEST)):
        if found.start() >= stop:
            return
        sort = found.lastgroup or "run"
        if sort == "word":
            if ENDS.match(text, found.end()):
                yield Candidate(*found.span(), "run")
            continue
        for one in _cut_candidate(text, sort, *found.span(sort)):
            if (
                one.sort != "run"
                or not text[one.start : one.end].isalpha()
                or ENDS.match(text, one.end)
            ):
                yield one


def _find_line(text: str, ends: int) -> Iterator[Candidate]:
    """Yield the words that fill the rest of a line: a passphrase may be made of them."""
    line_end = text.find("\n", ends, ends + 120)
    line_end = line_end if line_end >= 0 else min(len(text), ends + 120)
    arrow = ARROW.match(text, ends) or _IS.match(text, ends)
    if arrow and arrow.end() < line_end and text[arrow.end() - 1] not in "\"'`":
        phrase = _PHRASE.match(text[arrow.end() : line_end])
        if phrase:
            yield Candidate(arrow.end(), arrow.end() + phrase.end(), "line")


def _find_before(text: str, begins: int) -> Iterator[Candidate]:
    first = max(0, begins - _FURTHEST_BACK)
    for halt in _BACK_STOPS.finditer(text, first, begins):
        first = halt.end()
    if not _ODD.search(text, first, begins) and not _tells_number(text, first, begins):
        return  # Words alone: what stands before them and is quoted, drawn or counted, is a value.
    kept = []
    for found in _CANDIDATE.finditer(text, first, begins):
        name = found.lastgroup or "run"
        if name == "word":
            continue
        kept += [
            one
            for one in _cut_candidate(text, name, *found.span(name))
            if not text[one.start : one.end].isalpha() or one.sort in ("double", "curled")
        ]
    yield from kept[-3:]


def _cut_candidate(text: str, sort: str, first: int, last: int) -> Iterator[Candidate]:
    """Yield a candidate without the signs around it, in its parts when it has some."""
    if last - first >= _WIDEST:
        return  # A piece of a file, not a value.
    if sort == "run":
        run = text[first:last]
        if not run.isascii() and _HAN.search(run):
            for part in _ASCII_RUN.finditer(text, first, last):
                yield from _cut_candidate(text, "ascii", *part.span())
            for part in _HAN_RUN.finditer(text, first, last):
                yield Candidate(*part.span(), "han")
            return
    if sort in ("run", "ascii"):
        first, last = _strip_run(text, first, last)
        sort = "run"
    if last - first > 2:
        yield Candidate(first, last, sort)


def _strip_run(text: str, first: int, last: int) -> Place:
    """Return where the value of a run of signs stands: without its name, brackets and commas."""
    while first < last and text[first] in _OPENING:
        first += 1
    while last > first and text[last - 1] in _CLOSING:
        last -= 1
    split = _SPLIT.match(text[first:last])
    if split and "://" not in text[first:last]:
        first += split.end()
    cut = _NEXT_FIELD.search(text, first + 1, last)
    last = cut.start() if cut else last
    if text[first:last].strip("*#").isdigit():
        first -= text[first - 1 : first] in ("*", "#")
        last += text[last : last + 1] in ("*", "#")
    return first, last


_NEVER = frozenset(
    ("own", "mask", "sample", "template", "url", "mail", "ip", "version", "file", "flag", "query")
)
"""Forms of what is no secret, whatever is said of it."""
_OF_ID = regex(
    r"(?:session:|(?:(?:\b|_)(?:id|uuid|sha|commit|hash)|(?-i:[a-z]Id))\W{0,4}|(?:邮编|邮政编码|\b(?:zip|post(?:al)?) ?code)\W{0,3})\Z",
    re.IGNORECASE,
)
"""Before what names a row, a request, a turn, a commit or a town."""
_OF_OTHER = regex(
    r"\"(?!(?:value|val|text|data|content|string|plain\w*|default|current|new|old|(?:[\w-]+\.)?[a-z]*sid)\")[\w$.-]{1,40}\"\s?:\s?\"?[^\s\"]{0,300}\Z",
    re.IGNORECASE,
)
"""Before the value of another key in JSON: {"project_key": "shop", "signature": "EqQ…"}."""
_DOTTED = regex(r"[^\W\d_A-Z][^\WA-Z]*(?:-[^\WA-Z]+)*(?:\.[^\WA-Z]+(?:-[^\WA-Z]+)*)+")
"""A name with dots in small letters: the key of a card, a setting, a module."""
_SPEAKS = regex(r"\d\d:\d\d \*{0,2}\Z")
"""Before who says something, on the page of a day: "11:49 user: …"."""
_COUNTED = regex(
    r"(?:max|min|num|total|input|output|prompt|completion|used)_?tokens?", re.IGNORECASE
)
"""Names of numbers of tokens."""
_YEAR = regex(r"(?:19|20)\d\d")
_ALONE = regex(r"[ \t`'\"”」』*_.,;。，；)）}\]|]{0,8}(?:\n|\Z)")
"""What may stand behind a value on a line of its own."""
_NUMBERS = frozenset(("digits", "groups", "star", "point", "date"))
_WITH_NUMBERS = frozenset(("pass", "code", "lock", "number"))
"""Families of words behind which a bare number can be a secret."""
_WORDS = frozenset(("word", "capital", "upper", "han"))
_WITH_WORDS = frozenset(("pass", "seed"))
"""Families of words behind which a word can be a secret."""
_WITH_LETTERS = frozenset(("pass", "seed", "key"))
"""Families of words behind which letters alone can be a secret."""
_NUMBERED = frozenset(("code", "lock", "number"))
"""Families of words whose values hold digits."""
_SHORTEST = 4
"""Digits of a password, at least."""
_NEAR = 12
"""Signs between a lock and a number that nothing joins to it, at most."""
_FEW_DIGITS = 12
"""A longer number opens nothing."""


def _look_at(text: str, label: Label, value: Candidate) -> Sequence[str]:
    """Return what a value looks like; nothing for what can be no secret."""
    said = text[value.start : value.end]
    if (
        label.family not in _WITH_LETTERS
        and value.sort != "spelled"
        and not _is_no_word(label, said)
    ):
        return ()
    if " " in said.strip() and value.sort not in ("number", "spelled", "bytes"):
        return looks_of_phrase(said) if _takes_phrases(text, label) else ()
    looks = looks_of(said)
    form = next(looks)
    if form in _NEVER or _is_id(text, label, value) or not _fits(text, label, value, form):
        return ()
    is_name = label.family not in _WITH_WORDS and _DOTTED.fullmatch(said)
    before = text[max(0, label.word[0] - 9) : label.word[0]]
    if is_name or (label.family == "login" and _SPEAKS.search(before)):
        return ()
    if "\n" in text[label.name[1] : value.start] and not _ALONE.match(text, value.end):
        return ()
    return (form, *looks)


def _is_no_word(label: Label, said: str) -> bool:
    """Whether a value holds what no word does: the code is on the fridge, log in to the wiki."""
    has_sign = label.family not in _NUMBERED and _ODD.search(said)
    return bool(has_sign) or has_digit(said, 0, len(said))


def _is_id(text: str, label: Label, value: Candidate) -> bool:
    """Whether what stands around a value says that it is another's, an id, or a line's number."""
    if text.startswith("→", value.end) and text[value.start : value.end].isdigit():
        return True
    begin = label.name[1] if label.name[1] <= value.start else 0
    if _OF_OTHER.search(text, max(begin, value.start - 350), value.start):
        return True
    named = _OF_ID.search(text, max(0, value.start - 14), value.start)
    return named is not None or is_fingerprint(text, value.start, value.end)


def _takes_phrases(text: str, label: Label) -> bool:
    """Whether words can be what a word announces."""
    return label.family in _WITH_WORDS or "secret" in text[slice(*label.word)].lower()


def _fits(text: str, label: Label, value: Candidate, form: str) -> bool:
    """Whether the word announces such values: numbers, words or drawn ones."""
    if form in _WORDS and label.family not in _WITH_WORDS:
        return False  # The secret is patience.
    if form in _NUMBERS:
        return _may_open(text, label, value)
    return form != "han" or _says_so(text, label, value)  # 恢复训练后怎么安排


def _says_so(text: str, label: Label, value: Candidate) -> bool:
    """Whether a word is joined to Chinese words behind it, with which a sentence ends."""
    between = text[label.name[1] : value.start]
    return bool(JOINS.search(between) and ENDS.match(text, value.end))


def _may_open(text: str, label: Label, value: Candidate) -> bool:
    """Whether a number may be one that opens something: it counts nothing and is no year."""
    said = text[value.start : value.end]
    if label.family not in _WITH_NUMBERS or _YEAR.fullmatch(said):
        return False
    if len(said) > _FEW_DIGITS and " " not in said:
        return False
    if label.family == "pass" and len(said) < _SHORTEST:
        return False  # The rights are 600.
    if value.start >= label.name[1]:
        is_of_chip = text[slice(*label.word)] == "pin" and value.start == label.word[1] + 1
        between = text[label.name[1] : value.start]
        is_far = label.family == "lock" and len(between) > _NEAR and not JOINS.search(between)
        if is_of_chip or is_far or not GOES_ON.match(text, value.end):
            return False
    return not tells_of_programs(text, value.start)
