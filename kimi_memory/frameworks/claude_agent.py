"""Claude Agent SDK: a store that mirrors transcripts, and remembers what was said in them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from claude_agent_sdk import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
    fold_session_summary,
)

from kimi_memory.api.memory import Memory
from kimi_memory.frameworks.talk import ROLES, Heard, Talk
from kimi_memory.operations.agent_files import Folder, file_name

_HOST = "claude-agent"
# Ids and signatures look like secrets; masked, the session could not be resumed.
_OPAQUE = frozenset({"uuid", "parentUuid", "signature", "id", "tool_use_id", "data"})


class TranscriptStore(SessionStore):
    """A store for ``ClaudeAgentOptions(session_store=…)``.

    Transcripts, those of sub-agents too, stand in files of the agent's own, to which lines
    are only added; a session can be resumed from them on another machine. What the person
    and the agent said becomes turns as well, unless hooks do that already.

    Args:
        memory: an open memory.
        agent: whose transcripts these are; no other agent's can be reached.
        turns: whether what was said becomes turns.
    """

    def __init__(self, memory: Memory, agent: str = _HOST, *, turns: bool = True) -> None:
        self._folder = Folder(memory, agent, "transcripts")
        self._talk = Talk(memory, agent, _HOST) if turns else None

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Add entries; they are durable at return, with secrets masked."""
        if entries:
            await asyncio.to_thread(self._append_entries, key, entries)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return all entries of a transcript, or None where there is none."""
        rows = await asyncio.to_thread(self._read_rows, _transcript_path(key))
        return [row["entry"] for row in rows] if rows else None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project and when they were added to."""
        found = await asyncio.to_thread(self._find_sessions, project_key)
        return [{"session_id": id, "mtime": rows[-1]["at"]} for id, rows in found.items()]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the summaries of the sessions of a project, as the framework makes them."""
        found = await asyncio.to_thread(self._find_sessions, project_key)
        summaries: list[SessionSummaryEntry] = []
        for id, rows in found.items():
            key: SessionKey = {"project_key": project_key, "session_id": id}
            made = fold_session_summary(None, key, [row["entry"] for row in rows])
            summaries.append({**made, "mtime": rows[-1]["at"]})
        return summaries

    async def delete(self, key: SessionKey) -> None:
        """Remove a transcript, and with a session those of its sub-agents; turns stay."""
        await asyncio.to_thread(self._delete_transcript, key)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the names of the transcripts of a session's sub-agents."""
        return await asyncio.to_thread(self._find_subkeys, key)

    def _append_entries(self, key: SessionKey, entries: Sequence[SessionStoreEntry]) -> None:
        name = _transcript_path(key)
        memory = self._folder.memory
        with memory.store.holding(self._folder.place(name)):
            known = {row["entry"].get("uuid") for row in self._read_rows(name)} - {None}
            fresh = [one for one in entries if one.get("uuid") not in known]
            at = int(memory.clock().timestamp() * 1000)
            kept = [{"key": dict(key), "at": at, "entry": self._mask_value(one)} for one in fresh]
            if kept:
                self._folder.append(name, kept)
        if self._talk is not None and not key.get("subpath"):
            self._talk.store_messages(key["session_id"], _convert_entries(fresh))

    def _read_rows(self, name: str) -> list[dict[str, Any]]:
        """Return the records of a file; a torn last line is left out."""
        return list(_parse_rows(self._folder.lines(name)))

    def _find_sessions(self, project: str) -> dict[str, list[dict[str, Any]]]:
        found = {}
        for name in self._folder.names(file_name(project)):
            rows = self._read_rows(name)
            if rows and not rows[0]["key"].get("subpath"):
                found[str(rows[0]["key"]["session_id"])] = rows
        return found

    def _subagent_files(self, key: Mapping[str, Any]) -> list[str]:
        return self._folder.names(_session_folder(key))

    def _find_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        rows = (self._read_rows(name) for name in self._subagent_files(key))
        return [str(one[0]["key"]["subpath"]) for one in rows if one]

    def _delete_transcript(self, key: SessionKey) -> None:
        names = [_transcript_path(key), *([] if key.get("subpath") else self._subagent_files(key))]
        with self._folder.guard:
            gone = [self._folder.gone(name) for name in names if self._folder.exists(name)]
            self._folder.apply(gone)

    def _mask_value(self, value: Any, name: str = "") -> Any:
        """Return JSON with secrets masked; what only their server reads stays as it is."""
        match value:
            case str() if name not in _OPAQUE:
                label = f"{name}: "
                # With its name before it: "password" tells that the value is one.
                masked, _ = self._folder.memory.screen.mask(f"{label}{value}")
                return masked.removeprefix(label)
            case dict():
                return {key: self._mask_value(one, str(key)) for key, one in value.items()}
            case list():
                return [self._mask_value(one, name) for one in value]
        return value


def _session_folder(key: Mapping[str, Any]) -> str:
    return f"{file_name(key['project_key'])}/{file_name(key['session_id'])}"


def _transcript_path(key: Mapping[str, Any]) -> str:
    subpath = key.get("subpath")
    below = f"/{file_name(str(subpath))}" if subpath else ""
    return f"{_session_folder(key)}{below}.jsonl"


def _parse_rows(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            # The last line is torn where the program was killed.
            continue
        if isinstance(row, dict) and "entry" in row:
            yield row


def _convert_entries(entries: Iterable[Mapping[str, Any]]) -> Iterator[Heard]:
    """Yield what the person and the agent said; side chains and what tools gave is left out."""
    for one in entries:
        message = one.get("message")
        role = ROLES.get(str(one.get("type")))
        aside = one.get("isSidechain") or one.get("isMeta") or "toolUseResult" in one
        if role is not None and isinstance(message, Mapping) and not aside:
            yield Heard(role, _content_text(message.get("content")), str(one.get("uuid") or ""))


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if part.get("type") == "text")
