"""The OpenAPI document, written from the routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kimi_memory import __version__
from kimi_memory.formats.json_values import schema
from kimi_memory.server.principal import Scope
from kimi_memory.server.responses import Event
from kimi_memory.server.schema import Field, Route

_FAILURES = {
    400: "A mistake in the request.",
    401: "No valid token.",
    403: "The token, or the page, may not do this.",
    404: "There is no such thing, or not for this token.",
    408: "The body came too slowly.",
    409: "It cannot be done as things are.",
    413: "The request is too large.",
    415: "The body is not JSON.",
    421: "The server is not known by that name.",
    422: "A file of the memory cannot be understood.",
    429: "Too many requests.",
    500: "A fault of the server.",
    502: "A model server failed.",
    503: "Not now; retry.",
    507: "The disk is full.",
}


def document(routes: Iterable[Route]) -> dict[str, Any]:
    """Return the whole document."""
    named: dict[str, Any] = {"Error": _build_error_schema()}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _build_operation(route, named)
    schema(Event, named)
    paths |= _build_special_paths()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kimi_memory",
            "version": __version__,
            "description": "A memory of agents, kept as a folder of Markdown.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": dict(sorted(named.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _build_operation(route: Route, named: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": schema(route.gives, named)}}
    made: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "security": _build_security(route.scope),
        "responses": {"200": {"description": "Done.", "content": content}, **_build_failures()},
    }
    if parameters := [
        {
            "name": field.name,
            "in": field.place,
            "required": field.required or field.place == "path",
            "schema": field.schema,
        }
        for field in route.fields
        if field.place != "body"
    ]:
        made["parameters"] = parameters
    if body := [field for field in route.fields if field.place == "body"]:
        made["requestBody"] = _build_request_body(body)
    return made


def _build_security(scope: Scope | None) -> list[dict[str, list[str]]]:
    """Return what a route needs; a server without tokens needs nothing."""
    # The empty one says that a server without tokens needs none.
    return [{}] if scope is None else [{"token": [str(scope)]}, {}]


def _build_request_body(fields: list[Field]) -> dict[str, Any]:
    needed = [field.name for field in fields if field.required]
    made: dict[str, Any] = {
        "type": "object",
        "properties": {field.name: field.schema for field in fields},
        "additionalProperties": False,
    }
    if needed:
        made["required"] = needed
    return {"required": bool(needed), "content": {"application/json": {"schema": made}}}


# Every route lists every failure: one that is missing would be no promise, and clients are
# generated from this.
def _build_failures() -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        str(status): {"description": why, "content": content} for status, why in _FAILURES.items()
    }


def _build_error_schema() -> dict[str, Any]:
    text = {"type": "string"}
    inner = {
        "type": "object",
        "properties": {"code": text, "message": text, "remedy": text},
        "required": ["code", "message", "remedy"],
    }
    return {
        "type": "object",
        "description": "Why something was refused, and what helps.",
        "properties": {"error": inner},
        "required": ["error"],
    }


def _build_special_paths() -> Mapping[str, Any]:
    """Return the routes that answer something else than one value."""
    last = {"type": "integer", "minimum": 0}
    events = _build_stream_path("events", "Follow what happens.", "text/event-stream")
    events["get"]["parameters"] = [
        {"name": "Last-Event-ID", "in": "header", "required": False, "schema": last}
    ]
    return {
        "/v1/events": events,
        "/v1/metrics": _build_stream_path("metrics", "Figures for Prometheus.", "text/plain"),
    }


def _build_stream_path(name: str, summary: str, kind: str) -> dict[str, Any]:
    done = {"description": "Done.", "content": {kind: {"schema": {"type": "string"}}}}
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "security": _build_security(Scope.READ),
            "responses": {"200": done, **_build_failures()},
        }
    }
