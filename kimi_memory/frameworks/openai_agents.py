"""OpenAI Agents: a session kept in a memory, and recall before the model is called."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agents import SessionSettings, TResponseInputItem
from agents.run_config import CallModelData, ModelInputData

from kimi_memory.api.memory import Memory
from kimi_memory.errors import NotFoundError
from kimi_memory.frameworks.talk import ROLES, Heard, Talk, joined
from kimi_memory.operations.agent_files import Folder, clean_json, file_name

_HOST = "openai-agents"
_OPAQUE = ("id", "call_id", "encrypted_content")


class MemorySession:
    """A session for ``Runner.run(session=…)``.

    All items stand in a file of the agent's own, to which lines are only added. What the
    person and the agent said becomes turns as well, so that other sessions can recall it:
    `pop_item` and `clear_session` change what the model sees, not what was said.

    Args:
        memory: an open memory.
        session_id: the framework's name of the conversation.
        agent: who answers; no other agent's sessions can be reached.
        budget: most tokens of what `recall` puts in.
    """

    def __init__(
        self, memory: Memory, session_id: str, agent: str = _HOST, *, budget: int = 900
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = None
        self._folder = Folder(memory, agent, "threads")
        self._name = f"{file_name(session_id)}.jsonl"
        self._talk = Talk(memory, agent, _HOST, budget)
        self._conversation = f"{file_name(agent)}-{file_name(session_id)}"

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, or the newest of them, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = await asyncio.to_thread(self._read_items)
        return items if limit is None else items[max(0, len(items) - max(0, limit)) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items; they are durable at return, with secrets masked."""
        if items:
            await asyncio.to_thread(self._store_items, items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the newest item out of what the model sees, and return it."""
        return await asyncio.to_thread(self._pop_newest_item)

    async def clear_session(self) -> None:
        """Let the model see nothing of what came before; the memory's session ends."""
        await asyncio.to_thread(self._clear_items)

    async def recall(self, call: CallModelData[Any]) -> ModelInputData:
        """Let the model answer with what is known.

        A filter for ``RunConfig(call_model_input_filter=session.recall)``: what is known
        about the person's last message goes behind the instructions of the call, and is
        no item of the session.
        """
        given = call.model_data
        block = await self._talk.recall(self._conversation, _convert_items(given.input, 0))
        return ModelInputData(given.input, joined(given.instructions, block))

    def _read_items(self) -> list[TResponseInputItem]:
        return _replay_records(self._folder.lines(self._name))

    def _store_items(self, items: Sequence[TResponseInputItem]) -> None:
        with self._hold_file_lock():
            # Under the lock: the number of its line names an item that has no id.
            first = len(self._folder.lines(self._name))
            kept = [_mask_item(self._folder, item) for item in items]
            self._folder.append(self._name, [{"item": item} for item in kept])
        self._talk.store_messages(self._conversation, _convert_items(kept, first))

    def _pop_newest_item(self) -> TResponseInputItem | None:
        with self._hold_file_lock():
            items = self._read_items()
            if not items:
                return None
            # A line more, and none taken out: what was said stays, and another process may be
            # reading.
            self._folder.append(self._name, [{"pop": True}])
            return items[-1]

    def _clear_items(self) -> None:
        with self._hold_file_lock():
            if not self._read_items():
                return
            self._folder.append(self._name, [{"clear": True}])
        try:
            self._talk.ended(self._conversation)
        except NotFoundError:
            return  # nobody had said anything

    def _hold_file_lock(self) -> Any:
        """Keep other threads and processes from writing to the file."""
        return self._folder.memory.store.holding(self._folder.place(self._name))


def _replay_records(lines: Iterable[str]) -> list[TResponseInputItem]:
    """Return the items that records leave; a torn last line is left out."""
    items: list[TResponseInputItem] = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            # Killed in the middle of a write: only the last line can be torn.
            continue
        if "item" in record:
            items.append(record["item"])
        elif "pop" in record and items:
            items.pop()
        elif "clear" in record:
            items.clear()
    return items


def _mask_item(folder: Folder, item: Any) -> Any:
    """Return an item with secrets masked; what only the model's server can read stays."""
    # Ids look like secrets; masked, a call and its result would no longer belong together.
    opaque = {name: item[name] for name in _OPAQUE if name in item}
    rest = {name: value for name, value in item.items() if name not in opaque}
    return {**clean_json(folder, rest), **opaque}


def _convert_items(items: Sequence[Any], first: int) -> Iterator[Heard]:
    """Yield what was said, under the item's id or the number of its line."""
    for number, item in enumerate(items, first):
        role = ROLES.get(str(item.get("role", "")))
        if role is not None and item.get("type", "message") == "message":
            yield Heard(role, _content_text(item.get("content")), str(item.get("id") or number))


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))
