"""Entities of an agent: named things, what was observed of them, and their files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, replace

from kimi_memory.errors import FormatError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.agent_files import Page, file_name

_OPEN, _CLOSE = "```json\n", "\n```"


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing and what was observed of it."""

    name: str
    type: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation from one name to another; there need not be an entity of either."""

    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Entities in order of their names, and the relations that touch them."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A file: an entity, or with type None a name that only has relations."""

    type: str | None = None
    observations: tuple[str, ...] = ()
    relations: tuple[tuple[str, str], ...] = ()
    """Target and type of each."""

    def __bool__(self) -> bool:
        """Whether there is anything to keep."""
        return self.type is not None or bool(self.relations)


@dataclass(slots=True)
class View:
    """What is put into a picture."""

    entities: dict[str, Entity] = field(default_factory=dict)
    relations: dict[Relation, None] = field(default_factory=dict)

    def add(self, entity: Entity) -> None:
        """Put in an entity; one of the same name gets the observations it lacks."""
        known = self.entities.get(entity.name)
        if known is not None:
            fresh = [one for one in entity.observations if one not in known.observations]
            entity = replace(known, observations=(*known.observations, *fresh))
        self.entities[entity.name] = entity

    def picture(self) -> Picture:
        """Return it; of the relations those that touch one of the entities."""
        near = [one for one in self.relations if {one.source, one.target} & self.entities.keys()]
        return Picture(tuple(self.entities[name] for name in sorted(self.entities)), tuple(near))


def file_of(name: str) -> str:
    """Return the name of the file of an entity."""
    return f"{file_name(name)}.md"


def words(name: str, node: Node) -> str:
    """Return what is searched: apart, so that nothing is found across two of them."""
    if node.type is None:
        return ""
    return "\0".join((name, node.type, *node.observations)).lower()


def body(node: Node) -> str:
    """Return a node as it stands in its file; links let an editor of notes show the graph."""
    value = {
        "entityType": node.type,
        "observations": list(node.observations),
        "relations": [{"to": to, "relationType": type} for to, type in node.relations],
    }
    targets = dict.fromkeys(file_name(to) for to, _ in node.relations)
    links = " ".join(f"[[{target}]]" for target in targets)
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return f"{_OPEN}{text}{_CLOSE}\n" + (f"\n{links}\n" if links else "")


def read(page: Page) -> Node:
    """Return what a file holds.

    Raises:
        FormatError: it holds no entity.
    """
    # A person may have written around the block.
    text = page.body[page.body.find(_OPEN) + len(_OPEN) :]
    try:
        value: Mapping[str, object] = json.loads(text[: text.rindex(_CLOSE)])
        type, said, relations = (value[n] for n in ("entityType", "observations", "relations"))
        if not isinstance(said, list) or not isinstance(relations, list):
            raise TypeError("observations and relations are lists")
        marks = tuple((str(one["to"]), str(one["relationType"])) for one in relations)
        return Node(None if type is None else str(type), tuple(map(str, said)), marks)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(page.path, 1, f"this is no entity ({error})") from error
