"""The text forms of cards, projects, agents and identity, and the heads of cards."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar, overload

from kimi_memory.domain.graph import SUGGESTED
from kimi_memory.domain.note import Card, CardType, Lang, Link, Note, Origin, Status
from kimi_memory.domain.pages import IDENTITY_PATH, Agent, Identity, Project, Todo
from kimi_memory.formats import codec
from kimi_memory.formats.body_layout import Body, Layout, Places, Style, related_links
from kimi_memory.formats.codec import Keys
from kimi_memory.formats.page_lines import DISPUTED, UNTIL, marked, shown_text, split_mark, tailed
from kimi_memory.nlp.basic.safe_text import Value, clean, one_line
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone

_LAYOUT = Layout(fields=(*Card.body_fields, "links"), sections={"quotes": Style.QUOTES})


def _card_values(card: Card) -> dict[str, Value]:
    first: dict[str, Value] = {"type": str(card.type), "key": card.key}
    # What is empty is left out of the file, so that people see only lines that say something.
    rest: dict[str, Value] = {
        "category": card.category,
        "project": card.project,
        "scope": card.scope,
        "confidence": float(card.confidence),
        "importance": float(card.importance),
        "temperature": float(card.temperature),
        "trust": str(card.trust),
        "verified": codec.moment_text(card.verified),
        "valid_from": codec.moment_text(card.valid_from),
        "valid_to": codec.moment_text(card.valid_to),
        "expires": codec.moment_text(card.expires),
        "supersedes": list(card.supersedes),
        "links": [str(link) for link in card.links],
    }
    return codec.values(card, first, rest)


def _card_body(card: Card) -> Body:
    fields = dict(zip(card.body_fields, card.body_texts, strict=True))
    fields["links"] = links_text(card)
    return Body(card.title, fields, {"quotes": codec.quote_blocks(card.quotes)})


def links_text(card: Card, places: Places = lambda id: "") -> str:
    """Return what a card shows of its links: Obsidian and its like draw their graph from the body.

    Args:
        card: the card.
        places: where the notes lie; of those without a place nothing is shown.
    """
    sessions = dict.fromkeys(source.session for source in card.sources)
    others = (link.to for link in card.links if link.weight > 0)
    return related_links(sessions, map(places, card.supersedes), map(places, others), card.lang)


def _build_card(keys: Keys, body: Body) -> Card:
    return Card(
        **codec.common(keys),
        title=body.title,
        type=keys.choice("type", CardType),
        key=keys.needed("key"),
        **codec.read_fields(body, Card.body_fields),
        quotes=codec.quotes_of(body),
        category=keys.text("category", "general"),
        project=keys.text("project"),
        scope=keys.text("scope"),
        confidence=keys.number("confidence", 0.5),
        importance=keys.number("importance", 0.5),
        trust=keys.choice("trust", Origin, Origin.AGENT),
        verified=keys.moment("verified"),
        valid_from=keys.moment("valid_from"),
        valid_to=keys.moment("valid_to"),
        expires=keys.moment("expires"),
        supersedes=keys.texts("supersedes"),
        links=tuple(keys.parsed("links", Link.parse, text) for text in keys.texts("links")),
        temperature=keys.number("temperature", 1.0),
    )


def _clean_card(card: Card) -> Card:
    return codec.with_fields(
        card,
        tags=codec.lines(card.tags),
        **codec.clean_lines(card, "title", "key", "project", "scope"),
        **codec.clean_texts(card, Card.body_fields),
        quotes=codec.clean_quotes(card.quotes),
        category=one_line(card.category) or "general",
        supersedes=codec.lines(card.supersedes),
        links=tuple(replace(link, reason=one_line(link.reason)) for link in card.links),
    )


def _card_path(card: Card) -> str:
    name = codec.own_name(card.key or card.title, card.scope)
    return f"semantic/{codec.slug(card.category)}/{name}.md"


SHAPE = codec.Shape(_LAYOUT, _card_values, _card_body, _build_card, _clean_card, _card_path)


class Head(NamedTuple):
    """What a card says of itself at a glance; the names are those of `Card`."""

    # Ten thousand are made for one job, which a frozen dataclass does three times as slowly.
    id: str
    key: str
    type: CardType
    status: Status
    lang: Lang
    category: str
    project: str
    scope: str
    trust: Origin
    confidence: float
    importance: float
    created: datetime
    updated: datetime
    verified: datetime | None
    valid_from: datetime | None
    expires: datetime | None
    valid_to: datetime | None
    sourced: bool
    """Whether it names a source besides a person's own hand."""
    quoted: tuple[str, ...]
    """Hashes of the quotes it rests on."""
    suggests: bool
    """Whether one of its links waits to be confirmed."""
    text: str
    """What it says, in one line."""

    @property
    def seen(self) -> datetime:
        """When it was last said, or first written."""
        return self.verified or self.created

    @property
    def since(self) -> datetime:
        """Since when it holds."""
        return self.valid_from or self.seen

    @property
    def stands(self) -> bool:
        """Whether it holds until somebody says otherwise: no silence makes it doubtful.

        Orders, preferences, decisions, lessons, and what people tell of themselves and their
        world stand; the state of tasks, and what an agent found out, do not.
        """
        if self.type is CardType.FACT:
            # "I am allergic to nuts" stays true when nobody speaks of it for a year.
            return self.trust in (Origin.HUMAN, Origin.IMPORT)
        return self.type is not CardType.TASK_STATE

    def line(self, zone: Zone = UTC, person: str = "") -> str:
        """Return the line that shows it on a page; see `labels`."""
        return tailed(self.text, self.labels(zone, person), self.id, self.lang)

    def labels(self, zone: Zone = UTC, person: str = "") -> tuple[str, ...]:
        """Return whose word it is, since when, how sure, until when.

        Args:
            zone: the zone of the days.
            person: who said it, where several people speak; else only what no person said is named.
        """
        side = self.lang is Lang.EN
        ends = f"{UNTIL[side]}{in_zone(self.valid_to, zone):%Y-%m-%d}" if self.valid_to else ""
        return (
            person if self.trust is Origin.HUMAN else str(self.trust),
            f"{in_zone(self.since, zone):%Y-%m-%d}",
            f"{self.confidence:.2f}",
            DISPUTED[side] if self.status is Status.CONFLICTED else "",
            ends,
        )

    @classmethod
    def read(cls, row: list[Any]) -> Head:
        """Return a head from its JSON form, where enums and moments are text."""
        # By place and without names: ten thousand rows are kept in one file, and read in each start
        # of a job.
        id, key, type, status, lang, category, project, scope, trust, *rest = row
        confidence, importance, *moments, sourced, quoted, suggests, text = rest
        created, updated, verified, valid_from, expires, valid_to = map(_parse_moment, moments)
        return cls(
            id, key, _TYPES[type], _STATES[status], _LANGS[lang], category, project,
            scope, _ORIGINS[trust], confidence, importance, created or _NEVER, updated or _NEVER,
            verified, valid_from, expires, valid_to, sourced, tuple(quoted), suggests, text,
        )  # fmt: skip

    @classmethod
    def of(cls, card: Card | Head) -> Head:
        """Return the head of a card; a head is its own."""
        if isinstance(card, Head):
            return card
        return cls(
            id=card.id,
            key=card.key,
            type=card.type,
            status=card.status,
            lang=card.lang,
            category=card.category,
            project=card.project,
            scope=card.scope,
            trust=card.trust,
            confidence=card.confidence,
            importance=card.importance,
            created=card.created,
            updated=card.updated,
            verified=card.verified,
            valid_from=card.valid_from,
            expires=card.expires,
            valid_to=card.valid_to,
            # An edit by hand is no evidence of what was said; it only says that the owner wants it
            # so.
            sourced=any(not source.by_hand for source in card.sources),
            quoted=tuple(quote.hash for quote in card.quotes),
            suggests=any(link.reason.startswith(SUGGESTED) for link in card.links),
            text=shown_text(card),
        )


