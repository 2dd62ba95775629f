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
    _register_create_tools(tool, desk)
    _register_delete_tools(tool, desk)
    _register_read_tools(tool, desk)


def render_answer(value: Mapping[str, Any]) -> str:
    """Return the text of an answer: its message, its only list, or all of it."""
    if "message" in value:
        return str(value["message"])
    return _render_json(next(iter(value.values())) if len(value) == 1 else value)


def page(desk: Desk) -> str:
    """Return the whole graph as JSON."""
    with desk.entities() as entities:
        return _render_json(_format_network(entities.whole()))


def _register_create_tools(tool: Tool, desk: Desk) -> None:
    @tool("create_entities", reads=False)
    def create_entities(entities: list[responses.Entity]) -> responses.EntityList:
        """Create multiple new entities in the knowledge graph."""
        given = [
            Entity(one["name"], one["entityType"], tuple(one["observations"])) for one in entities
        ]
        with desk.entities() as kept:
            made = [_format_entity(one) for one in kept.add(given)]
        return {"entities": made}

    @tool("create_relations", reads=False)
    def create_relations(
        relations: Annotated[list[responses.Relation], Field(description="in active voice")],
    ) -> responses.RelationList:
        """Create multiple new relations between entities in the knowledge graph."""
        with desk.entities() as kept:
            made = [_format_relation(one) for one in kept.relate(map(_parse_relation, relations))]
        return {"relations": made}

    @tool("add_observations", reads=False)
    def add_observations(observations: list[responses.Observed]) -> responses.AddedList:
        """Add new observations to existing entities in the knowledge graph."""
        given = [(one["entityName"], one["contents"]) for one in observations]
        with desk.entities() as kept:
            made: list[responses.Added] = [
                {"entityName": name, "addedObservations": texts}
                for name, texts in kept.observe(given)
            ]
        return {"results": made}


def _register_delete_tools(tool: Tool, desk: Desk) -> None:
    @tool("delete_entities", reads=False, destroys=True)
    def delete_entities(entityNames: list[str]) -> responses.Success:  # noqa: N803  their name
        """Delete multiple entities and their relations from the knowledge graph."""
        with desk.entities() as kept:
            kept.remove(entityNames)
        return _report_success("Entities deleted successfully")

    @tool("delete_observations", reads=False, destroys=True)
    def delete_observations(deletions: list[responses.Deletion]) -> responses.Success:
        """Delete specific observations from entities in the knowledge graph."""
        with desk.entities() as kept:
            kept.take_back([(one["entityName"], one["observations"]) for one in deletions])
        return _report_success("Observations deleted successfully")

    @tool("delete_relations", reads=False, destroys=True)
    def delete_relations(relations: list[responses.Relation]) -> responses.Success:
        """Delete multiple relations from the knowledge graph."""
        with desk.entities() as kept:
            kept.part(map(_parse_relation, relations))
        return _report_success("Relations deleted successfully")


def _register_read_tools(tool: Tool, desk: Desk) -> None:
    @tool("read_graph")
    def read_graph() -> responses.Network:
        """Return the entire knowledge graph."""
        with desk.entities() as kept:
            return _format_network(kept.whole())

    @tool("search_nodes")
    def search_nodes(
        query: Annotated[str, Field(description="words, or a question in any language")],
    ) -> responses.Network:
        """Search for nodes in the knowledge graph, by words or by a question."""
        with desk.entities() as kept:
            return _format_network(kept.search(query))

    @tool("open_nodes")
    def open_nodes(names: list[str]) -> responses.Network:
        """Open specific nodes in the knowledge graph by their names."""
        with desk.entities() as kept:
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
