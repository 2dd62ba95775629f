"""The library of the Model Context Protocol, which renamed its server between versions 1 and 2."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from kimi_memory import __version__
from kimi_memory.errors import KimiMemoryError, UsageError

_MOST_MISTAKES, _LONGEST_PLACE = 3, 80


def create_server(Server: Any, instructions: str) -> Any:  # noqa: N803  a class
    """Return a server of this name and version."""
    try:
        return Server("kimi-memory", instructions=instructions, version=__version__)
    # Version 1 would say its own version, and has no argument for ours.
    except TypeError:
        server = Server("kimi-memory", instructions=instructions)
        server._mcp_server.version = __version__
        return server


def refuse_in_one_line(base: Any, refuse: type[Exception]) -> Any:
    """Return a server that says in one line which argument is wrong, and what it should be."""

    class OneLineServer(base):  # type: ignore[misc]  # of either version
        async def call_tool(self, name: str, *given: Any, **named: Any) -> Any:
            tools = [one.model_dump(by_alias=True) for one in await self.list_tools()]
            if unknown := _find_unknown(name, given[0] if given else named.get("arguments"), tools):
                raise refuse(unknown)
            try:
                return await super().call_tool(name, *given, **named)
            except refuse as error:
                if isinstance(error.__cause__, ValidationError):
                    raise refuse(_describe_mistakes(name, error.__cause__)) from error.__cause__
                raise

        async def get_prompt(self, name: str, *given: Any, **named: Any) -> Any:
            asked = given[0] if given else named.get("arguments")
            # The library answers as well, and writes its trace to stderr.
            if fault := _find_prompt_fault(name, asked, await self.list_prompts()):
                raise _build_fault(fault)
            return await super().get_prompt(name, *given, **named)

    return OneLineServer


def _find_prompt_fault(name: str, arguments: Any, prompts: list[Any]) -> str:
    """Say that there is no such prompt, or which argument it lacks; empty for neither."""
    known = {one.name: one.arguments or () for one in prompts}
    if name not in known:
        return f"{name!r} is no prompt. It has {', '.join(known)}."
    missing = [
        one.name for one in known[name] if one.required and one.name not in (arguments or {})
    ]
    return f"Missing required arguments: {', '.join(missing)}." if missing else ""


def _build_fault(message: str) -> Exception:
    """Return the error of the library that says what is wrong with a request."""
    code = _import_first("mcp.types:INVALID_PARAMS")
    fault: Callable[..., Exception] = _import_first("mcp:MCPError", "mcp:McpError")
    try:
        return fault(code, message)
    # Version 1 takes the same as one object.
    except TypeError:
        return fault(_import_first("mcp.types:ErrorData")(code=code, message=message))


def _find_unknown(name: str, arguments: Any, tools: list[dict[str, Any]]) -> str:
    """Say which argument a tool does not take; empty where it takes all of them."""
    taken = [one["inputSchema"].get("properties", {}) for one in tools if one["name"] == name]
    # The library drops it, and the caller would believe that it was heeded.
    unknown = [key for key in arguments or {} if taken and key not in taken[0]]
    if not unknown:
        return ""
    near = difflib.get_close_matches(unknown[0], taken[0], n=1)
    meant = f"Did you mean '{near[0]}'? " if near else ""
    place = " ".join(unknown[0].split())[:_LONGEST_PLACE]
    return f"{name}: '{place}' is no argument. {meant}It takes {', '.join(taken[0]) or 'none'}."


def _describe_mistakes(tool: str, error: ValidationError) -> str:
    told = []
    for mistake in error.errors(include_url=False, include_input=False)[:_MOST_MISTAKES]:
        # A key of the caller's may stand in the place, with line breaks and of any length.
        place = " ".join(".".join(map(str, mistake["loc"])).split())[:_LONGEST_PLACE]
        what = mistake["msg"].removeprefix("Input ")
        told.append(
            f"'{place}' is missing" if mistake["type"] == "missing" else f"'{place}' {what}"
        )
    return f"{tool}: {'; '.join(told)}. Call it again with that corrected."


def load_library() -> tuple[Any, Any, type[Exception]]:
    """Return the class of servers, that of notes on tools, and the error a tool may answer with.

    Raises:
        UsageError: the library is not installed.
    """
    try:
        from mcp.types import ToolAnnotations

        # Version 2 renamed the class, and programs pin either version.
        server = _import_first("mcp.server:MCPServer", "mcp.server.fastmcp:FastMCP")
        refusal = _import_first(
            "mcp.server.mcpserver.exceptions:ToolError", "mcp.server.fastmcp.exceptions:ToolError"
        )
    except ImportError as error:
        raise UsageError("The MCP server needs the library mcp: kimi-memory[mcp].") from error
    return server, ToolAnnotations, refusal


def _import_first(*places: str) -> Any:
    """Return what stands at the first of some places that exists."""
    for place in places:
        module, _, name = place.partition(":")
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError):
            # Versions of the library have it at different places.
            continue
    raise ImportError(places[0])


def guard_errors(
    function: Callable[..., Any], refuse: type[Exception], render: Callable[[Any], Any]
) -> Callable[..., Any]:
    """Answer a mistake of the caller in one line, as the errors of ours are."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return render(function(*arguments, **named))
        except KimiMemoryError as error:
            raise refuse(str(error)) from error

    return call


def build_result(render: Callable[[Any], str], value: Any) -> Any:
    """Return an answer whose text is another than its value as JSON."""
    from mcp.types import CallToolResult

    content = [{"type": "text", "text": render(value)}]
    return CallToolResult.model_validate({"content": content, "structuredContent": value})
