"""Entities that agents keep: named things with observations and relations, beside the cards.

Each is a file of the agent's own. What the memory itself knows is part of the same
picture: a card is an entity under its key, and its links are relations. Agents look at
cards and may speak about them; they change only what is theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kimi_memory.api.memory import Memory
from kimi_memory.domain.graph import links_of
from kimi_memory.domain.job import Change
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import UsageError
from kimi_memory.operations import entity
from kimi_memory.operations.agent_files import Folder, Page, clean_json
from kimi_memory.operations.entity import Entity, Node, Picture, Relation, View
from kimi_memory.store.notes.notes import Shelf

MOST_CARDS = 100
"""So many cards are shown beside the whole graph of an agent."""
# The right one stands among the first, and each costs a comparison.
_FOUND = 10
_KNOWN = frozenset({Status.ACTIVE, Status.STALE})

_Nodes = dict[str, Node]


class Entities:
    """The graph of one agent, with the cards of the memory beside it.

    Args:
        memory: an open memory.
        agent: whose graph it is; no other agent's can be reached.
    """

    def __init__(self, memory: Memory, agent: str) -> None:
        self._memory = memory
        self._folder = Folder(memory, agent, "graph")

    def add(self, entities: Iterable[Entity]) -> list[Entity]:
        """Add entities; returns those that were new, as they are kept."""
        added = []
        with self._edit_graph() as nodes:
            for one in entities:
                known = nodes.get(one.name, Node())
                # An entity that is there stays as it is, as clients of the protocol expect.
                if known.type is None:
                    told = tuple(self._clean_text(text) for text in one.observations)
                    type = self._clean_text(one.type)
                    nodes[one.name] = replace(known, type=type, observations=told)
                    added.append(Entity(one.name, type, told))
        return added

    def relate(self, relations: Iterable[Relation]) -> list[Relation]:
        """Add relations; returns those that were new, as they are kept."""
        added = []
        with self._edit_graph() as nodes:
            for one in relations:
                kept = replace(
                    one, target=self._clean_text(one.target), type=self._clean_text(one.type)
                )
                node = nodes.get(one.source, Node())
                mark = (kept.target, kept.type)
                if mark not in node.relations:
                    nodes[one.source] = replace(node, relations=(*node.relations, mark))
                    added.append(kept)
        return added

    def observe(self, said: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[str, list[str]]]:
        """Add observations to entities by name; returns what was new of each.

        Raises:
            UsageError: there is no entity of that name, and no card.
        """
        added = []
        with self._edit_graph() as nodes:
            for name, texts in said:
                node = self._require_entity(nodes, name)
                cleaned = [self._clean_text(text) for text in texts]
                fresh = [text for text in cleaned if text not in node.observations]
                nodes[name] = replace(node, observations=(*node.observations, *fresh))
                added.append((name, fresh))
        return added

    def remove(self, names: Iterable[str]) -> None:
        """Remove entities and all relations that touch them.

        Raises:
            UsageError: one is a card, which is not the agent's to remove.
        """
        gone = set(names)
        with self._edit_graph() as nodes:
            for name in gone:
                own = nodes.pop(name, Node())
                if own.type is None and self._find_cards(name):
                    raise UsageError(
                        f"{name} is what the user's memory knows, and not yours to delete. "
                        "Ask the user to forget it."
                    )
            for name, node in nodes.items():
                kept = tuple(one for one in node.relations if one[0] not in gone)
                nodes[name] = replace(node, relations=kept)

    def take_back(self, said: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Remove observations of entities by name; what is not there is no mistake."""
        with self._edit_graph() as nodes:
            for name, texts in said:
                node = nodes.get(name, Node())
                kept = tuple(text for text in node.observations if text not in texts)
                nodes[name] = replace(node, observations=kept)

    def part(self, relations: Iterable[Relation]) -> None:
        """Remove relations; what is not there is no mistake."""
        with self._edit_graph() as nodes:
            for one in relations:
                node = nodes.get(one.source, Node())
                kept = tuple(mark for mark in node.relations if mark != (one.target, one.type))
                nodes[one.source] = replace(node, relations=kept)

    def whole(self, *, cards: int = MOST_CARDS) -> Picture:
        """Return all entities, and so many cards: those that were spoken of last."""
        nodes = self._read_nodes()
        shelf = Shelf(self._memory.store)
        heads = [head for head in shelf.heads() if head.status in _KNOWN]
        heads.sort(key=lambda head: (head.seen, head.id), reverse=True)
        known = [shelf.card(head) for head in heads[:cards]]
        return self._build_picture(nodes, nodes, known, every=True)

    def search(self, text: str) -> Picture:
        """Return what a text stands in, whatever its case, and the cards that answer it.

        Where it stands nowhere it is taken for a question to what the agent keeps.
        """
        nodes, wanted = self._read_nodes(), text.lower()
        names = [name for name, node in nodes.items() if wanted in entity.words(name, node)]
        # The words as they stand first, as other servers of this kind do; a question only then.
        names = names or self._recall_names(text, nodes)
        query = Query(text=text, limit=_FOUND, kind=(Card.kind,), status=tuple(sorted(_KNOWN)))
        shelf = Shelf(self._memory.store)
        cards = [shelf.file(path).note for path in self._recall_paths(query)]
        return self._build_picture(nodes, names, [one for one in cards if isinstance(one, Card)])

    def open(self, names: Iterable[str]) -> Picture:
        """Return entities and cards by their names."""
        names = list(dict.fromkeys(names))
        cards = [card for name in names for card in self._find_cards(name)]
        return self._build_picture(self._read_nodes(), names, cards)

    def _build_picture(
        self, nodes: _Nodes, names: Iterable[str], cards: Iterable[Card], *, every: bool = False
    ) -> Picture:
        view = View()
        for name in names:
            node = nodes.get(name, Node())
            if node.type is not None:
                view.add(Entity(name, node.type, node.observations))
        # Cards come after what programs wrote themselves: an entity of that name keeps its type.
        for card in cards:
            view.add(Entity(card.key, str(card.type), (card.value,)))
            view.relations |= dict.fromkeys(self._yield_card_relations(card))
        said = [
            Relation(name, to, type) for name, node in nodes.items() for to, type in node.relations
        ]
        view.relations |= dict.fromkeys(said)
        shown = view.picture()
        return replace(shown, relations=tuple(view.relations)) if every else shown

    def _yield_card_relations(self, card: Card) -> Iterator[Relation]:
        entries = Shelf(self._memory.store).entries() if card.links else {}
        for link in links_of(card):
            known = entries.get(link.to)
            yield Relation(card.key, known.key if known and known.key else link.to, str(link.rel))

    def _find_cards(self, name: str) -> list[Card]:
        found = Shelf(self._memory.store).cards(name)
        return [card for card in found if card.status in _KNOWN]

    def _recall_names(self, text: str, nodes: _Nodes) -> list[str]:
        paths = self._recall_paths(Query(text=text, limit=_FOUND, path=(self._folder.path,)))
        names = {self._folder.place(entity.file_of(name)): name for name in nodes}
        return [names[path] for path in paths if path in names]

    def _recall_paths(self, query: Query) -> list[str]:
        """Return the paths of what recall finds, each once."""
        if not query.text.strip():
            return []
        hits = self._memory.recall(query).hits
        return list(dict.fromkeys(hit.unit.path for hit in hits))

    def _require_entity(self, nodes: _Nodes, name: str) -> Node:
        node = nodes.get(name, Node())
        if node.type is not None:
            return node
        for card in self._find_cards(name):
            return replace(node, type=str(card.type))
        raise UsageError(f"There is no entity {name!r}. Create it first.")

    def _clean_text(self, text: str) -> str:
        return str(clean_json(self._folder, text))

    def _read_nodes(self) -> _Nodes:
        return {name: node for name, (_, node) in self._read_files().items()}

    def _read_files(self) -> dict[str, tuple[Page, Node]]:
        """Return the files and what they hold by name; broken ones are left out."""
        filed = self._folder.read_all(entity.read)
        return {str(page.values.get("entity", "")): (page, node) for page, node in filed}

    @contextmanager
    def _edit_graph(self) -> Iterator[_Nodes]:
        """Give the graph to be changed; all of it is written at the end, or nothing."""
        # From reading to writing: two agents of one name must not overwrite each other's
        # observations.
        with self._folder.guard, self._memory.store.lock("entities"):
            filed = self._read_files()
            nodes = {name: node for name, (_, node) in filed.items()}
            yield nodes
            changes: list[Change] = []
            for name in {**filed, **nodes}:
                page, before = filed.get(name, (None, Node()))
                node = nodes.get(name, Node())
                if node != before:
                    changes += self._plan_node_changes(name, node, page)
            self._folder.apply(changes)

    def _plan_node_changes(self, name: str, node: Node, page: Page | None) -> list[Change]:
        if not node:
            return [self._folder.gone(entity.file_of(name))] if page else []
        if page is not None:
            return [self._folder.changed(page, entity.body(node))]
        if not name.strip() or self._folder.clean(name) != name:
            raise UsageError(f"{name!r} cannot name an entity. Use plain words.")
        return [self._folder.made(entity.file_of(name), entity.body(node), {"entity": name})]
