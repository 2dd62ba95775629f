"""Generated pages: their templates, and lines that show a card and may be edited."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import field, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory.domain.brief import Section
from kimi_memory.domain.note import Card, CardType, Lang
from kimi_memory.errors import UsageError
from kimi_memory.formats.body_layout import fold, unlinked
from kimi_memory.formats.frontmatter import BOM
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import clean, lines_of, printable

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "kimi_memory.templates"


@lru_cache(maxsize=1)
def _load_library() -> tuple[Environment, type[Exception]]:
    """Return what renders our templates, and what it raises."""
    import jinja2.sandbox

    # Words of people fill these templates; taken for a template by mistake, they run no code.
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        loader=jinja2.PackageLoader(_PACKAGE, ""),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    # Nothing a template of ours needs, and the sandbox is as small as it can be.
    for name in ("range", "lipsum", "cycler", "joiner", "namespace"):
        env.globals.pop(name, None)
    return env, jinja2.TemplateError


@lru_cache(maxsize=1)
def _page_library() -> tuple[Environment, type[Exception]]:
    """Return what renders pages for a browser: every value is escaped."""
    env, template_error = _load_library()
    # Invisible characters are shown: some of them turn the rest of a line round.
    return env.overlay(autoescape=True, finalize=_show_invisible), template_error


def _show_invisible(value: object) -> object:
    return printable(value) if type(value) is str else value


def source(template: str, lang: str) -> str:
    """Return the text of ``templates/<template>.<lang>.md.j2`` as it lies there.

    Raises:
        UsageError: there is no such template.
    """
    folder = Path(str(import_module(_PACKAGE).__file__)).parent
    try:
        return (folder / f"{template}.{lang}.md.j2").read_text("utf-8")
    except OSError as error:
        raise UsageError(f"There is no template {template}.{lang}: {error}.") from error


def fill(template: str, lang: str, /, **values: object) -> str:
    """Render ``templates/<template>.<lang>.md.j2``.

    Args:
        template: folder and stem, such as ``starter/MEMORY``.
        lang: ``zh`` or ``en``.
        values: plain text, numbers, lists and dicts; memory text is only ever a value.

    Raises:
        UsageError: there is no such template, or a value is missing.
    """
    env, template_error = _load_library()
    try:
        return env.get_template(f"{template}.{lang}.md.j2").render(values)
    except template_error as error:
        raise UsageError(f"Template {template}.{lang} cannot be rendered: {error}.") from error


def fill_page(template: str, /, **values: object) -> str:
    """Render ``templates/web/<template>.html.j2``; every value is escaped.

    Raises:
        UsageError: there is no such template, or a value is missing.
    """
    env, template_error = _page_library()
    try:
        return env.get_template(f"web/{template}.html.j2").render(values)
    except template_error as error:
        raise UsageError(f"Page {template} cannot be rendered: {error}.") from error


def fill_source(source: str, /, **values: object) -> str:
    """Render the text of a template as `fill_page` does; it may use the parts of our pages.

    Raises:
        UsageError: it is no template, or a value is missing.
    """
    env, template_error = _page_library()
    try:
        return env.from_string(source).render(values)
    except template_error as error:
        raise UsageError(f"The template of a plugin cannot be rendered: {error}.") from error


TITLES: dict[CardType, tuple[str, str]] = {
    CardType.CONCEPT: ("概念", "Concepts"),
    CardType.PATTERN: ("有效的做法", "Patterns that work"),
    CardType.GOTCHA: ("教训", "Lessons"),
    CardType.DECISION: ("决策", "Decisions"),
    CardType.FACT: ("事实", "Facts"),
    CardType.PREFERENCE: ("偏好", "Preferences"),
    CardType.RULE: ("规则", "Rules"),
    CardType.ENTITY: ("人和事物", "People and things"),
    CardType.TASK_STATE: ("未完成的任务", "Open tasks"),
}
"""Headings of the sections of a page, Chinese and English."""
UNSURE = ("尚未确认", "Not confirmed yet")
"""Heading of what waits for a person's word."""
BRIEF_TITLES: dict[Section, tuple[str, str]] = {
    Section.WHO: ("关于用户", "About the user"),
    Section.HOW: ("用户偏好与要求", "User preferences"),
    Section.PROJECTS: ("项目", "Projects"),
    Section.DECISIONS: ("重要决定", "Important decisions"),
    Section.WORK: ("做过的事", "Work done"),
    Section.PEOPLE: ("人物", "People"),
    Section.LESSONS: ("经验教训", "Lessons learned"),
    Section.OPEN: ("待办", "Still open"),
    Section.ALSO: ("其他", "Also known"),
    Section.LATELY: ("最近几天", "The last days"),
    Section.UNSURE: UNSURE,
}
"""Headings of MEMORY.md, Chinese and English."""
_TYPES = {
    Section.WHO: CardType.FACT,
    Section.HOW: CardType.PREFERENCE,
    Section.DECISIONS: CardType.DECISION,
    Section.PEOPLE: CardType.ENTITY,
    Section.LESSONS: CardType.GOTCHA,
    Section.OPEN: CardType.TASK_STATE,
}
"""What a line is that a person writes below such a heading."""
NOTES = ("备注", "Notes")
"""Heading of the last section, which is the reader's own and kept as it is."""

