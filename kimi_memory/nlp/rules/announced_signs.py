"""Name what speaks for and against a value that a word for secrets may announce.

Each sign is a word: the family of the announcing word, how it is written, what stands between,
what the value looks like and what stands behind it; and pairs of them, as a number of four digits
means much behind *PIN* and nothing behind *token*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kimi_memory.nlp.basic.patterns import regex

Place = tuple[int, int]

ARROW = regex(
    r"[\])}\"'*_`\s]{0,5}(?::\s?&?(?:str|string|String|text|char\*?)\s?=|:=|=>|->|→|=|:|：|＝)[\s\"'`“「『*_\[({$bru@>|-]{0,8}"
)
"""What assigns: ``: ``, ``=>``, ``: str = "``."""
ENDS = regex(
    r"[\"'`”」』)\]}*_]{0,3}\s{0,3}(?:\Z|\n|[.,;!?。，；！？、)）](?:\s|\Z|[\u3400-\u9fff])?)"
)
"""What stands behind a value with which a sentence or a field ends."""
_TAIL_WORDS = regex(
    r"[_.\s-]?(?:path|files?|ids?|names?|lengths?|len|type|url|uri|policy|policies|hints?|fields?|counts?|limits?|managers?|size|hash(?:es|ed)?|points?|board|words?|values?|usage|budget|reset|rotation|expir\w*|ttl|age|format|prompt|store|vault|ring|chain|length|strength|rules?|protected|less|generator|review|base|style|block|quality|server|service|provider|error|status|exit|page|version|window|price|cost|per|based|管理|策略|长度|规则|强度|字段|重置|格式|过期|错误|学|器)(?![a-z])",
    2,
)
_MARKUP = regex(
    r"[\"']?\s?/?>\s{0,4}|[\"']?\s?,?\s{0,3}[\"']?value[\"']?\s?[:=]\s?[\"']?|[\"'\])]{1,3}\s?,\s?[\"'`(]{0,2}",
    2,
)
_CALL = regex(r"[\w.]{0,20}\s?[(\[][\"'`\w\[\](]{0,10}[\"'`(]")
_BRACKETED = regex(r"\s?[(（\[][^()（）\[\]\n]{1,40}[)）\]]")
_FILL = regex(
    r"(?i:\b(?:is|are|was|were|be|now|still|again|to|has|have|been|got|gets|changed|set|reset|updated|switched|rotated|i|we|you|he|she|they|chose|picked|used?|using|it['’]?s?|that['’]?s|here['’]?s?|new|old|as|the|a|an|my|our|your|his|her|their|value|string|called|stays|remains|currently|just|yesterday|today|gave|me|us|enter|type|with|takes|wants|then|and|all|lowercase|one|sent|him|issued|generated|for|on|of|in|at)\b|['’]s\b|的|是|为|改|换|重置|设|成|到|了|我|还|叫|选|用|填|输|入|就|也|都|先|新|给|你|把|发|这|在|哈|吧|说|它|有|个|那|个|上|里)"
)
JOINS = regex(
    r"(?i:\b(?:is|are|was|to|with|as|takes|wants|needs|on|use|enter|type|be|called|→|like|got)|['’]s|[:：=＝→>-]|[是为成到叫用输按换填设])[\s\"'`“「『(*]{0,4}\Z"
)
_NOT = regex(
    r"(?i:\b(?:not|no|never|without|wrong|invalid|missing|expired|must|should|need(?:s|ed)?|least|minimum|between|than|after|every|per|from|version|line|page|step|row|port|error|status|if|when|how|what|where|which)\b|n['’]t\b|[不没]|至少|最多|超过|第|如果|怎么|什么)"
)
_WORD = regex(r"[A-Za-z][\w'’-]*|[\u3400-\u9fff]|\d+")
_LAST_WORD = regex(r"([A-Za-z]{1,24}|[\u3400-\u9fff]{1,2})[\s:：=(（\"'`#.-]{0,4}\Z")
_BACK_JOIN = regex(r"(?i:\b(?:is|was|as|for|are|to|at|be)\b|['’]s|[—–=(:-]|[是当做作为开进登])")
_CODE = ("{", "}", ";", "=>", "()", ");", "->", "</")
"""Signs of code beside a word."""
_OLD_KEY = regex(r"\s[057]\s")
"""Of routers: password 0 …"""
_AMONG = regex("[,，;|]")
_LITTLE = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "been", "but"),
        *("by", "can", "could", "did", "do", "does", "for", "from", "had"),
        *("has", "have", "he", "how", "i", "if", "in", "is", "it"),
        *("its", "may", "must", "my", "no", "not", "of", "on", "only"),
        *("or", "our", "she", "should", "that", "the", "they", "this", "to"),
        *("was", "we", "what", "when", "where", "which", "who", "will", "with"),
        *("would", "you", "your"),
    )
)
"""Words of sentences, which a passphrase has few of."""
QUOTES = ('"', "'", "`")
_STEPS = ("0", "1", "2", "4", "4", "9")


class Label(NamedTuple):
    """A word that announces, in its text."""

    family: str
    name: Place
    """The name that it is a piece of: db_password_prod."""
    word: Place


class Candidate(NamedTuple):
    """What a word may announce."""

    start: int
    end: int
    sort: str
    """How it was found: a run of signs, between quotes, a number, words."""
    looks: Sequence[str] = ()
    """See `kimi_memory.nlp.rules.secret_words`."""


