"""Dialects: the forms of a chat that clients of model servers speak.

Interfaces as of November 2026: OpenAI chat completions and responses, Anthropic messages,
Ollama chat; what speaks one of them is many programs and servers more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.proxy.chat import Body, after_opening, beside, text_of

_SESSION = re.compile(r"session(?:_id)?[\"'\s:_=]{1,6}([A-Za-z0-9-]{8,64})")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAMES = ("session_id", "conversation_id", "thread_id", "chat_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One form of a chat over HTTP."""

    path: str
    """How the address of a chat ends."""
    listed: Callable[[Body], Sequence[Any]]
    """Returns the messages of a request."""
    stood: Callable[[Body, Sequence[Any], str], Body]
    """Returns a request with its messages, and a block that stands before all of them."""
    heard: Callable[[Mapping[str, Any]], Iterator[str]]
    """Yields the words in an answer or one event of it."""
    refused: Callable[[str, str], Mapping[str, Any]]
    """Returns an error of a code, with a text, as its clients understand it."""
    part: str = "text"
    """What a part of text in a message is called."""

    compacts: bool = True
    """Whether all of a chat stands in each request, so that it may be shortened there."""

    def beside_messages(self, body: Body, blocks: Mapping[int, str]) -> list[Any]:
        """Return the messages of a request with blocks beside them, by position."""
        messages = list(self.listed(body))
        for place, block in blocks.items():
            messages[place] = beside(messages[place], block, self.part)
        return messages


def session_of(body: Body) -> str:
    """Return what a request itself says of the conversation it belongs to, if anything."""
    metadata = body.get("metadata")
    told: Mapping[str, Any] = metadata if isinstance(metadata, dict) else {}
    for name in _NAMES:
        if isinstance(found := told.get(name), str) and found:
            return found
    if match := _SESSION.search(str(told.get("user_id", ""))):
        return match[1]
    conversation = body.get("conversation")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    if isinstance(conversation, str) and conversation:
        return conversation
    # Some programs put one word there for all of their chats, others the id of this one.
    key = body.get("prompt_cache_key")
    return key if isinstance(key, str) and _UUID.fullmatch(key) else ""


def _read_messages(body: Body) -> Sequence[Any]:
    found = body.get("messages")
    return found if isinstance(found, list) else []


def _read_input(body: Body) -> Sequence[Any]:
    found = body.get("input")
    if isinstance(found, str):
        return [{"role": "user", "content": found}]
    return found if isinstance(found, list) else []


def _in_messages(body: Body, messages: Sequence[Any], block: str) -> Body:
    shown = after_opening(messages, block, "system") if block else list(messages)
    return {**body, "messages": shown}


def _in_system(body: Body, messages: Sequence[Any], block: str) -> Body:
    """Put a block after the client's own instructions, whose cached beginning it leaves alone."""
    made = {**body, "messages": list(messages)}
    if not block:
        return made
    system = body.get("system")
    if not system:
        return {**made, "system": block}
    parts = system if isinstance(system, list) else [{"type": "text", "text": system}]
    return {**made, "system": [*parts, {"type": "text", "text": block}]}


def _in_input(body: Body, messages: Sequence[Any], block: str) -> Body:
    # A request that goes on from an earlier one finds the block there, on the server.
    if not block or body.get("previous_response_id"):
        return {**body, "input": list(messages)}
    return {**body, "input": after_opening(messages, block, "developer")}


def _of_choices(told: Mapping[str, Any]) -> Iterator[str]:
    for choice in _dict_items(told.get("choices")):
        # Of several choices a chat goes on with the first.
        if choice.get("index", 0) == 0:
            message = choice.get("delta") or choice.get("message")
            yield text_of(message.get("content")) if isinstance(message, dict) else ""


def _of_blocks(told: Mapping[str, Any]) -> Iterator[str]:
    if told.get("type") == "message":
        yield text_of(told.get("content"))
    block, delta = told.get("content_block"), told.get("delta")
    if isinstance(block, dict) and block.get("type") == "text":
        yield f"\n{block.get('text') or ''}"
    elif isinstance(delta, dict) and delta.get("type") == "text_delta":
        yield str(delta.get("text", ""))


def _of_message(told: Mapping[str, Any]) -> Iterator[str]:
    message = told.get("message")
    yield text_of(message.get("content")) if isinstance(message, dict) else ""


def _of_output(told: Mapping[str, Any]) -> Iterator[str]:
    if told.get("type") == "response.output_text.delta":
        yield str(told.get("delta", ""))
    elif told.get("type") == "response.output_item.added":
        yield "\n"
    elif told.get("object") == "response":
        yield "\n".join(
            text_of(item.get("content"))
            for item in _dict_items(told.get("output"))
            if item.get("type") == "message"
        )


def _dict_items(found: Any) -> list[Mapping[str, Any]]:
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _openai_error(code: str, why: str) -> Mapping[str, Any]:
    return {"error": {"message": why, "type": "kimi_memory_proxy", "param": None, "code": code}}


OPENAI = Dialect(
    path="/chat/completions",
    listed=_read_messages,
    stood=_in_messages,
    heard=_of_choices,
    refused=_openai_error,
)
RESPONSES = Dialect(
    path="/responses",
    listed=_read_input,
    stood=_in_input,
    heard=_of_output,
    refused=_openai_error,
    part="input_text",
    compacts=False,
)
ANTHROPIC = Dialect(
    path="/messages",
    listed=_read_messages,
    stood=_in_system,
    heard=_of_blocks,
    refused=lambda code, why: {"type": "error", "error": {"type": code, "message": why}},
)
OLLAMA = Dialect(
    path="/api/chat",
    listed=_read_messages,
    stood=_in_messages,
    heard=_of_message,
    refused=lambda code, why: {"error": why},
)
DIALECTS = (OPENAI, RESPONSES, ANTHROPIC, OLLAMA)


def dialect_of(method: str, path: str) -> Dialect | None:
    """Return the dialect of a request for a chat; None for any other request."""
    ends = (one for one in DIALECTS if path.rstrip("/").endswith(one.path))
    return next(ends, None) if method == "POST" else None


def refusal_form(path: str) -> Dialect:
    """Return the dialect in which a client of a path understands a refusal."""
    if "/api/" in path:
        return OLLAMA
    return ANTHROPIC if "/messages" in path else OPENAI
