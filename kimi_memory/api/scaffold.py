"""What a new memory starts with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

from kimi_memory.api.options import Home, Opening, open_store, read_settings, user_host
from kimi_memory.capture.log import Screen
from kimi_memory.config import FORMAT, MARKER
from kimi_memory.domain.ids import derived_id, new_id
from kimi_memory.domain.job import Create
from kimi_memory.domain.note import Lang
from kimi_memory.domain.pages import STARTER_IDENTITY, STARTER_NAME, STARTER_PAGES, Identity
from kimi_memory.formats import codec
from kimi_memory.formats.page_lines import fill
from kimi_memory.jobs.pages import PAGE, empty_page
from kimi_memory.nlp.basic.patterns import language_of
from kimi_memory.nlp.basic.safe_text import one_line
from kimi_memory.store.files.disk import lay
from kimi_memory.store.files.paths import TIERS
from kimi_memory.store.git.history import History

_SETTINGS = """\
# Settings of this memory: data only. Hosts, keys and plugins are chosen in your own
# config directory. All settings: docs/settings.md.

[memory]
id = "{id}"
format = {format}
name = {name}
language = "{language}"
"""


def lay_out(root: Path, opening: Opening, name: str, language: str, locale: str) -> Sequence[str]:
    """Make the folder of a memory and its history, where they are not there; return notes.

    Raises:
        HistoryError: the folder lies where a repository of its own must not be.
    """
    fresh = not (root / MARKER).is_file()
    lay(root, ())
    # Where git may not be, nothing else is written either.
    git = fresh or read_settings(root).history.git
    history = History(root, lock=nullcontext, clock=opening.clock, enabled=git)
    notes = () if history.ready() else history.init()
    if fresh:
        lay(root, TIERS)
        home = opening.home or Home.of_user()
        screen = Screen(opening.host or user_host(home), home.key())
        files = starter(one_line(screen.pass_name(name)), language, opening.clock(), locale=locale)
        with open_store(root, home, home.key(), opening.clock) as store:
            # A folder may hold pages already, which are not overwritten.
            store.apply([f for f in files if not store.exists(f.path)], opening.actor)
    return notes


def starter(name: str, language: str, now: datetime, *, locale: str = "") -> list[Create]:
    """Return the files of a new memory.

    Args:
        name: what people call it; may be empty.
        language: ``auto``, ``zh`` or ``en``.
        now: the moment it is made.
        locale: such as ``zh_CN.UTF-8``; tells the language of the pages where that is ``auto``.
    """
    # "王芳" is Chinese; "Kimi 笔记" may be either.
    named = language_of(name) == "zh" and not any(ch.isascii() and ch.isalpha() for ch in name)
    chinese = locale.lower().startswith("zh") or (bool(name) and named)
    lang = Lang.ZH if language == "zh" or (language == "auto" and chinese) else Lang.EN
    settings = _SETTINGS.format(
        id=new_id("memory", now), format=FORMAT, name=_quote_toml(name), language=language
    )
    who, mission = STARTER_IDENTITY[lang]
    identity = Identity(
        id=derived_id("identity", now, name),
        created=now,
        updated=now,
        lang=lang,
        name=name or STARTER_NAME[lang],
        who=who,
        mission=mission,
    )
    pages = {
        MARKER: settings,
        PAGE: empty_page(name, lang),
        **{path: fill(page, lang, name=name) for path, page in STARTER_PAGES.items()},
        codec.place(identity): codec.render(identity),
    }
    return [Create(path, text.encode()) for path, text in pages.items()]


def starter_lines() -> frozenset[str]:
    """Return the lines that a new memory begins with, in every language; no person said them."""
    pages = [fill(page, lang, name="") for page in STARTER_PAGES.values() for lang in Lang]
    lines = {line.strip().removeprefix("- ") for page in pages for line in page.splitlines()}
    return frozenset(line for line in lines if line)


def _quote_toml(text: str) -> str:
    """Return a TOML basic string; JSON's escapes are valid TOML."""
    return json.dumps(text, ensure_ascii=False)