def signs_of_label(text: str, label: Label) -> Iterator[str]:
    """Yield what the announcing word and its surroundings look like."""
    start, end = label.word
    begins, ends = label.name
    name, tail = text[begins:ends], text[end:ends]
    yield f"word={text[start:end].lower()[:12]}"
    yield "named" if begins < start or tail else "bare"
    if tail:
        yield f"tail={tail.lower().strip('_-.')[:8]}"
    if _TAIL_WORDS.match(text, end):
        yield "about"
    if name.isupper():
        yield "upper"
    before = text[begins - 1 : begins]
    yield "quoted" if before in ('"', "'", "`") else "flag" if name[:1] == "-" else "open"
    line = text[max(0, start - 60) : end + 40]
    if any(sign in line for sign in _CODE):
        yield "code"
    stem = text[max(0, begins - 24) : begins].rstrip(" _-").rsplit(None, 1)
    if stem and label.family in ("code", "lock", "number", "key", "pass"):
        yield f"led={stem[-1].lower()[-10:]}"


def signs_of_value(
    text: str, label: Label, labels: Sequence[str], value: Candidate
) -> Iterator[str]:
    """Yield what speaks for and against a value.

    Args:
        text: where all of it stands.
        label: the word that may announce it.
        labels: the signs of that word (`signs_of_label`).
        value: what it may announce, before it or behind it.
    """
    is_behind = value.start >= label.name[1]
    way = "f" if is_behind else "b"
    between = text[label.name[1] : value.start] if is_behind else text[value.end : label.name[0]]
    family, form, looks = label.family, value.looks[0], value.looks[1:]
    path = _name_gap(between) if is_behind else _name_gap_back(between)
    joined = "joined" if JOINS.search(between) else "loose"
    after = _name_end(text, value.end)
    yield f"at={_name_word(text, value.start)}"
    prior = text[value.start - 1 : value.start]
    yield from (f"{way}.{family}", path, form, after, joined, f"sort.{value.sort}", *looks)
    yield f"prior{'w' if prior.isalnum() else prior.strip() or '_'}"
    yield from (f"{family}|{path}", f"{family}|{form}", f"{path}|{form}", f"{form}|{after}")
    yield from (f"{family}|{path}|{form}", f"{joined}|{form}", f"{family}|{joined}|{path}")
    for look in looks:
        yield from (f"{form}|{look}", f"{family}|{look}")
        if look.startswith(("odds", "turns", "d")):
            yield f"{path}|{look}"
    for sign in labels:
        yield f"{way}:{sign}"
        if not sign.startswith(("led", "tail")):
            yield f"{way}:{sign}|{form}"
    if _NOT.search(between):
        yield from ("not", f"not|{form}")


def looks_of_phrase(value: str) -> Sequence[str]:
    """Return what words look like that may be a passphrase."""
    words = value.split()
    count = len(words)
    return (
        f"phrase{min(count, 5) if count < 9 else 9 if count < 13 else 13}",
        f"little{min(sum(word.lower() in _LITTLE for word in words), 2)}",
        f"pd{int(any(sign.isdigit() for sign in value))}",
        f"psign{any(not (sign.isalnum() or sign in ' -') for sign in value)}",
        f"plow{value.lower() == value}",
    )


def _name_end(text: str, end: int) -> str:
    if ENDS.match(text, end):
        return "ends"
    sign = text[end : end + 1].strip()
    return "thenw" if sign.isascii() and sign.isalnum() else f"then{sign or '_'}"


def _name_word(text: str, start: int) -> str:
    """Return the word or the two hanzi right before a value: row 41, 尾数 41."""
    found = _LAST_WORD.search(text, max(0, start - 24), start)
    return found[1].lower()[-10:] if found else ""


def _name_gap_back(between: str) -> str:
    """Return what stands between a value and a word behind it, as one word."""
    text = _skip_brackets(between)
    if not text.strip(" \"'`*"):
        return "b.none"
    count = len(_WORD.findall(_FILL.sub(" ", text)))
    return f"b.{'join' if _BACK_JOIN.search(text) else 'no'}{min(count, 4)}"


def _name_gap(between: str) -> str:
    """Return what stands between a word and a value behind it, as one word."""
    text = _skip_brackets(between)
    if not text.strip(" \t\"'`“「『"):
        bare = "tab" if "\t" in text else "space" if text else "none"
        return bare if not text.strip(" \t") else "quote"
    if ARROW.fullmatch(text):
        return f"assign{'q' * (text[-1] in QUOTES)}{'n' * (chr(10) in text)}"
    for name, pattern in (("markup", _MARKUP), ("call", _CALL), ("space", _OLD_KEY)):
        if pattern.fullmatch(text):
            return name
    arrow = ARROW.match(text)
    count = len(_WORD.findall(_FILL.sub(" ", text[arrow.end() :] if arrow else text)))
    lead = "after" if arrow else "words"
    return (
        f"{lead}{_STEPS[min(count, 5)]}{',' * bool(_AMONG.search(text))}{'n' * (chr(10) in text)}"
    )


def _skip_brackets(between: str) -> str:
    bracket = _BRACKETED.match(between)
    return between[bracket.end() :] if bracket else between
