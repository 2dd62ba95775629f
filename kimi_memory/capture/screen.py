"""The screen between spoken words and the disk: secrets masked, injected text removed."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from math import isfinite
from typing import Any, NamedTuple

from kimi_memory.domain.ids import safe_session_id
from kimi_memory.domain.screen import Span
from kimi_memory.domain.session import Json, Session
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.safe_text import strip_injected
from kimi_memory.nlp.rules.secret_words import find_secret_answer

MASK = re.compile(r"⟦redacted:[a-z0-9-]+:[0-9a-f]{4}⟧")
# JSON nested deeper than this no program writes; Python's own stack ends near 1,000.
_DEEPEST = 100
_SHORTEST = 1000
"""A number with fewer digits is no code."""
_IDS = frozenset({"id", "continues"})
"""Of the header of a session: ids have a way of their own."""
_UNSEEN = re.compile(
    r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
"""Signs of no width, which may part the letters of a word."""
_REFERENCE = re.compile(
    r"^ *- session:\S{1,200}#\d+(?:-\d+)?(?: [a-z]+)?(?: [0-9a-f]{12})?$"
    r"|\[\[session_[^\[\]|\n]{1,200}\|#\d[\d-]*\]\]",
    re.MULTILINE,
)
"""A turn as notes name it, by the id of its session, which was screened when it was given."""
# With the invisible tags of Unicode, in which orders to a model can be hidden.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\U000e0000-\U000e007f]")


class Screened(NamedTuple):
    """A text that may be stored."""

    text: str
    masked: int = 0
    """How many secrets were masked."""
    cut: int = 0
    """How many bytes were cut off at the end."""
    stripped: int = 0
    """How many characters of injected blocks were left out."""


class Screen:
    """Asks the screening plugins and masks what they name.

    Args:
        host: the plugins.
        key: machine-local key; equal secrets get equal tags that tell nothing else.
        max_bytes: longer texts are cut, with a mark.
    """

    def __init__(self, host: Host, key: bytes, max_bytes: int = 65536) -> None:
        self._host, self._key, self._max_bytes = host, key, max_bytes

    def pass_text(self, text: str) -> Screened:
        """Return `text` without injected blocks, control characters and secrets."""
        if not text:
            return Screened("")
        given = text.replace("\r\n", "\n").replace("\r", "\n")
        told = strip_injected(given)
        plain = _CONTROL.sub("", told)
        # Half characters, which no file can hold.
        plain = plain.encode("utf-8", "replace").decode("utf-8")
        masked, count = self.mask(plain)
        kept, cut = self._truncate_text(masked)
        return Screened(kept, count, cut, len(given) - len(told))

    def pass_turn(self, text: str, before: Sequence[str]) -> Screened:
        """Return the words of a turn as they may be stored; a bare answer can be a secret.

        Args:
            text: what is said.
            before: what was said before it in the session, oldest first; the last two count.
        """
        passed = self.pass_text(text)
        place = find_secret_answer(passed.text, before)
        if place is None:
            return passed
        # "hunter2-x" alone is a word; what the plugins say of "password: hunter2-x" counts.
        spans = self.spans(f"password: {passed.text[slice(*place)]}")
        if not spans:
            return passed
        masked, count = self._mask_spans(passed.text, [Span(*place, spans[0].rule)])
        return passed._replace(text=masked, masked=passed.masked + count)

    def mask(self, text: str) -> tuple[str, int]:
        """Return `text` with every secret replaced by ``⟦redacted:<rule>:<tag>⟧``."""
        return self._mask_spans(text, self.spans(text))

    def _mask_spans(self, text: str, spans: Iterable[Span]) -> tuple[str, int]:
        pieces, end, count = [], 0, 0
        for span in _merge_spans(spans):
            tag = hmac.new(self._key, text[span.start : span.end].encode(), hashlib.sha256)
            pieces += [text[end : span.start], f"⟦redacted:{span.rule}:{tag.hexdigest()[:4]}⟧"]
            end, count = span.end, count + 1
        return "".join([*pieces, text[end:]]), count

    def mask_new(self, text: str, known: str) -> str:
        """Return `text` with the secrets masked that do not stand in `known` already."""
        # What a person wrote on a page themselves stays as they wrote it.
        fresh = [s for s in self.spans(text) if text[s.start : s.end] not in known]
        turns = [match.span() for match in _REFERENCE.finditer(text)] if fresh else []
        fresh = [s for s in fresh if not any(a <= s.start and s.end <= b for a, b in turns)]
        return self._mask_spans(text, fresh)[0]

    def pass_name(self, name: str) -> str:
        """Return a name, such as that of a project, as it may be stored."""
        return self.pass_text(name).text if name else ""

    def pass_id(self, id: str) -> str:
        """Return the id that a session of this name has; a secret in it counts by its mask."""
        return safe_session_id(self.pass_name(id))

    def pass_session(self, session: Session) -> Session:
        """Return the header of a session as it may be stored; its id has passed before."""
        texts: dict[str, Any] = {}
        if session.continues:
            texts["continues"] = self.pass_id(session.continues)
        for name in (field.name for field in fields(session) if field.name not in _IDS):
            if isinstance(text := getattr(session, name), str):
                texts[name] = self.pass_name(text)
        return replace(session, **texts)

    def pass_fields(self, fields: Mapping[str, Json], depth: int = 0) -> dict[str, Json]:
        """Return JSON as it may be stored; ``password`` makes a secret of a short word.

        Raises:
            UsageError: it is nested deeper than any program needs.
        """
        return {
            self.pass_name(name): self._pass_value(value, name, depth)
            for name, value in fields.items()
        }

    def pass_calls(self, calls: Sequence[Json]) -> tuple[Json, ...]:
        """Return the calls of tools of a turn as they may be stored.

        From the first one on for which there is no room, they are left out, which is said:
        what a tool is given can be a whole file.
        """
        kept: list[Json] = []
        room = self._max_bytes
        for at, call in enumerate(calls):
            try:
                passed = self._pass_value(call, "tool_calls", 0)
            except UsageError:
                passed = {"cut": "nested too deep"}
            room -= len(json.dumps(passed, ensure_ascii=False).encode("utf-8", "replace"))
            if room < 0:
                return (*kept, {"cut": f"{len(calls) - at} calls"})
            kept.append(passed)
        return tuple(kept)

    def _pass_value(self, value: Json, name: str, depth: int) -> Json:
        if depth > _DEEPEST:
            raise UsageError("The values are nested too deep to be kept. Keep them flat.")
        match value:
            case str():
                # "hunter2" alone is a word; "password: hunter2" is a secret.
                label = f"{name}: "
                passed = self.pass_text(f"{label}{value}").text
                return passed.removeprefix(label) if passed.startswith(label) else passed
            case list():
                return [self._pass_value(one, name, depth + 1) for one in value]
            case dict():
                return dict(self.pass_fields(value, depth + 1))
            case int() if abs(value) >= _SHORTEST:
                # {"pin": 4831} tells as much as {"pin": "4831"}.
                told = self._pass_value(str(value), name, depth)
                return value if told == str(value) else told
            case float() if not isfinite(value):
                return None  # JSON has no such number.
        return value

    def spans(self, text: str) -> list[Span]:
        """Return what the plugins would mask, outside of earlier masks."""
        if not text:
            return []  # Reasons and subjects are empty mostly; to ask loads the plugins.
        found = [*self._ask_plugins(text), *self._find_parted(text)]
        if not found:
            return []
        masks = [match.span() for match in MASK.finditer(text)]
        return [s for s in found if not any(a < s.end and s.start < b for a, b in masks)]

    def _ask_plugins(self, text: str) -> list[Span]:
        return [span for spans in self._host.gather("screen_text", text=text) for span in spans]

    def _find_parted(self, text: str) -> list[Span]:
        """Return what would be masked, were the signs that nobody sees not between its letters."""
        if text.isascii() or not _UNSEEN.search(text):
            return []
        seen = [at for at, sign in enumerate(text) if not _UNSEEN.match(sign)]
        spans = self._ask_plugins("".join(text[at] for at in seen)) if seen else []
        return [Span(seen[one.start], seen[one.end - 1] + 1, one.rule) for one in spans]

    def _truncate_text(self, text: str) -> tuple[str, int]:
        raw = text.encode("utf-8")
        over = len(raw) - self._max_bytes
        if over <= 0:
            return text, 0
        # A character that the cut halves is left out.
        kept = raw[: self._max_bytes].decode("utf-8", "ignore")
        return f"{kept}\n⟦cut: {over} bytes⟧", over


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Join overlapping spans; the longest one gives the rule its name."""
    joined: list[Span] = []
    # Of spans that begin alike the longest comes first, and covers the others.
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            rule = max(last, span, key=lambda s: s.end - s.start).rule
            joined[-1] = Span(last.start, max(last.end, span.end), rule)
        elif span.end > span.start:
            joined.append(span)
    return joined
