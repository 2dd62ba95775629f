"""Pages that a new memory starts with: untouched, they follow its language."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from kimi_memory.domain.change import Change
from kimi_memory.domain.note import Lang
from kimi_memory.domain.pages import (
    IDENTITY_PATH,
    STARTER_IDENTITY,
    STARTER_NAME,
    STARTER_PAGES,
    Identity,
)
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.templates import fill
from kimi_memory.jobs.render import Render


def translate_first_pages(render: Render, lang: Lang) -> Iterator[Change]:
    """Yield the changes that bring the pages nobody wrote on into a language.

    `init` knows the language of the machine at best; what is said tells that of the person.
    """
    for path, template in STARTER_PAGES.items():
        if render.exists(path) and render.text(path) in _other_language_texts(template, lang):
            yield from render.replace_file(path, fill(template, lang, name="").encode())
    if render.exists(IDENTITY_PATH):
        yield from _translate_identity(render, lang)


def is_first_page(path: str, content: bytes) -> bool:
    """Whether a page is one that a new memory begins with, and nobody wrote on it."""
    text = content.decode("utf-8", "replace")
    if path in STARTER_PAGES:
        return text in [fill(STARTER_PAGES[path], lang, name="") for lang in Lang]
    note = codec.read_note(content, path)
    return isinstance(note, Identity) and _is_untouched(note, text)


def _is_untouched(told: Identity, text: str) -> bool:
    return (told.who, told.mission) == STARTER_IDENTITY[told.lang] and codec.render(told) == text


def _other_language_texts(template: str, lang: Lang) -> list[str]:
    return [fill(template, other, name="") for other in Lang if other is not lang]


def _translate_identity(render: Render, lang: Lang) -> Iterator[Change]:
    text, told = render.text(IDENTITY_PATH), None
    with suppress(FormatError):
        told = codec.parse(text, IDENTITY_PATH)
    if not isinstance(told, Identity) or told.lang is lang:
        return
    if _is_untouched(told, text):
        who, mission = STARTER_IDENTITY[lang]
        name = STARTER_NAME[lang] if told.name == STARTER_NAME[told.lang] else told.name
        new = replace(told, lang=lang, who=who, mission=mission, name=name)
        yield from render.replace_file(IDENTITY_PATH, codec.render(new).encode())
