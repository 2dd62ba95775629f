"""Whose words a turn holds: those of its speaker, and those the speaker only brought along.

What follows a request to work on a text, what looks like a document and what is quoted as
speech is somebody else's. What stands before it is the speaker's, and so is what follows a
block that shows its end. Behind a text without a marked end the speaker is heard again
only where a closing remark says so: "By the way, I …", 顺便说一句，我 ….
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import Span, sentences
from kimi_memory.nlp.rules import documents
from kimi_memory.nlp.rules.chat_logs import find_logs
from kimi_memory.nlp.rules.documents import begins_copy, find_options, find_rows, find_signed
from kimi_memory.nlp.rules.strip_code import indented_code, is_prose, printed, spoken_spans
from kimi_memory.nlp.rules.subjects import standing
from kimi_memory.nlp.rules.text_requests import Request, Where, find_request

_RETURNS = regex(
    r"\s{0,3}(?:by the way|btw|p\.?s\.?(?=\W)|on (?:another|a (?:different|side|separate|personal)) (?:note|topic|subject)|side note|unrelated(?:ly)?|off[- ]topic"
    r"|changing (?:the )?subject|not related|completely different|(?:oh|ah),? and (?:i|my|we|our)|as for (?:me|myself|us)|apart from that|other than that|that aside|in other news)\b"
    r"|\s{0,3}(?:顺便|顺带|对了|换个话题|话说回来|说回来|题外话|跑个题|岔开|言归正传|说到我|除此之外|不相关|另外说(?:一句|下|个))",
    2,
)
_RETURNS_WEAK = regex(
    r"\s{0,3}(?:also|anyway|anyhow|separately|personally|besides|in addition|one more thing|another thing|for (?:my|our) part|meanwhile)\b"
    r"|\s{0,3}(?:另外|还有|此外|总之|再说(?:一句|一件)|我自己|至于我)",
    2,
)
_SELF = regex(r"\b(?:I|i|i'm|my|mine|me|we|our|us)\b|[我咱]")
_OPENS_WITH_SELF = regex(
    r"\s{0,3}(?:(?:so|and|but|well|actually|also|for (?:me|us)|in (?:my|our)|here|at (?:work|home),?),? )?(?:i|i'm|i've|i'd|i'll|we|we're|we've|we'll|my|our)\b"
    r"|\s{0,3}(?:(?:因为|其实|不过|但|所以|目前|现在|今年|这里)[，,]?)?(?:我|咱)",
    2,
)
_BUTTON = regex(
    r"Implement the plan as specified, it is attached for your reference\.[^\n]{0,120}(?:\n\s*To-do's from the plan have already been created\.[^\n]{0,300})?"
    r"|<system_notification>.{0,4000}?</system_notification>"
    r"|\A\s{0,8}Base directory for this skill: .*?(?:\n\s{0,8}ARGUMENTS: |\Z)"
    # A messenger's note to its agent on an event or a picture: "System: …", a path with a description.
    r"|(?:\A|(?<=\n))System: ?[^\n]{0,4000}(?:\n(?:System:|PLAIN_TEXT)[^\n]{0,4000}){0,400}"
    r"|\AA scheduled reminder has been triggered\..{0,20000}\Z"
    r"|\A(?:\[Queued [^\]\n]{1,80}\][\s\S]{0,80}?)?A background task \"[^\"\n]{1,200}\" just (?:completed|finished|failed)\b.{0,20000}\Z"
    r"|\A.{0,20000}?An async command you ran earlier has completed\. The result is shown in the system messages above\..{0,4000}\Z"
    r"|\ANote: The previous agent run was aborted by the user\.[^\n]{0,100}"
    r"|(?:\A|(?<=\n))(?:\[media attached[^\]\n]{0,400}\]|[^\s\n]{0,300}/media/inbound/[^\s\n]{1,300})(?:\s{0,8}\n\s{0,8}Description:.{0,20000}\Z)?"
    r"|For the code present, we get (?:this error|these errors):|How can I resolve (?:this|these)\? If you propose a fix, please make it concise\.",
    16,  # DOTALL
)
"""What a program says in the person's place: a button is pressed, a job ends, a skill is read."""
_LAST = 400
"""A remark that closes a message is not longer."""
# Single marks only around twelve letters and more: don't, '90s. 《…》 names a book or a film
# unless it is long.
_QUOTATION = regex(
    r"“[^“”]{1,2000}”|「[^「」]{1,2000}」|『[^『』]{1,2000}』|«[^«»]{1,2000}»|„[^„“”]{1,2000}[“”]|‘[^‘’\n]{12,600}’(?!\w)"
    r"|(?<!\w)\"[^\"\n]{1,2000}\"(?!\w)|(?<![\w'])'[^'\n]{12,600}'(?![\w'])|＂[^＂]{1,2000}＂|(?<=[\u3400-\u9fff，：:\s])【[^【】]{24,2000}】|《[^《》]{30,2000}》|!?\[[^\[\]\n]{12,300}\]\([^()\s]{1,300}\)"
)
_SOURCE = regex(r"\s{0,3}(?:[—–]{1,2}|--)\s{0,2}[^\n.!?。！？]{1,60}(?=\n|$)")
"""Who said what is quoted: “…” — the new boss, yesterday."""
_OPEN_QUOTES = {'"': '"', "“": "”", "「": "」", "『": "』", "«": "»", "'": "'"}
_WORD = regex(r"[A-Za-z']+")
_HAN = regex(r"[\u3400-\u9fff]")
_SPEECH, _SPEECH_ZH = 4, 8
"""A quotation of fewer words, or hanzi, is a name."""


