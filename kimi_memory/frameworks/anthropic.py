"""Anthropic's client-side memory tool, kept in a memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from kimi_memory.api.memory import Memory
from kimi_memory.errors import KimiMemoryError
from kimi_memory.frameworks.notes import Notes


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool of a synchronous client, for ``client.beta.messages.tool_runner``.

    Args:
        memory: an open memory.
        agent: whose notes ``/memories`` shows; no other agent's can be reached.
        cache_control: where a prompt cache may end.
    """

    def __init__(
        self,
        memory: Memory,
        agent: str = "claude",
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._notes = Notes(memory, agent)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or a folder."""
        return _run_command(lambda: self._notes.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return _run_command(lambda: self._notes.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands in a file once."""
        new = command.new_str or ""
        return _run_command(lambda: self._notes.str_replace(command.path, command.old_str, new))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put text below a line."""
        line, text = command.insert_line, command.insert_text
        return _run_command(lambda: self._notes.insert(command.path, line, text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a file or a folder."""
        return _run_command(lambda: self._notes.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return _run_command(lambda: self._notes.move(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Remove all notes of the agent."""
        return _run_command(self._notes.clear)


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for an asynchronous client, made alike; files are written in a thread."""

    def __init__(self, memory: Memory, agent: str = "claude", **options: Any) -> None:
        super().__init__(**options)
        self._tool = MemoryTool(memory, agent)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file or a folder."""
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands in a file once."""
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put text below a line."""
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a file or a folder."""
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Remove all notes of the agent."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _run_command(command: Callable[[], str]) -> str:
    """Return the answer of a command; what went wrong is shown to the model as it is."""
    try:
        return command()
    except KimiMemoryError as error:
        raise ToolError(str(error)) from error
