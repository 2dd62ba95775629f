"""Procedures that come up again: the same steps in the same order in several sessions."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from kimi_memory.domain.note import Origin, Quote, Role
from kimi_memory.domain.session import Transcript, Turn
from kimi_memory.nlp.basic.patterns import HAN, normalise, regex, simplify
from kimi_memory.nlp.rules.relations import words_of

LEAST_SESSIONS = 3
"""In so many sessions a procedure must come up."""
# One step alone is no procedure.
LEAST_STEPS = 2
# Longer ones never come twice in the same order.
MOST_STEPS = 12

_FENCE = regex(r"\s{0,3}(?:```|~~~)\s*(\w*)")
_SHELLS = {"", "sh", "bash", "shell", "console", "zsh", "terminal", "fish", "shell-session"}
# `$ make test`, `❯ make test`, `% make test`.
_PROMPT = regex(r"\s*(?:\$|❯|%) +(\S.*)")
# "1. run the tests", 第一步：跑测试
_ITEM = regex(r"\s{0,8}(?:\d{1,2}[.)、]|第[一二三四五六七八九十]步[:：，,]?)\s*(\S.{2,200})")
_COMMAND = regex(r"[a-z][\w.+-]{1,30}(?:/[\w.+-]+)*(?:\s+\S.*)?|\./[\w./-]+(?:\s+\S.*)?")
# `pkg/remote/sync.go` or `main.go` with nothing behind it names a file.
_FILE_NAME = regex(r"[\w.+-]+(?:/[\w.+-]+)*\.\w{1,5}")
# "first build, then run the tests, finally deploy"
_ORDER_EN = regex(
    r"(?:^|[:,;.]\s{0,3})(?:first|step one)[, ]{1,3}(?P<steps>.{4,300}?,?\s{0,3}(?:and )?"
    r"(?:then|next|after that|finally|lastly)\b.{3,300})"
)
_SPLIT_EN = regex(r"[,;]?\s{0,3}(?:and )?\b(?:then|next|after that|finally|lastly)\b[, ]*")
_ORDER_ZH = regex(
    r"先(?P<steps>[^。！？\n]{2,120}?[，,、；]?(?:再|然后|接着|最后)"
    r"[^。！？\n]{2,160})"
)
_SPLIT_ZH = regex(r"[，,、；]?\s{0,3}(?:再|然后|接着|最后)")
_SPAN = regex(r"`([^`\n]{2,120})`")
# Texts in quotes, addresses, masks, hashes, numbers: what differs from one run to the next.
_VARIES = regex(
    r"\"[^\"\n]*\"|'[^'\n]*'|\b\w{1,20}://\S+|⟦[^⟦⟧]{0,200}⟧|\b[0-9a-f]{7,40}\b|\bv?\d+(?:[.:-]\d+)*\b"
)
_TRIVIAL_WORDS = (
    "ls cd pwd cat echo head tail less more clear which whoami date history grep rg find exit "
    "true export source man tree wc file stat"
)
_TRIVIAL = frozenset(_TRIVIAL_WORDS.split())
_ALSO_TRIVIAL = frozenset({"git status", "git diff", "git log", "git show"})
_SPOKEN = (Role.USER, Role.ASSISTANT)
_ENDS = " .。;；,，!！:："


@dataclass(frozen=True, slots=True)
class StepSaid:
    """One step, and the words it stands in."""

    key: str
    """The same for the same step with other names, numbers and texts."""
    text: str
    """The step with … for what varies."""
    quote: Quote
    asked: str
    """What the person had asked before it."""
    is_command: bool = True


@dataclass(frozen=True, slots=True)
class Procedure:
    """Steps that were taken in the same order in several sessions."""

    steps: tuple[StepSaid, ...]
    runs: tuple[tuple[StepSaid, ...], ...]
    """Each time, one for a session, the oldest first."""

    @property
    def about(self) -> tuple[str, ...]:
        """Words that most of the requests before it share."""
        sets = [words_of(run[0].asked) for run in self.runs]
        many = Counter(word for words in sets for word in words)
        often = {word for word, count in many.items() if count * 3 > len(sets) * 2}
        first = simplify(normalise(self.runs[0][0].asked))
        return tuple(dict.fromkeys(_yield_shared_words(first, often)))


def _yield_shared_words(first: str, often: set[str]) -> Iterator[str]:
    """Yield the words of a request that are common; Chinese pairs that overlap are joined."""
    for word in _WORD.findall(first):
        if not "\u3400" <= word[0] <= "\u9fff":
            if word in often and len(word) > 1 and word not in _DULL:
                yield word
            continue
        start = 0
        for at in range(len(word)):
            if word[at : at + 2] not in often or at == len(word) - 1:
                if at > start:
                    yield word[start : at + 1]
                start = at + 1


_WORD = regex(rf"[^\W_{HAN}]+|[{HAN}]+")
_DULL_WORDS = (
    "the and for now please can you could would this that with again will our your what how are "
    "has have need want let lets just make get a an to it is of in on do me we"
)
_DULL = frozenset(_DULL_WORDS.split())


def procedures(sessions: Iterable[tuple[str, Transcript]]) -> list[Procedure]:
    """Return the procedures of several sessions, those of most sessions first.

    Args:
        sessions: root id and turns; the parts of one conversation share a root.
    """
    found: dict[str, list[StepSaid]] = defaultdict(list)
    for root, transcript in sessions:
        found[root] += _yield_steps(transcript)
    runs: dict[tuple[str, ...], dict[str, tuple[StepSaid, ...]]] = defaultdict(dict)
    for root, steps in found.items():
        for plain in _yield_step_groups(steps):
            for run in _yield_runs(plain):
                runs[tuple(step.key for step in run)].setdefault(root, run)
    often = {keys: by for keys, by in runs.items() if len(by) >= LEAST_SESSIONS}
    # What a longer procedure holds is in that one.
    parts = {part for longer in often for part in (longer[1:], longer[:-1])}
    whole = [keys for keys in often if keys not in parts]
    made = [Procedure(next(iter(often[k].values())), tuple(often[k].values())) for k in whole]
    return sorted(made, key=lambda p: (-len(p.runs), -len(p.steps), [s.key for s in p.steps]))


def _yield_step_groups(steps: Sequence[StepSaid]) -> Iterator[list[StepSaid]]:
    """Yield steps that belong together: commands of a session, statements of a turn."""
    for _, group in groupby(steps, lambda s: "" if s.is_command else f"{s.quote.n}"):
        here = list(group)
        yield [s for n, s in enumerate(here) if n == 0 or s.key != here[n - 1].key]


def _yield_runs(steps: Sequence[StepSaid]) -> Iterator[tuple[StepSaid, ...]]:
    for size in range(LEAST_STEPS, MOST_STEPS + 1):
        for at in range(len(steps) - size + 1):
            run = tuple(steps[at : at + size])
            if len({step.key for step in run}) == size:
                yield run


def _yield_steps(transcript: Transcript) -> Iterator[StepSaid]:
    asked = ""
    for turn in transcript.turns:
        # What a file or a page describes was not done here.
        if turn.origin.rank > Origin.TOOL.rank:
            continue
        for text, said, is_command in _in_turn(turn):
            key = _step_key(text, is_command)
            if key:
                quote = Quote(transcript.session.id, turn.n, said)
                yield StepSaid(key, _generalise_step(text), quote, asked, is_command)
        if turn.role is Role.USER:
            asked = turn.text[:400]


def _in_turn(turn: Turn) -> Iterator[tuple[str, str, bool]]:
    """Yield the steps of a turn: what to do, the words it stands in, whether it is a command."""
    if turn.role is Role.TOOL:
        yield from ((command, command, True) for command in _yield_tool_command(turn.text))
    # A long page of a person is a template or a document: its examples were not done.
    if turn.role not in _SPOKEN or (turn.role is Role.USER and not turn.is_speech):
        return
    fenced, shell = False, False
    for line in turn.text.splitlines():
        fence, prompt = _FENCE.match(line), _PROMPT.fullmatch(line)
        if fence:
            fenced, shell = not fenced, not fenced and (fence[1] or "").lower() in _SHELLS
        elif prompt:
            yield prompt[1].strip(), line.strip(), True
        elif fenced:
            plain = line.strip()
            runs = _COMMAND.fullmatch(plain) and not _FILE_NAME.fullmatch(plain)
            if shell and runs and not plain.startswith("#"):
                yield plain, plain, True
        else:
            yield from _in_line(line)


def _in_line(line: str) -> Iterator[tuple[str, str, bool]]:
    item = _ITEM.fullmatch(line.rstrip())
    if item:
        span = _SPAN.search(item[1])
        step = span[1] if span else item[1].strip()
        yield step, item[1].strip(), bool(span)
        return
    for order, split in ((_ORDER_EN, _SPLIT_EN), (_ORDER_ZH, _SPLIT_ZH)):
        said = order.search(line.lower() if split is _SPLIT_EN else line)
        if said:
            words = line[said.start("steps") : said.end("steps")]
            low = words.lower() if split is _SPLIT_EN else words
            at = 0
            for cut in [*split.finditer(low), None]:
                step = words[at : cut.start() if cut else len(words)].strip(_ENDS)
                at = cut.end() if cut else at
                if len(step) > 1:
                    yield step, step, False


def _yield_tool_command(text: str) -> Iterator[str]:
    """Yield the command of a tool call that was stored as JSON."""
    try:
        value = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        # Text that begins like JSON and is none.
        return
    call = value.get("input", value) if isinstance(value, dict) else None
    command = call.get("command") if isinstance(call, dict) else None
    if isinstance(command, str) and command.strip() and "\n" not in command:
        yield command.strip()


def _step_key(text: str, is_command: bool) -> str:
    words = normalise(_generalise_step(text)).strip(_ENDS)
    if not is_command:
        return words if len(words) > 1 else ""
    program, _, rest = words.partition(" ")
    short = f"{program} {rest.partition(' ')[0]}".strip()
    return "" if program in _TRIVIAL or short in _ALSO_TRIVIAL else words


def _generalise_step(text: str) -> str:
    """Return a step with … for texts, addresses, numbers and hashes, which vary."""
    return " ".join(_VARIES.sub("…", text).split())


def outline(steps: Sequence[StepSaid]) -> str:
    """Return steps in one line."""
    return " → ".join(step.text for step in steps)