def says_open(told: Card | Head, task: Card) -> bool:
    """Whether a live fact only says, in the words of a task, that the task is open."""
    text = told.text if isinstance(told, Head) else told.value
    held = told.status not in (Status.SUPERSEDED, Status.ARCHIVED)
    mine = (told.project, told.scope) == (task.project, task.scope)
    return held and mine and told.type is CardType.FACT and task.value in text


_NEVER = datetime.min.replace(tzinfo=UTC)
# To call an enum for each of 100,000 rows takes half of the time that reading them takes.
_TYPES = {str(one): one for one in CardType}
_STATES = {str(one): one for one in Status}
_LANGS = {str(one): one for one in Lang}
_ORIGINS = {str(one): one for one in Origin}


def _parse_moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


class Cards(Sequence[Card]):
    """Cards that are read from their files one by one, when they are first used.

    It is a sequence like any other; `heads` and `where` spare the reading.
    """

    def __init__(self, heads: Collection[Head], load: Callable[[Head], Card]) -> None:
        self.heads = tuple(heads)
        self._load = load

    @classmethod
    def of(cls, cards: Iterable[Card]) -> Cards:
        """Return cards that were read already under this interface."""
        if isinstance(cards, Cards):
            return cards
        known = {card.id: card for card in cards}
        return cls([Head.of(card) for card in known.values()], lambda head: known[head.id])

    def where(self, wanted: Callable[[Head], bool]) -> list[Card]:
        """Return the cards whose heads are wanted; no other is read."""
        return [self._load(head) for head in self.heads if wanted(head)]

    def only(self, wanted: Callable[[Head], bool]) -> Cards:
        """Return the cards whose heads are wanted, unread."""
        return Cards([head for head in self.heads if wanted(head)], self._load)

    def __len__(self) -> int:
        return len(self.heads)

    def __iter__(self) -> Iterator[Card]:
        return map(self._load, self.heads)

    @overload
    def __getitem__(self, index: int) -> Card: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Card]: ...

    def __getitem__(self, index: int | slice) -> Card | Sequence[Card]:
        if isinstance(index, slice):
            return Cards(self.heads[index], self._load)
        return self._load(self.heads[index])


