"""The nine tools of the reference server ``server-memory``, over the entities of a memory.

Names, parameters, annotations and answers are its own, so that prompts and clients made
for it go on working; see `kimi_memory.operations.entities` for what stands behind them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from kimi_memory.mcp import responses
from kimi_memory.mcp.responses import Tool
from kimi_memory.mcp.workers import Desk
from kimi_memory.operations.entity import Entity, Picture, Relation


def offer(tool: Tool, desk: Desk) -> None:
    """Register the tools."""
    tools = _Tools(desk)
    for create in (tools.create_entities, tools.create_relations, tools.add_observations):
        tool(create.__name__, reads=False)(create)
    for delete in (tools.delete_entities, tools.delete_observations, tools.delete_relations):
        tool(delete.__name__, reads=False, destroys=True)(delete)
    for read in (tools.read_graph, tools.search_nodes, tools.open_nodes):
        tool(read.__name__)(read)


def render_answer(value: Mapping[str, Any]) -> str:
    """Return the text of an answer: its message, its only list, or all of it."""
    if "message" in value:
        return str(value["message"])
    return _render_json(next(iter(value.values())) if len(value) == 1 else value)


def page(desk: Desk) -> str:
    """Return the whole graph as JSON."""
    with desk.entities() as entities:
        return _render_json(_format_network(entities.whole()))


class _Tools:
    """The tools, each of the signature that clients are shown."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def create_entities(self, entities: list[responses.Entity]) -> responses.EntityList:
        """Create multiple new entities in the knowledge graph."""
        given = [
            Entity(one["name"], one["entityType"], tuple(one["observations"])) for one in entities
        ]
        with self._desk.entities() as kept:
            made = [_format_entity(one) for one in kept.add(given)]
        return {"entities": made}

    def create_relations(
        self,
        relations: Annotated[list[responses.Relation], Field(description="in active voice")],
    ) -> responses.RelationList:
        """Create multiple new relations between entities in the knowledge graph."""
        with self._desk.entities() as kept:
            made = [_format_relation(one) for one in kept.relate(map(_parse_relation, relations))]
        return {"relations": made}

    def add_observations(self, observations: list[responses.Observed]) -> responses.AddedList:
        """Add new observations to existing entities in the knowledge graph."""
        given = [(one["entityName"], one["contents"]) for one in observations]
        with self._desk.entities() as kept:
            made: list[responses.Added] = [
                {"entityName": name, "addedObservations": texts}
                for name, texts in kept.observe(given)
            ]
        return {"results": made}

    def delete_entities(self, entityNames: list[str]) -> responses.Success:  # noqa: N803  their name
        """Delete multiple entities and their relations from the knowledge graph."""
        with self._desk.entities() as kept:
            kept.remove(entityNames)
        return _report_success("Entities deleted successfully")

    def delete_observations(self, deletions: list[responses.Deletion]) -> responses.Success:
        """Delete specific observations from entities in the knowledge graph."""
        with self._desk.entities() as kept:
            kept.take_back([(one["entityName"], one["observations"]) for one in deletions])
        return _report_success("Observations deleted successfully")

    def delete_relations(self, relations: list[responses.Relation]) -> responses.Success:
        """Delete multiple relations from the knowledge graph."""
        with self._desk.entities() as kept:
            kept.part(map(_parse_relation, relations))
        return _report_success("Relations deleted successfully")

    def read_graph(self) -> responses.Network:
        """Return the entire knowledge graph."""
        with self._desk.entities() as kept:
            return _format_network(kept.whole())

    def search_nodes(
        self,
        query: Annotated[str, Field(description="words, or a question in any language")],
    ) -> responses.Network:
        """Search for nodes in the knowledge graph, by words or by a question."""
        with self._desk.entities() as kept:
            return _format_network(kept.search(query))

    def open_nodes(self, names: list[str]) -> responses.Network:
        """Open specific nodes in the knowledge graph by their names."""
        with self._desk.entities() as kept:
            return _format_network(kept.open(names))


def _parse_relation(one: responses.Relation) -> Relation:
    return Relation(one["from"], one["to"], one["relationType"])


def _format_entity(one: Entity) -> responses.Entity:
    return {"name": one.name, "entityType": one.type, "observations": list(one.observations)}


def _format_relation(one: Relation) -> responses.Relation:
    return {"from": one.source, "to": one.target, "relationType": one.type}


def _format_network(picture: Picture) -> responses.Network:
    return {
        "entities": [_format_entity(one) for one in picture.entities],
        "relations": [_format_relation(one) for one in picture.relations],
    }


def _report_success(message: str) -> responses.Success:
    return {"success": True, "message": message}


def _render_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
