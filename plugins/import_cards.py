"""Cards of other systems: one Markdown file a card, with [[wikilinks]].

Why it exists: memex, Claude's own memory and many vaults keep a thought a file, and what
makes them worth more than their words is how they link. A file is a card when its front
matter names it (``title`` or ``name``), or when it holds a wikilink. The system is
``claude`` where the front matter is that of Claude's memory (``name`` and
``description``), else ``memex``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath

from kimi_memory import hookimpl
from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.note import CardType
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.errors import FormatError
from kimi_memory.formats import frontmatter
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.timestamps import moment

_WIKILINK = regex(r"!?\[\[([^\[\]|#^\n]{1,200})(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_TITLE = regex(r"(?:\A|\n)# +([^\n]+)")
_FENCE = regex(r"(?:\A|\n)(?:```|~~~)")
_TYPES = {
    **{str(kind): kind for kind in CardType},
    "user": CardType.PREFERENCE,
    "feedback": CardType.RULE,
    "project": CardType.FACT,
    "reference": CardType.CONCEPT,
}
_SYSTEMS = ("memex", "claude")
_INDEXES = {"memory.md", "readme.md", "index.md", "agents.md", "claude.md"}


@hookimpl
def read_memories(file: TranscriptFile, system: str) -> Iterable[Memo] | None:
    """Read one card; None for any other file."""
    path = PurePath(file.name)
    if system not in ("", *_SYSTEMS) or path.suffix.lower() not in {".md", ".markdown"}:
        return None
    with file.open() as stream:
        text = stream.read().decode("utf-8", "replace").removeprefix("\ufeff")
    values, body, line = _split_frontmatter(text, file.name)
    is_card = bool(values.get("title") or values.get("name"))
    # An index page is made of links and holds nothing of its own.
    is_card = is_card or (path.name.lower() not in _INDEXES and _WIKILINK.search(body) is not None)
    if not is_card and system != "memex":
        return None
    found = "claude" if values.get("name") and values.get("description") else "memex"
    if system not in ("", found):
        return None
    return [_make_memo(path, found, values, (body, line))] if body.strip() else []


def _split_frontmatter(text: str, name: str) -> tuple[Mapping[str, object], str, int]:
    """Return keys, body and the body's first line; a broken head counts as body."""
    try:
        front = frontmatter.read(text, name)
    except FormatError:
        return {}, text, 1
    return front.values, front.body, front.first_body_line


def _make_memo(
    path: PurePath, system: str, values: Mapping[str, object], body: tuple[str, int]
) -> Memo:
    text, line = body
    heading = _TITLE.search(text)
    named = _text_value(values, "title") or _text_value(values, "name")
    title = named or (heading[1].strip() if heading else path.stem)
    words = _TITLE.sub("", text, count=1) if heading and heading[1].strip() == title else text
    lead = _text_value(values, "description")
    about = values.get("metadata")
    kind = _text_value(values, "type") or (
        _text_value(about, "type") if isinstance(about, dict) else ""
    )
    return Memo(
        system=system,
        id=path.stem,
        text="\n\n".join(part for part in (lead, words.strip()) if part) or title,
        line=line + (text[: len(text) - len(text.lstrip())].count("\n")),
        title=title,
        type=_TYPES.get(kind.lower()),
        tags=_text_values(values.get("tags")),
        names=(path.stem, title, *_text_values(values.get("aliases"))),
        links=tuple(
            dict.fromkeys(m[1].strip() for m in _WIKILINK.finditer(_strip_fenced_code(text)))
        ),
        created=moment(_text_value(values, "created") or _text_value(values, "date")),
        updated=moment(_text_value(values, "updated") or _text_value(values, "modified")),
        expires=moment(_text_value(values, "expires")),
        sources=_text_values(values.get("source")) or _text_values(values.get("sources")),
        project=_text_value(values, "project"),
    )


def _strip_fenced_code(text: str) -> str:
    """Return a text without fenced code: brackets in a script are no links."""
    return "\n".join(_FENCE.split(text)[::2])


def _text_value(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""


def _text_values(value: object) -> tuple[str, ...]:
    many = value if isinstance(value, list) else [value]
    return tuple(one.strip().lstrip("#") for one in many if isinstance(one, str) and one.strip())