def page_language(chosen: str, notes: Iterable[Note | Head]) -> Lang:
    """Return the language of a page about these notes, unless another is chosen."""
    if chosen != "auto":
        return Lang(chosen)
    langs = [note.lang for note in notes if note.status is not Status.ARCHIVED]
    return Lang.ZH if langs and langs.count(Lang.ZH) * 2 >= len(langs) else Lang.EN


P = TypeVar("P", Agent, Identity)

# The box of a task list: `[ ] to do`, `[x] done`; an X of either case.
_BOX = re.compile(r"\[(?P<mark>[ xX])\](?:[ \t]+|$)")

# Their names are those of the fields, so that a section which is added to a class is written and
# read without a change here.
_PROJECT = {
    "goal": Style.TEXT,
    **dict.fromkeys(("state", "progress", "decisions", "risks", "preferences"), Style.LIST),
}
_PROJECT_LAYOUT = Layout(
    prefix="project",
    # To-dos are no plain texts, and stand before the decisions.
    sections={
        **{name: _PROJECT[name] for name in ("goal", "state", "progress")},
        "todos": Style.LIST,
        **_PROJECT,
    },
)
_AGENT = {"persona": Style.TEXT, **dict.fromkeys(("state", "skills", "relationships"), Style.LIST)}
_IDENTITY = {
    "who": Style.TEXT,
    "beliefs": Style.LIST,
    "mission": Style.TEXT,
    "abilities": Style.LIST,
    "growth": Style.LIST,
}


def _todo_block(todo: Todo) -> str:
    text = marked(todo.text, todo.id) if todo.id else todo.text
    return f"[{'x' if todo.done else ' '}] {text}"


def _parse_todo(block: str) -> Todo:
    box = _BOX.match(block)
    text, id = split_mark(block[box.end() :] if box else block)
    return Todo(text, box is not None and box["mark"] in "xX", id)


def _project_values(project: Project) -> dict[str, Value]:
    return codec.values(project, {}, {"finished": True if project.finished else None})


def _project_body(project: Project) -> Body:
    sections = codec.section_blocks(project, _PROJECT)
    return Body(project.name, {}, {**sections, "todos": tuple(map(_todo_block, project.todos))})


def _build_project(keys: Keys, body: Body) -> Project:
    todos = map(_parse_todo, body.sections.get("todos", ()))
    return Project(
        **codec.common(keys),
        name=body.title,
        finished=keys.flag("finished"),
        todos=tuple(todo for todo in todos if todo.text),
        **codec.read_sections(body, _PROJECT),
    )


def _clean_project(project: Project) -> Project:
    todos = (_clean_todo(todo) for todo in project.todos)
    return replace(
        project,
        tags=codec.lines(project.tags),
        name=one_line(project.name),
        todos=tuple(todo for todo in todos if todo.text),
        **codec.clean_texts(project, _PROJECT),
    )


def _clean_todo(todo: Todo) -> Todo:
    # Words that look like a mark become one, as they would when they are read.
    text, id = split_mark(clean(todo.text))
    return replace(todo, text=text, id=todo.id or id)


def _project_place(project: Project) -> str:
    folder = "mid-term/projects/archive" if project.finished else "mid-term/projects"
    return f"{folder}/{codec.slug(project.name)}.md"


def _named_page(
    kind: type[P], sections: Mapping[str, Style], place: Callable[[P], str]
) -> codec.Shape[P]:
    """Return the shape of a page that is a name and sections."""

    def body(page: P) -> Body:
        return Body(page.name, {}, codec.section_blocks(page, sections))

    def build(keys: Keys, body: Body) -> P:
        said = codec.read_sections(body, sections)
        return kind(**codec.common(keys), name=body.title, **said)

    def clean_page(page: P) -> P:
        said = codec.clean_texts(page, sections)
        return replace(page, tags=codec.lines(page.tags), name=one_line(page.name), **said)

    def values(page: P) -> dict[str, Value]:
        return codec.values(page, {}, {})

    layout = Layout(prefix=kind.kind, sections=sections)
    return codec.Shape(layout, values, body, build, clean_page, place)


PROJECT = codec.Shape(
    _PROJECT_LAYOUT, _project_values, _project_body, _build_project, _clean_project, _project_place
)
AGENT = _named_page(Agent, _AGENT, lambda agent: f"mid-term/agents/{codec.slug(agent.name)}.md")
IDENTITY = _named_page(Identity, _IDENTITY, lambda _: IDENTITY_PATH)
