"""Links that note programs such as Obsidian follow: written where a page is made, read over by us.

A line that ends in the mark of a note, ``… ^card-01hx``, gets a link to its file before the mark.
Its words are an arrow, so that nobody takes it for a link that a person wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from kimi_memory.domain.note import Lang

ARROW = "→"
Places = Callable[[str], str]
"""Returns where the note of an id lies; empty where it has no file."""

_LINK = r"\[\[[^\[\]|\n]+\|→(?: [^\[\]|\n]*)?\]\]"
_MARKED = re.compile(
    rf"(?: {_LINK})+(?=[ \t]+\^[0-9A-Za-z][0-9A-Za-z._-]*[ \t]*\r?$)", re.MULTILINE
)
_MARK = re.compile(r"(?<=\S) (?=\^(?P<id>(?:card|event|digest)-[0-9a-z]+)[ \t]*\r?$)", re.MULTILINE)
_LISTED = re.compile(rf"(?:、|, )(?:取代 |replaces )?{_LINK}")
_ALONE = re.compile(rf"^- (?:相关链接|Links): (?:取代 |replaces )?{_LINK}\r?\n", re.MULTILINE)
# With these in its name a file cannot be linked to.
_UNFIT = frozenset("[]|#^\n")
TURN = (
    r"\[\[session_(?P<session>[^\]|#^\n]{1,255})"
    r"(?:\]\] #(?P<n>[0-9]{1,9})|#\^t[0-9]{1,9}\|#(?P<m>[0-9]{1,9}))"
)


def link_to(path: str, words: str = "") -> str:
    """Return the link to a file, empty where its name cannot stand in one."""
    target = path.removesuffix(".md")
    if not target or _UNFIT & set(target):
        return ""
    return f"[[{target}|{ARROW}{' ' if words else ''}{words}]]"


def turn_link(session: str, first: int, last: int = 0) -> str:
    """Return the link to a turn on the page of its session, or to the first of several."""
    run = f"-{last}" if last > first else ""
    return f"[[session_{session}#^t{first}|#{first}{run}]]"


def linked(text: str, places: Places) -> str:
    """Return a text in which each line with a mark links to its note."""

    def link(found: re.Match[str]) -> str:
        to = link_to(places(found["id"]))
        return f" {to} " if to else " "

    return _MARK.sub(link, unlinked(text))


def unlinked(text: str) -> str:
    """Return a text without the links before its marks."""
    return _MARKED.sub("", text) if f"|{ARROW}]]" in text else text


def bare_text(text: str) -> str:
    """Return the text of a note without the links that follow from where other notes lie."""
    if f"|{ARROW}" not in text:
        return text
    return _ALONE.sub("", _LISTED.sub("", unlinked(text)))


def related_links(
    sessions: Iterable[str], replaced: Iterable[str], others: Iterable[str], lang: Lang
) -> str:
    """Return what a card shows of its links: its sessions, what it replaces, what it names.

    Args:
        sessions: ids of the sessions it rests on.
        replaced: files of the cards it replaces.
        others: files of the notes it links to.
        lang: the language of the words.
    """
    comma, word = ("、", "取代 ") if lang is Lang.ZH else (", ", "replaces ")
    links = [f"[[session_{id}]]" for id in sessions]
    links += [f"{word}{link}" for path in replaced if (link := link_to(path, _stem(path)))]
    links += [link for path in others if (link := link_to(path, _stem(path)))]
    return comma.join(dict.fromkeys(links))


def without_targets(content: bytes, gone: Collection[str]) -> bytes:
    """Return the content of a note without the links to files that are gone."""
    if not gone:
        return content
    text = content.decode("utf-8", "surrogateescape")
    for path in gone:
        form = rf"\[\[{re.escape(path.removesuffix('.md'))}\|→(?: [^\[\]|\n]*)?\]\]"
        text = re.sub(rf"(?:(?:、|, )?(?:取代 |replaces )|(?:、|, )| )?{form}", "", text)
    return text.encode("utf-8", "surrogateescape")


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")
