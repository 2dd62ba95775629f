"""The text form of digests."""

from __future__ import annotations

import re
from dataclasses import replace

from kimi_memory.domain.moment import on_clocks, shown, stamp
from kimi_memory.domain.note import Lang
from kimi_memory.domain.pages import Digest, DigestLine, Part
from kimi_memory.formats import note_format
from kimi_memory.formats.body_layout import Body, Layout, Style
from kimi_memory.formats.sanitize import one_line
from kimi_memory.formats.scalar import Value
from kimi_memory.formats.typed_keys import Keys

_LAYOUT = Layout(
    prefix="digest",
    fields=("at", "participants"),
    sections={str(part): Style.LIST for part in Part},
)
# A name holds no mark of the form around it; the turn stands at the very end of the line.
_LINE = re.compile(
    r"(?:\*\*(?P<who>[^*\n]{1,80})\*\*[:：] ?)?(?P<text>.*?)"
    r"(?<!\S)#(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?\s*",
    re.DOTALL,
)


def line_text(line: DigestLine) -> str:
    """Return the text form of a line, without its bullet."""
    who = f"**{line.who}**: " if line.who else ""
    run = "" if line.last == line.first else f"-{line.last}"
    return f"{who}{line.text} #{line.first}{run}" if line.first else f"{who}{line.text}"


def parse_line(part: Part, text: str) -> DigestLine:
    """Return the line of a text; one that names no turn is a remark of a person."""
    found = _LINE.fullmatch(text)
    if found is None or not found["text"].strip():
        return DigestLine(part, text.strip())
    first = int(found["first"])
    last = max(first, int(found["last"] or first))
    return DigestLine(part, found["text"].strip(), first, last, (found["who"] or "").strip())


def _digest_values(digest: Digest) -> dict[str, Value]:
    rest: dict[str, Value] = {
        "at": stamp(digest.at),
        "participants": list(digest.participants),
        "project": digest.project,
        "scope": digest.scope,
    }
    return note_format.values(digest, {"session": digest.session}, rest)


def _digest_body(digest: Digest) -> Body:
    comma = "、" if digest.lang is Lang.ZH else ", "
    fields = {
        "at": shown(digest.at),
        "participants": comma.join(digest.participants),
    }
    sections = {str(part): tuple(map(line_text, digest.part(part))) for part in Part}
    return Body(digest.title, fields, sections)


def _build_digest(keys: Keys, body: Body) -> Digest:
    shared = note_format.common(keys)
    return Digest(
        **shared,
        title=body.title,
        session=keys.needed("session"),
        at=on_clocks(keys.moment("at") or shared["created"], body.fields.get("at", "")),
        participants=keys.texts("participants"),
        lines=tuple(
            parse_line(part, text) for part in Part for text in body.sections.get(str(part), ())
        ),
        project=keys.text("project"),
        scope=keys.text("scope"),
    )


def _clean_line(line: DigestLine) -> DigestLine:
    # As long as the pattern above reads; longer, the name would become part of the text.
    who = one_line(line.who).replace("*", "")[:80].strip()
    plain = replace(line, text=one_line(line.text), who=who if line.first else "")
    # Words that look like the form around them become part of it.
    return parse_line(plain.part, one_line(line_text(plain)))


def _clean_digest(digest: Digest) -> Digest:
    order = list(Part)
    lines = [line for line in map(_clean_line, digest.lines) if line.text]
    return replace(
        digest,
        **note_format.clean_common(digest),
        title=one_line(digest.title),
        session=one_line(digest.session),
        participants=note_format.lines(digest.participants),
        lines=tuple(sorted(lines, key=lambda line: order.index(line.part))),
        project=one_line(digest.project),
        scope=one_line(digest.scope),
    )


def _digest_path(digest: Digest) -> str:
    name = note_format.own_name(digest.title, digest.scope)
    return f"episodic/{digest.at:%Y%m%d}_{name}.md"


SHAPE = note_format.Shape(
    _LAYOUT, _digest_values, _digest_body, _build_digest, _clean_digest, _digest_path
)
