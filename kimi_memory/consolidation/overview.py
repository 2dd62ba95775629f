"""MEMORY.md: active knowledge by type, generated until a person edits it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from kimi_memory.consolidation.render import Render
from kimi_memory.model.card import Card, CardType
from kimi_memory.model.change import Change
from kimi_memory.model.note import Lang, Status
from kimi_memory.templating import fill

PAGE = "MEMORY.md"
_MARK = re.compile(r"^generated: ([0-9a-f]{12})$", re.MULTILINE)
_BLANK = "0" * 12
_MOST = 200


class Overview:
    """Writes the overview page, unless somebody edited it since.

    Args:
        render: reads and compares files.
        name: what the memory is called.
        lang: language of the page.
    """

    def __init__(self, render: Render, name: str, lang: Lang) -> None:
        self._render, self._name, self._lang = render, name, lang

    def changes(self, cards: Iterable[Card]) -> tuple[list[Change], list[str]]:
        """Return the change of the page and a note where it was left alone."""
        if not self._render.exists(PAGE):
            return self._render.replace_file(PAGE, self.text(cards).encode()), []
        if not is_generated(self._render.text(PAGE)):
            return [], [f"{PAGE} was edited by hand and stays as it is"]
        return self._render.replace_file(PAGE, self.text(cards).encode()), []

    @classmethod
    def of_nothing(cls, name: str, lang: Lang) -> str:
        """Return the page of a new memory."""
        return _page([], name, lang)

    def text(self, cards: Iterable[Card]) -> str:
        """Return the page for these cards, signed with its own hash."""
        live = [card for card in cards if card.status is Status.ACTIVE]
        live.sort(key=lambda card: (-card.confidence, card.key, card.id))
        return _page(live, self._name, self._lang)


def _page(live: list[Card], name: str, lang: Lang) -> str:
    groups = [
        {"type": str(type), "cards": [_line(c) for c in live[:_MOST] if c.type is type]}
        for type in CardType
    ]
    text = fill(
        "notes/MEMORY",
        lang,
        name=name,
        groups=[group for group in groups if group["cards"]],
        more=max(0, len(live) - _MOST),
        mark=_BLANK,
    )
    return text.replace(f"generated: {_BLANK}", f"generated: {_sign(text)}", 1)


def is_generated(text: str) -> bool:
    """Whether a page is exactly what the generator wrote."""
    found = _MARK.search(text)
    if found is None:
        return False
    blank = text[: found.start(1)] + _BLANK + text[found.end(1) :]
    return _sign(blank) == found[1]


def _sign(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _line(card: Card) -> dict[str, str]:
    return {
        "id": card.id,
        "key": card.key,
        "value": " ".join(card.value.split()),
        "confidence": f"{card.confidence:.2f}",
    }
