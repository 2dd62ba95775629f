r"""Secrets and private data in what is said, named so that they can be masked.

Why it exists: what is stored is indexed, committed, synced and put into prompts, so
keys, passwords and personal numbers must be found before the first byte is written.
The rules are written from the token formats that vendors publish and from how people
tell each other passwords, in Chinese and in English. They run in RE2, whose time
grows with the text and never with the pattern.

Settings, in the user's own ``config.toml``::

    [plugins.privacy]
    allow = ["email"]                    # rules that are switched off
    [plugins.privacy.extra]              # name -> RE2 pattern; group 1 is what is masked
    staff-number = 'staff no\. (\d{6})'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from kimi_memory import hookimpl
from kimi_memory.domain.screen import Span
from kimi_memory.errors import PluginError
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.credentials import is_any, is_drawn
from kimi_memory.nlp.rules.secret_rule import Rule
from kimi_memory.nlp.rules.secret_rules import RULES

if TYPE_CHECKING:
    import re2

_KEBAB = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Each is one character as before, so places found in the narrow text hold in the text.
_NARROW = {
    wide: wide - 0xFEE0
    for wide in (
        *map(ord, "＋－．＿＠"),
        *range(0xFF10, 0xFF1A),
        *range(0xFF21, 0xFF3B),
        *range(0xFF41, 0xFF5B),
    )
}
"""Full-width digits and letters, each as the sign that the rules know."""
_CLOSING = " \t\r`'\"”」』*_.,;。，；)）"
"""What may stand behind a value on its line."""
_TURN = regex(r"session:\S{1,200}#\d")
"""A turn as cards name it; ids of sessions were screened when they were given."""
_MOST_AT_ONCE = 100
"""So many words beside each other are looked at, however short a text is."""
_WIDE = regex("[＋－．＿＠０-９Ａ-Ｚａ-ｚ]")


def _load_re2() -> ModuleType:
    try:
        import re2
    except ImportError as error:
        raise PluginError(
            "Secrets cannot be masked: google-re2 is missing. Run 'pip install google-re2'."
        ) from error
    return cast("ModuleType", re2)


@cache
def _compile_pattern(pattern: str) -> re2._Regexp:
    module = _load_re2()
    try:
        return module.compile(pattern)
    except module.error as error:
        raise PluginError(f"{pattern!r} is not an RE2 pattern: {error}. Correct it.") from error


class Privacy:
    """The plugin with its rules chosen."""

    def __init__(self, rules: tuple[Rule, ...] = RULES) -> None:
        self.rules = rules

    @hookimpl
    def screen_text(self, text: str) -> list[Span]:
        """Return what is secret or private in a text; spans may overlap."""
        if not text.isascii():
            # Half a surrogate pair cannot be UTF-8, which RE2 reads; a question mark is as long.
            text = text.encode("utf-8", "replace").decode("utf-8")
            if _WIDE.search(text):
                text = text.translate(_NARROW)
        read = text.encode()
        # Most turns hold few digits, and counting them spares the rules for cards and accounts.
        digits = len(read) - len(read.translate(None, b"0123456789"))
        rules = [rule for rule in self._select_rules(text.lower()) if rule.digits <= digits]
        return list(dict.fromkeys(span for rule in rules for span in _find_spans(rule, text, read)))

    def _select_rules(self, lowered: str) -> Iterable[Rule]:
        """Return the rules whose keys stand in a text: mostly few, found in one pass."""
        places = self._key_set.Match(lowered)
        # Nothing at all is what a search without enough memory returns: the last key is empty.
        if places is None:
            return self.rules
        return [self.rules[place] for place in sorted(places) if place < len(self.rules)]

    @cached_property
    def _key_set(self) -> re2.Set:
        module = _load_re2()
        keys = module.Set.SearchSet()
        for rule in self.rules:
            keys.Add("|".join(map(module.escape, rule.keys)))
        keys.Add("")
        keys.Compile()
        return keys


SETTINGS = ("allow", "extra")
"""What may stand in ``[plugins.privacy]``."""


def create(settings: Mapping[str, Any]) -> Privacy:
    """Make the plugin, without the allowed rules and with the user's own.

    Raises:
        PluginError: a setting names no rule, or a pattern is not one.
    """
    allowed, extra = settings.get("allow", []), settings.get("extra", {})
    if not isinstance(allowed, list) or not isinstance(extra, dict):
        raise PluginError("[plugins.privacy] takes allow = [names] and a table extra. Correct it.")
    unknown = [str(name) for name in allowed if name not in {rule.name for rule in RULES}]
    if unknown:
        raise PluginError(f"No privacy rule is called {unknown[0]!r}. Correct allow.")
    kept = [rule for rule in RULES if rule.name not in allowed]
    return Privacy((*kept, *(_make_user_rule(name, pattern) for name, pattern in extra.items())))


def _make_user_rule(name: str, pattern: object) -> Rule:
    if not _KEBAB.fullmatch(name) or not isinstance(pattern, str):
        raise PluginError(f"Privacy rule {name!r} needs a kebab-case name and a pattern as text.")
    _compile_pattern(pattern)
    return Rule(name, pattern, check=is_any)


def _find_spans(rule: Rule, text: str, read: bytes) -> list[Span]:
    """Return what a rule finds in a text, which is read in bytes."""
    spans = []
    most = len(text) // rule.apart + _MOST_AT_ONCE if rule.apart else None
    for label, start, end in islice(_find_places(rule, text, read), most):
        if rule.scan is not None:
            spans += [Span(*place, rule.name) for place in rule.scan(text, start, end)]
        elif (
            end > start
            and _is_near(text, label, start, end)
            and rule.check(text, start, end)
            and not _TURN.match(text, max(0, start - len("session:")), end)
        ):
            spans.append(Span(start, end, rule.name))
    return spans


def _find_places(rule: Rule, text: str, read: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield where matches begin, and where the value of each begins and ends."""
    # Only the value is masked, so that the sentence around it still says what it was.
    matches = _compile_pattern(rule.pattern).finditer(read)
    found = ((match.start(), *match.span(match.lastindex or 0)) for match in matches)
    if len(read) == len(text):
        yield from found
        return
    # Counting characters from the last match on is linear; RE2 itself would encode anew each time.
    seen = passed = 0
    for places in found:
        label = passed + len(read[seen : places[0]].decode())
        start = label + len(read[places[0] : places[1]].decode())
        yield label, start, start + len(read[places[1] : places[2]].decode())
        seen, passed = places[0], label


def _is_near(text: str, label: int, start: int, end: int) -> bool:
    """Whether a value belongs to its label: on a line below it, it is all that stands there."""
    gap = text[label:start]
    if "\n" not in gap.lstrip():
        return True
    stop = text.find("\n", end)
    line = text[end : stop if stop >= 0 else len(text)]
    # "All passwords:", an empty line, and `pwgen` begins something else.
    return not line.strip(_CLOSING) and ("\n\n" not in gap or is_drawn(text, start, end))