_BULLET = re.compile(r"^[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
# "(2026-02-27, 0.90, disputed)", "（agent，2026-02-27，0.50，至 2026-03-01）".
_TAIL = re.compile(
    r"(?<![ \t])[ \t]*+[(（](?:[^()（）]{1,80}[,，][ \t]{0,8})?[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[,，][ \t]{0,8}(?P<number>[01](?:\.[0-9]+)?))?"
    r"(?:[,，][ \t]{0,8}(?:disputed|有争议|(?:until |至 ?)[0-9-]{10})){0,3}[)）]$"
)
"""Whose word, since when, how sure and until when, behind what a line says."""
DISPUTED = ("有争议", "disputed")
"""Label of a card that another one contradicts, Chinese and English."""
UNTIL = ("至 ", "until ")
"""What stands before the day up to which a card holds."""
# "… ^card-01hx" at the end of a line is Obsidian's mark for a block, which can be linked.
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^(?P<id>[0-9A-Za-z][0-9A-Za-z._-]*)[ \t]*$")
_CONFIDENCE = re.compile(r"\[(?P<number>[01](?:\.[0-9]+)?)\][ \t]*")
# "user.diet: vegan": a key has a dot, so that "Note: call Ben" is no key.
_KEY = re.compile(r"(?P<key>(?=[\w+#@-]*\.)\w(?:[\w.+#@-]{0,200}\w)?)[ \t]*[:：][ \t]*")
_SELF_NAMED = re.compile(
    r"^(?:(?:主要)?原因(?:就是|是|在于)|(?:是|就是)?因为|because (?!of\b)"
    r"|the (?:main )?reason (?:is|was) (?:that )?)[，,：:]?\s*",
    re.IGNORECASE,
)
# "## Notes ##": Markdown lets a heading close as it opens.
_HEADING = re.compile(r"#{1,6}[ \t]++(?P<title>.*?)(?:(?<![ \t])[ \t]+#*|(?<!#)#*)")
_MARK = re.compile(r"^(?P<text>.*\S)\s+\^(?P<id>(?:card|event|digest)-[0-9a-z]+)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """What one line says."""

    text: str
    """Key and value as they stand there."""
    confidence: str = ""
    id: str = ""
    """The card it shows; empty for a line that a person wrote."""
    section: str = ""
    """The folded heading above it."""
    number: int = field(default=0, compare=False)
    """Where it stands in its file, counted from 1; 0 where that is not known."""

    def key_and_value(self, key: str = "") -> tuple[str, str]:
        """Return the two parts of the text.

        Args:
            key: the key the card has; a line that begins with it keeps it.
        """
        for colon in (":", "："):
            if key and self.text.startswith(f"{key}{colon}"):
                return key, self.text[len(key) + 1 :].strip()
        named, value = self.named()
        return (named, value) if named and not key else (key, self.text)

    def named(self) -> tuple[str, str]:
        """Return the key that stands before the colon and what follows; no key where none does."""
        found = _KEY.match(self.text)
        return (found["key"], self.text[found.end() :].strip()) if found else ("", self.text)


@dataclass(slots=True)
class Page:
    """What an overview page says."""

    lines: dict[str, Line] = field(default_factory=dict)
    """By the id of the card."""
    fresh: list[Line] = field(default_factory=list)
    """Lines without an id, and second lines of the same id."""
    prose: list[str] = field(default_factory=list)
    """All else outside of the notes, headings included."""
    notes: str = ""
    """The reader's own section at the end."""


def shown_text(card: Card) -> str:
    """Return what a card says, in one line."""
    return " ".join(clean(card.value).split())


def with_reason(text: str, reason: str, lang: Lang) -> str:
    """Return what is so, with the reason where one was given."""
    # A reason often names itself: "原因是…", "because …".
    reason = _SELF_NAMED.sub("", reason)
    if not reason:
        return text
    return f"{text}（原因：{reason}）" if lang is Lang.ZH else f"{text} (Reason: {reason})"


def labelled(text: str, labels: Iterable[str], lang: Lang) -> str:
    """Return a list item: what it says first, labels in brackets behind it."""
    told = [label for label in labels if label]
    if lang is Lang.ZH:
        return f"- {text}（{'，'.join(told)}）" if told else f"- {text}"
    return f"- {text} ({', '.join(told)})" if told else f"- {text}"


def tailed(text: str, labels: Iterable[str], id: str, lang: Lang) -> str:
    """Return a line of a page: what it says first, its id at the very end."""
    return f"{labelled(text, labels, lang)} ^{id}"


def written(card: Card) -> str:
    """Return the line that shows a card, with the day since which it holds in UTC."""
    since = card.valid_from or card.verified or card.created
    labels = (f"{since:%Y-%m-%d}", f"{card.confidence:.2f}")
    return tailed(shown_text(card), labels, card.id, card.lang)


def shown(card: Card) -> Line:
    """Return what the line of a card says."""
    return read_page(written(card)).lines[card.id]


def type_of(section: str) -> CardType | None:
    """Return the type of cards that a section holds, by its heading in either language."""
    titles = (
        *((t, words) for t, words in TITLES.items()),
        *((t, BRIEF_TITLES[of]) for of, t in _TYPES.items()),
    )
    return next((type for type, words in titles if section in map(fold, words)), None)


def read_page(body: str, above: int = 0) -> Page:
    """Return what the body of a page says; nothing in it is an error.

    Args:
        body: the page without its head.
        above: so many lines stand above the body.
    """
    reader, lines = _Reader(above), lines_of(body)
    for number, line in enumerate(lines):
        heading = _HEADING.fullmatch(line)
        if heading and fold(heading["title"]) in map(fold, NOTES):
            reader.close()
            reader.page.notes = _read_notes(reader.page, lines[number + 1 :])
            return reader.page
        reader.add_line(line, heading["title"] if heading else None)
    reader.close()
    return reader.page


class _Reader:
    """Reads a page line by line; an item goes on until something else begins."""

    def __init__(self, above: int) -> None:
        self.page = Page()
        self._section, self._item = "", list[str]()
        self._number, self._first = above, 0

    def add_line(self, line: str, heading: str | None) -> None:
        """Read one line."""
        bullet = _BULLET.match(line)
        self._number += 1
        if heading is not None or bullet or not line.strip():
            self.close()
        if heading is not None:
            self._section = fold(heading)
            self.page.prose.append(line.strip())
        elif bullet:
            self._item, self._first = [line[bullet.end() :]], self._number
        elif self._item:
            self._item.append(line)
        elif line.strip():
            self.page.prose.append(line.strip())

    def close(self) -> None:
        """End the item that is open."""
        if self._item:
            _add_line(self.page, self._item, self._section, self._first)
        self._item = []


def strangers(page: Page, base: Page, own: Iterable[str]) -> list[str]:
    """Return the prose that a person added to a generated page.

    Args:
        page: the page as it is.
        base: the page as it was generated.
        own: headings that generated pages have.
    """
    ours = {*base.prose, *(f"## {title}" for title in own)}
    return [line for line in page.prose if line not in ours]


def _add_line(page: Page, parts: list[str], section: str, number: int = 0) -> None:
    whole = unlinked(" ".join(" ".join(parts).split()))
    line = replace(_parse_line(whole, section), number=number)
    if line.id and line.id not in page.lines:
        page.lines[line.id] = line
    elif line.text:
        page.fresh.append(line)


def _parse_line(whole: str, section: str) -> Line:
    found = _BLOCK_ID.search(whole)
    text = whole[: found.start()].strip() if found else whole
    # Pages of earlier versions begin with the number.
    tail = _TAIL.search(text)
    if tail and not (found or tail["number"]):
        tail = None  # The date is a person's own.
    confidence = tail or _CONFIDENCE.match(text)
    rest = text[: confidence.start()] + text[confidence.end() :] if confidence else text
    return Line(
        rest.strip(), (confidence and confidence["number"]) or "", found["id"] if found else "",
        section,
    )  # fmt: skip


def _read_notes(page: Page, lines: list[str]) -> str:
    """Return the notes; lines that show cards were put there and are read as such."""
    kept = []
    for line in lines:
        if _BULLET.match(line) and _BLOCK_ID.search(line):
            _add_line(page, [_BULLET.sub("", line, count=1)], "")
        else:
            kept.append(line.rstrip())
    return "\n".join(kept).strip("\n")


def marked(text: str, id: str) -> str:
    """Return a line with the mark that names its note."""
    return f"{text} ^{id}"


def split_mark(line: str) -> tuple[str, str]:
    """Return a line without its mark, and the id in the mark; empty where it has no mark."""
    found = _MARK.match(unlinked(line))
    return (found["text"], found["id"]) if found else (line, "")


_SIGN = re.compile(r"^generated: ([0-9a-f]{12})$", re.MULTILINE)
# As long as the hash: a page is hashed with its own hash left blank.
BLANK = "0" * 12


def may_rewrite(text: str) -> bool:
    """Whether nobody would miss what a page says: it is generated, or empty."""
    return is_generated(text) or not text.removeprefix(BOM).strip()


def signed(text: str) -> str:
    """Return a page with its own hash where zeros stand."""
    # A hash of itself, as a page has nowhere else to say how it was written.
    return text.replace(f"generated: {BLANK}", f"generated: {_hash_text(text)}", 1)


def sign_of(text: str) -> str:
    """Return the hash a page was generated with; empty for a page that was not."""
    # An editor that only changed the line ends made no edit.
    found = _SIGN.search(text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n"))
    return found[1] if found else ""


def is_generated(text: str) -> bool:
    """Whether a page is exactly what the generator wrote."""
    found = _SIGN.search(text)
    if found is None:
        return False
    blank = text[: found.start(1)] + BLANK + text[found.end(1) :]
    return _hash_text(blank) == found[1]


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
