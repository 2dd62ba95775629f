"""The form in which a person sets what a card says and what sort of thing it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime

from kimi_memory.domain.note import Card, CardType, Status
from kimi_memory.errors import UsageError
from kimi_memory.jobs.correct import EDITABLE, CardFields
from kimi_memory.nlp.dates.vocabulary import Zone, day_in, start_of
from kimi_memory.web.page_types import Asked

_NAMES = (
    "value", "type", "key", "project", "scope", "tags", "confidence", "status", "valid_from",
    "valid_to",
)  # fmt: skip
_COMMAS = re.compile(r"[,，、]")


def fill_form(card: Card, zone: Zone) -> Mapping[str, object]:
    """Return what the form holds before anything is typed: each field as text, and the choices."""
    plain = ("value", "type", "key", "project", "scope", "status")
    return {
        **{name: str(getattr(card, name)) for name in plain},
        "tags": ", ".join(card.tags),
        "confidence": f"{card.confidence:.2f}",
        "valid_from": _day_of(card.valid_from, zone),
        "valid_to": _day_of(card.valid_to, zone),
        "types": [str(one) for one in CardType],
        "states": [str(one) for one in EDITABLE],
    }


def fill_again(asked: Asked, card: Card, zone: Zone) -> Mapping[str, object]:
    """Return the form as a person left it; a field that was not sent is the card's own."""
    return {**fill_form(card, zone), **{n: asked.get(n) for n in _NAMES if n in asked.given}}


def read_form(form: Mapping[str, object], card: Card, zone: Zone) -> CardFields:
    """Return the fields that a form gives a card; what reads as before stays as it was.

    Raises:
        UsageError: a field is none of its kind.
    """
    was, text = fill_form(card, zone), {name: str(form[name]) for name in _NAMES}
    own = CardFields.of(card)
    changed = [name for name in _NAMES if name != "value" and text[name] != was[name]]
    typed: dict[str, object] = {name: text[name] for name in ("key", "project", "scope")}
    typed["tags"] = tuple(filter(None, map(_tag, _COMMAS.split(text["tags"]))))
    kinds: Mapping[str, Callable[[str], object]]
    kinds = {"type": CardType, "status": Status, "confidence": float}
    typed |= {name: _parse(kind, text[name]) for name, kind in kinds.items() if name in changed}
    for name in ("valid_from", "valid_to"):
        # A day says less than the moment that is kept, so one that stays is not written anew.
        if name in changed:
            typed[name] = parse_day(text[name], zone) if text[name] else None
    return replace(own, **{name: typed[name] for name in changed})  # type: ignore[arg-type]  # by name


def parse_day(text: str, zone: Zone) -> datetime:
    """Return the beginning of a day.

    Raises:
        UsageError: it is none.
    """
    try:
        return start_of(date.fromisoformat(text), zone)
    except ValueError as error:
        raise UsageError(f"{text[:40]!r} is no date. Write one as 2026-02-27.") from error


def _parse(kind: Callable[[str], object], text: str) -> object:
    try:
        return kind(text)
    except ValueError as error:
        raise UsageError(
            f"{text[:40]!r} cannot stand there. Choose what the page offers."
        ) from error


def _day_of(at: datetime | None, zone: Zone) -> str:
    return day_in(at, zone).isoformat() if at else ""


def _tag(text: str) -> str:
    return "-".join(text.split()).lstrip("#")
