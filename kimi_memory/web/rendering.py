"""Rendering: a view becomes HTML, with the frame that stands around every page."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC
from functools import partial
from importlib.resources import files
from typing import NamedTuple
from urllib.parse import parse_qs

from kimi_memory.formats.chinese import translate_check, translate_finding, translate_message
from kimi_memory.formats.page_lines import fill_page, fill_source
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone
from kimi_memory.web.captions import captions
from kimi_memory.web.page_table import EVERYBODY, NAVIGATION
from kimi_memory.web.page_types import MOST_FIELDS, ROOT, View
from kimi_memory.web.seats import Seat
from kimi_memory.web.telling import NOTHING

_TELLERS: Mapping[str, Callable[[str], str]] = {
    "tell": translate_message,
    "tell_finding": translate_finding,
    "tell_check": translate_check,
}
"""What says English messages of the library in Chinese."""


class Lead(NamedTuple):
    """One line of the navigation."""

    name: str
    to: str
    """The address, below the pages of its memory."""
    key: str
    """The letter that opens it after ``g``; empty if none does."""
    waiting: int = 0
    """How much waits for a person there."""


class Asset(NamedTuple):
    """A file that pages use."""

    mark: str
    """Of its content: the address of another content is another one."""
    raw: bytes


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page stands."""

    base: str
    """The address of all pages of its memory."""
    memory: str
    """The name of the memory."""
    plugins: Sequence[tuple[str, tuple[str, str]]]
    """Names and titles of the pages of plugins."""
    several: bool = False
    """Whether other memories are served as well."""
    zone: Zone = UTC
    """Times are shown on its clocks."""


class Frame:
    """What stands around every page, in one language or the other."""

    def __init__(self) -> None:
        self.assets = dict(_read_assets())
        self._links = {
            name: f"{ROOT}/static/{one.mark}/{name}" for name, one in self.assets.items()
        }

    def render(
        self, view: View, place: Place, address: tuple[str, str], seat: Seat | None, lang: str,
        *, counts: Mapping[str, int] | None = None,
    ) -> str:  # fmt: skip
        """Return a page as HTML.

        Args:
            view: what it shows.
            place: where it stands.
            address: its whole path, and the query behind it.
            seat: who looks at it; None for the door.
            lang: the language of its own words.
            counts: how much waits for a person, by the address of a page.
        """
        path, query = address
        own, below = captions(lang), path.removeprefix(ROOT)
        asked, here = _parse_query(query), path.removeprefix(place.base)
        bound = seat is not None and bool(seat.caller.space)
        title = view.title if isinstance(view.title, str) else view.title[lang == "zh"]
        # Only names of captions: an address must not put words of its own on a page.
        said = own.get(f"said_{asked['said'][-1]}", "") if "said" in asked else ""
        section = f"/{here.split('/')[1]}" if here else "/"
        flash = {
            "said": said,
            "jobs": [id[:80] for id in asked.get("job", ())],
            "back": asked.get("back", [section])[-1],
        }
        values: dict[str, object] = {
            **{**NOTHING, "q": asked.get("q", [""])[-1], **view.values},
            "lang": lang,
            "title": own.get(title, title),
            "ui": place.base,
            "door": ROOT,
            "here": here,
            "section": section,
            "address": f"{below}?{query}" if query else below,
            "navigation": [*_navigation(place, own, lang, counts or {}, bound=bound)],
            "several": place.several,
            "seated": seat is not None,
            "bound": bound,
            "memory_name": place.memory,
            "on_clocks": partial(in_zone, zone=place.zone),
            "flash": flash,
            **(_TELLERS if lang == "zh" else dict.fromkeys(_TELLERS, str)),
            "asset": self._links,
        }
        if view.source:
            words = {name: both[lang == "zh"] for name, both in view.labels.items()}
            values["body"] = fill_source(view.source, **values, t={**own, **words})
        return fill_page(view.template, **values, t=own)


def _parse_query(query: str) -> Mapping[str, Sequence[str]]:
    try:
        return parse_qs(query, max_num_fields=MOST_FIELDS)
    except ValueError:
        # Too many fields come from no form of ours.
        return {}


def _navigation(
    place: Place, own: Mapping[str, str], lang: str, counts: Mapping[str, int], *, bound: bool
) -> Iterator[list[Lead]]:
    """Yield the groups of pages that every page leads to."""
    for group in NAVIGATION:
        leads = [
            Lead(own[name], to, key, counts.get(to, 0))
            for name, to, key in group
            if not bound or to in EVERYBODY
        ]
        if leads:
            yield leads
    if place.plugins and not bound:
        yield [Lead(titles[lang == "zh"], f"/{name}", "") for name, titles in place.plugins]


def _read_assets() -> Iterator[tuple[str, Asset]]:
    for one in (files("kimi_memory.web") / "static").iterdir():
        raw = one.read_bytes()
        yield one.name, Asset(hashlib.sha256(raw).hexdigest()[:8], raw)
