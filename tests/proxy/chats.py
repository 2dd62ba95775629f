"""Requests of chat programs, and what of a chat is kept."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from kimi_memory import Memory, Opening
from kimi_memory.domain.session import Turn
from kimi_memory.store.notes import sessions

PATHS = {
    "openai": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "ollama": "/api/chat",
}


def body_of(dialect: str, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    listed = "input" if dialect == "responses" else "messages"
    most = {"max_tokens": 500} if dialect == "anthropic" else {}
    return {"model": "m", listed: messages, **most, **more}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def kept(root: Path, *wanted: str) -> dict[str, list[Turn]]:
    """Return all turns of chats by session, once these texts are among them."""
    deadline = time.monotonic() + 60
    with Memory.open(root, Opening(background=False)) as memory:
        while True:
            found = {
                place.id: list(sessions.read(memory.store, place.path).turns)
                for place in sessions.places(memory.store)
                if not place.id.startswith("remembered-")
            }
            missing = set(wanted) - {turn.text for turns in found.values() for turn in turns}
            if not missing:
                return found
            assert time.monotonic() < deadline, f"{missing} is not kept"


def of_texts(found: dict[str, list[Turn]], *texts: str) -> list[tuple[str, str]]:
    """Return role and text of the turns of the one session in which a text was said."""
    [turns] = [turns for turns in found.values() if any(turn.text == texts[0] for turn in turns)]
    return [(str(turn.role), turn.text) for turn in turns]