@keep_results(4096)
def own_sentences(text: str) -> Sequence[Span]:
    """Return the spans of the spoken sentences of a turn that are its speaker's own and stand.

    Sentences that the same message takes back are left out, and so is what takes them back.
    """
    brought, quoted = pasted_spans(text), _find_quotations(text)
    parts = (_own_part(text, span, brought) for span in spoken_spans(text))
    own = [span for span in parts if span is not None and not _is_quoted(span, quoted)]
    return tuple(standing(text, own, _merge_spans([*brought, *quoted])))


def spoken(text: str, *, by_person: bool) -> Sequence[Span]:
    """Return the spans of the spoken sentences of a turn: of a person, only what is their own."""
    return own_sentences(text) if by_person else spoken_spans(text)


def own_spans(text: str) -> list[Span]:
    """Return the spans of a turn that its speaker says in their own words."""
    spans, at = [], 0
    for start, end in [*foreign_spans(text), (len(text), len(text))]:
        if text[at:start].strip():
            spans.append((at, start))
        at = max(at, end)
    return spans


def own_text(text: str) -> str:
    """Return a text without what is quoted or pasted into it."""
    for start, end in sorted(foreign_spans(text), reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text


def without_programs(text: str) -> str:
    """Return a turn without what a program says in the person's place."""
    return _BUTTON.sub("", text)


@keep_results(4096)
def foreign_spans(text: str) -> tuple[Span, ...]:
    """Return the spans of a turn that are somebody else's words, in order, apart."""
    return tuple(_merge_spans([*pasted_spans(text), *_find_quotations(text)]))


@keep_results(4096)
def pasted_spans(text: str) -> tuple[Span, ...]:
    """Return the spans of texts that the speaker brought along, without quotations."""
    found = [one.span() for one in _BUTTON.finditer(text)]
    # What a program says may look like the start of a document that goes on to the end.
    text = _BUTTON.sub(lambda said: " " * len(said[0]), text)
    lines = documents.split_lines(text)
    blocks = documents.delimited(text, lines)
    found += [(lines[a][0], lines[b - 1][1]) for a, b in blocks.items()]
    for find in (find_logs, printed, find_rows, indented_code):
        found += [(lines[a][0], lines[b][1]) for a, b in find(text, lines)]
    found += [*find_signed(text, lines), *find_options(text)]
    found += [span for span in lines if documents.is_impersonal(_text_of_span(text, span))]
    found += _find_undelimited_spans(text, lines, blocks)
    return tuple(_merge_spans(found))


@keep_results(4096)
def _find_quotations(text: str) -> tuple[Span, ...]:
    spans = (one.span() for one in _QUOTATION.finditer(text) if _is_speech(one[0]))
    return tuple((start, _end_of_source(text, end)) for start, end in spans)


def _end_of_source(text: str, end: int) -> int:
    """Return where a quotation ends with the name that a dash sets below or behind it."""
    source = _SOURCE.match(text, end)
    return source.end() if source and not _SELF.search(source[0]) else end


def _is_speech(quotation: str) -> bool:
    """Whether a quotation says something, rather than names a thing."""
    if len(_HAN.findall(quotation)) >= _SPEECH_ZH:
        return True
    words = _WORD.findall(quotation)
    # "The Old Man and the Sea" is a title: most of its words begin with capitals.
    return len(words) >= _SPEECH and sum(word[0].islower() for word in words) * 2 >= len(words)


def _find_undelimited_spans(
    text: str, lines: Sequence[Span], blocks: dict[int, int]
) -> Iterator[Span]:
    """Yield what a request, or the look of its first line, makes a text of somebody else."""
    at = 0
    while at < len(lines):
        if at in blocks:
            at = blocks[at]
            continue
        is_document = documents.begins_document(text, lines, at) or begins_copy(text, lines, at)
        begin = lines[at][0] if is_document else -1
        if begin < 0:
            spans, begin = _find_requested_spans(text, lines, blocks, at)
            yield from spans
        end = lines[at][1] if begin < 0 else _find_speaker_return(text, lines, begin)
        if begin >= 0:
            yield begin, end
        at = next((n for n in range(at + 1, len(lines)) if lines[n][0] >= end), len(lines))


def _find_requested_spans(
    text: str, lines: Sequence[Span], blocks: dict[int, int], at: int
) -> tuple[list[Span], int]:
    """Return what the requests of a line name for certain, and where an open text begins or -1."""
    found: list[Span] = []
    start, stop = lines[at]
    for first, last in sentences(text[start:stop]):
        span = start + first, start + last
        request = find_request(_text_of_span(text, span))
        if request is None:
            continue
        if request.alone:
            found.append((span[0] + request.start, span[1]))
        # The sentence holds the text itself, so nothing that follows belongs to it.
        if request.where is Where.HERE:
            continue
        begin = _next_word(text, span[0] + request.text)
        if begin < 0:
            found += _find_spans_before(lines, at, span, request)
            break
        named = _find_delimited_span(text, lines, blocks, begin)
        if named is not None:
            found.append(named)
        elif request.where is Where.AFTER or not _goes_on(text, span[1], begin):
            return found, begin
    return found, -1


def _goes_on(text: str, end: int, begin: int) -> bool:
    """Whether the speaker goes on about themselves on the line of their request."""
    return "\n" not in text[end:begin] and bool(_OPENS_WITH_SELF.match(text, begin))


def _find_spans_before(lines: Sequence[Span], at: int, span: Span, request: Request) -> list[Span]:
    """Return what stands before a request that nothing follows."""
    if request.back_here and span[0]:
        return [(0, span[0])]
    return [(0, lines[at - 1][1])] if request.back and at else []


def _next_word(text: str, at: int) -> int:
    """Return where the next thing stands that is not white space, else -1."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at if at < len(text) else -1


def _find_delimited_span(
    text: str, lines: Sequence[Span], blocks: dict[int, int], begin: int
) -> Span | None:
    """Return the block or quotation that begins at a place and shows its end."""
    at = next(n for n, (_, end) in enumerate(lines) if begin <= end)
    if text[lines[at][0] : begin].strip() == "":
        end = blocks.get(at, 0) or documents.enclosed(text, lines, at)
        if end > at:
            return lines[at][0], lines[end - 1][1]
    quotation = _QUOTATION.match(text, begin)
    if quotation:
        return quotation.span()
    if text[begin] in _OPEN_QUOTES:
        # From the last line up: what is pasted may close quotations of its own.
        for n in range(len(lines) - 1, at, -1):
            if _text_of_span(text, lines[n]).rstrip().endswith(_OPEN_QUOTES[text[begin]]):
                return begin, lines[n][1]
    return None


def _find_speaker_return(text: str, lines: Sequence[Span], begin: int) -> int:
    """Return where the speaker is heard again behind a text that does not show its end."""
    for n in range(1, len(lines)):
        start = lines[n][0]
        if (
            start <= begin
            or len(text) - start > _LAST
            or not _SELF.search(text, start, start + 120)
        ):
            continue
        line = _text_of_span(text, lines[n])
        apart = not _text_of_span(text, lines[n - 1]).strip()
        # "By the way" is the speaker's; "also" may go on in the pasted text, unless a blank line
        # stands before it.
        if _RETURNS.match(line) or (apart and _RETURNS_WEAK.match(line)):
            return start
    return len(text)


def _own_part(text: str, span: Span, brought: Sequence[Span]) -> Span | None:
    """Return a sentence, or what of it stands before somebody else's words, else behind them."""
    start, end = span
    for first, last in brought:
        if first < end and start < last:
            head = start, start + len(text[start:first].rstrip())
            part = (last, end) if first < start else head
            return part if part[0] < part[1] and is_prose(_text_of_span(text, part)) else None
    return span


def _is_quoted(span: Span, quoted: Sequence[Span]) -> bool:
    """Whether a sentence is mostly or partly a quotation of somebody's speech."""
    start, end = span
    for first, last in quoted:
        if first < end and start < last:
            inside = start <= first and last <= end
            if not inside or (last - first) * 2 >= end - start:
                return True
    return False


def _merge_spans(spans: Sequence[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _text_of_span(text: str, span: Span) -> str:
    return text[span[0] : span[1]]
