"""Orders that a person gave as a list: each is a card, so that each can be changed alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import CardType, Quote
from kimi_memory.nlp.basic.regex import regex
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.subjects import key_of

# "1. use tabs 2) no emojis", "①每天写日报 ②别用表格"; a figure inside of a word is none.
_ITEM = regex(r"(?:(?<=[\s，,；;。：:])|^)(?:\(?\d{1,2}[).、）]|[①-⑨])\s*")
_ENDS = " \t\r\n,，;；"
LEAST = 2
"""A list has so many items, and each of them so many words."""


def apart(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Yield the drafts, those of a list of orders item by item."""
    for draft in drafts:
        yield from _split_items(draft) or [draft]


def _split_items(draft: Draft) -> list[Draft]:
    """Return a draft for each item of a list of orders; none where it is no list."""
    if draft.type is not CardType.RULE or draft.gone or draft.done or len(draft.quotes) != 1:
        return []
    [quote] = draft.quotes
    starts = [found.span() for found in _ITEM.finditer(quote.text)]
    ends = [*(start for start, _ in starts[1:]), len(quote.text)]
    texts = [
        quote.text[start:end].strip(_ENDS) for (_, start), end in zip(starts, ends, strict=False)
    ]
    if len(texts) < LEAST or any(traits_of(text).words < LEAST for text in texts):
        return []
    return [_build_item(draft, quote, text) for text in texts]


def _build_item(draft: Draft, quote: Quote, text: str) -> Draft:
    value = " ".join(text.split())
    return replace(
        draft,
        key=key_of("rule", value, draft.project),
        title=headline(value),
        value=value,
        quotes=(Quote(quote.session, quote.n, text),),
    )
