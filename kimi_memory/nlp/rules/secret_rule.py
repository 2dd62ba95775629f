"""One rule of the table of secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kimi_memory.nlp.rules.credentials import Check, is_real

Scan = Callable[[str, int, int], Iterable[tuple[int, int]]]


class Rule(NamedTuple):
    """One sort of secret: group 1 of the pattern, else all of it, is what is masked."""

    name: str
    pattern: str
    keys: tuple[str, ...] = ()
    """Lower-case pieces, one of which any match contains; none: the pattern always runs."""
    check: Check = is_real
    digits: int = 0
    """How many digits any match holds at least."""
    scan: Scan | None = None
    """Finds values around the match, which is no value itself but announces them."""
    apart: int = 0
    """So many characters apart the words of a scan stand at least; more of them are left out."""


def make_rule(
    name: str, pattern: str, keys: str = "", check: Check = is_real, digits: int = 0
) -> Rule:
    """Make a rule; the keys stand in one text, with ␣ for a blank in them."""
    return Rule(name, pattern, tuple(key.replace("␣", " ") for key in keys.split()), check, digits)


def make_scan(name: str, pattern: str, keys: str, scan: Scan, digits: int) -> Rule:
    """Make a rule whose pattern announces values that a scan finds."""
    return make_rule(name, pattern, keys, digits=digits)._replace(scan=scan)
