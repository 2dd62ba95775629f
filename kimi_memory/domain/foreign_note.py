"""A memo: one thing that any store of memories holds, ours or another system's."""

from __future__ import annotations

from datetime import datetime

from kimi_memory.domain.note import CardType, Link, Quote
from kimi_memory.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Memo:
    """One statement, card or observation, as a reader found it in a file."""

    system: str
    """Which system wrote it: kimi, memex, claude, mem0, claude-mem, markdown."""
    id: str
    """Stays the same when its words change; unique in its file."""
    text: str
    line: int = 1
    """Where it begins in its file; the row in a database."""
    title: str = ""
    key: str = ""
    """What it is about, where the system has such a name."""
    type: CardType | None = None
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Under which others link to it."""
    links: tuple[str, ...] = ()
    """Names of others that it links to."""
    edges: tuple[Link, ...] = ()
    """Links that say how one bears on the other; each leads to a name."""
    created: datetime | None = None
    updated: datetime | None = None
    expires: datetime | None = None
    sources: tuple[str, ...] = ()
    """What it says it rests on, in its own words."""
    quotes: tuple[Quote, ...] = ()
    lang: str = ""
    """The language it says it is in; empty where it does not say."""
    project: str = ""
    scope: str = ""
    """Whose it is, see `kimi_memory.domain.session`; everybody's if empty."""
    live: bool = True
    """Whether it is held true now, not superseded or archived."""
    past: bool = False
    """Whether it tells what was said or happened, and claims nothing about today."""
    stands: bool = False
    """Whether it holds until somebody says otherwise, however long nobody speaks of it."""
