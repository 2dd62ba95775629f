"""What a model server answers, in the form of each API that agent programs speak."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Events = list[dict[str, Any]]
USAGE = {"input_tokens": 10, "output_tokens": 5}


@dataclass(frozen=True)
class Call:
    """A tool the model wants called."""

    name: str
    arguments: dict[str, Any]


Said = str | Call


def anthropic(body: dict[str, Any], said: Said, number: int) -> tuple[dict[str, Any], Events]:
    """Messages."""
    block, delta = _block(said)
    whole = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": [block],
        "stop_reason": "end_turn" if isinstance(said, str) else "tool_use",
        "stop_sequence": None,
        "usage": USAGE,
    }
    empty = {**block, "text": ""} if isinstance(said, str) else {**block, "input": {}}
    events: Events = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"]}, "usage": USAGE},
        {"type": "message_stop"},
    ]
    return whole, events


def _block(said: Said) -> tuple[dict[str, Any], dict[str, Any]]:
    if isinstance(said, str):
        return {"type": "text", "text": said}, {"type": "text_delta", "text": said}
    block = {"type": "tool_use", "id": "toolu_1", "name": said.name, "input": said.arguments}
    return block, {"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}


def chat(body: dict[str, Any], said: Said, number: int) -> tuple[dict[str, Any], Events]:
    """OpenAI's chat completions."""
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if isinstance(said, Call):
        function = {"name": said.name, "arguments": json.dumps(said.arguments)}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    reason = "stop" if isinstance(said, str) else "tool_calls"
    base = {"id": f"chatcmpl-{number}", "created": 1_760_000_000, "model": body.get("model")}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
    chunk = {**base, "object": "chat.completion.chunk"}
    events: Events = [
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**chunk, "choices": [], "usage": usage},
    ]
    return whole, events


def responses(body: dict[str, Any], said: Said, number: int) -> tuple[dict[str, Any], Events]:
    """OpenAI's responses."""
    if isinstance(said, str):
        text = {"type": "output_text", "text": said, "annotations": []}
        item: dict[str, Any] = {"type": "message", "id": f"m_{number}", "role": "assistant"}
        item |= {"status": "completed", "content": [text]}
    else:
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        item |= {"name": said.name, "arguments": json.dumps(said.arguments), "status": "completed"}
    usage = {**USAGE, "input_tokens_details": {"cached_tokens": 0}, "total_tokens": 15}
    usage["output_tokens_details"] = {"reasoning_tokens": 0}
    whole = {"id": f"resp_{number}", "object": "response", "created_at": 1_760_000_000}
    whole |= {"status": "completed", "model": body.get("model"), "output": [item], "usage": usage}
    begun = {**whole, "status": "in_progress", "output": []}
    events: Events = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [{**event, "sequence_number": n} for n, event in enumerate(events)]


def gemini(body: dict[str, Any], said: Said, number: int) -> tuple[dict[str, Any], Events]:
    """Gemini's generateContent; a router's question for JSON gets the cheapest model."""
    if body.get("generationConfig", {}).get("responseMimeType") == "application/json":
        routed = {"reasoning": "r", "model_choice": "flash", "complexity_score": 1}
        said = json.dumps({**routed, "complexity_reasoning": "r", "next_speaker": "user"})
    part: dict[str, Any] = (
        {"text": said}
        if isinstance(said, str)
        else {"functionCall": {"name": said.name, "args": said.arguments}}
    )
    content = {"role": "model", "parts": [part]}
    whole = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
        "modelVersion": "scripted",
    }
    return whole, [whole]
