"""Dialects: what each agent program calls a moment, and the form in which it takes an answer.

Only tables and text, so that a hook starts as fast as Python does. Interfaces as of
November 2026: Claude Code 2.1, Codex CLI 0.169, Gemini CLI 0.61, Qwen Code 0.24,
Kimi Code 2.1, Copilot CLI 1.0; OpenCode, OpenClaw and Hermes call through plugins of ours.
"""

from __future__ import annotations

import json

# Not from `typing`: its import would cost each hook some milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

START, PROMPT, TURN, COMPACT, END = "start", "prompt", "turn", "compact", "end"

_CLAUDE = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "Stop": TURN,
    "PreCompact": COMPACT,
    "SessionEnd": END,
}
_OURS = {name: name for name in (START, PROMPT, TURN, COMPACT, END)}
EVENTS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("claude", "codex", "qwen", "kimi"), _CLAUDE),
    "gemini": {
        "SessionStart": START,
        "BeforeAgent": PROMPT,
        "AfterAgent": TURN,
        "PreCompress": COMPACT,
        "SessionEnd": END,
    },
    "copilot": {
        "sessionStart": START,
        "userPromptSubmitted": PROMPT,
        "agentStop": TURN,
        "sessionEnd": END,
    },
    **dict.fromkeys(("opencode", "openclaw", "hermes"), _OURS),
}
"""Per program: the name of each event it fires, and the moment that is."""

TRANSCRIPTS = ("claude", "codex")
"""Programs whose transcript file is read; of the others, what the events carry is stored."""

LEFT = (*TRANSCRIPTS, "copilot")
"""Programs whose words stand in a file, which is read once the hook is gone: Copilot writes
the end of a turn into its log while its hooks for that end run, or after."""

TOGETHER = ("openclaw", "hermes", "copilot")
"""Programs that tell what the user and the agent said together, at the end of a turn."""

LIMITS = {"codex": ("bytes", 9_900)}
_LIMIT = ("characters", 9_500)
"""The most a program passes on whole: Claude Code cuts at 10,000 characters, Codex at
2,500 tokens, counted as bytes / 4. Where none was measured, Claude Code's is kept."""

DEAF_AT_START = ("kimi",)
"""Programs that ignore what a hook says at the start of a session."""


def moment_of(host: str, payload: Mapping[str, Any]) -> str:
    """Return the moment an event is, empty for one that is nothing to memory."""
    if payload.get("agent_id") or payload.get("isSidechain"):
        return ""  # Work of a sub-agent: its report stands in the main conversation.
    name = payload.get("hook_event_name") or payload.get("hookEventName") or payload.get("event")
    return EVENTS[host].get(str(name), "")


def session_of(payload: Mapping[str, Any]) -> str:
    """Return the program's id of the session."""
    return str(payload.get("session_id") or payload.get("sessionId") or "")


def prompt_of(payload: Mapping[str, Any]) -> str:
    """Return what the user typed."""
    # Kimi Code sends a list of parts, the others a text.
    said = payload.get("prompt")
    if isinstance(said, list):
        said = "\n".join(str(part.get("text", "")) for part in said if isinstance(part, dict))
    return str(said or "")


def reply_of(payload: Mapping[str, Any]) -> str:
    """Return what the agent said at the end of its turn, where the event carries it."""
    for name in ("last_assistant_message", "prompt_response", "response"):
        if payload.get(name):
            return str(payload[name])
    return ""


def fits(host: str, text: str) -> bool:
    """Whether a text is short enough that the program passes it on uncut."""
    # A block that is cut loses its closing mark, and with it the fence around the data.
    unit, most = LIMITS.get(host, _LIMIT)
    return (len(text.encode()) if unit == "bytes" else len(text)) <= most


def answer(host: str, payload: Mapping[str, Any], text: str) -> str:
    """Return the bytes that make a program show `text` to its model; empty for nothing."""
    if not text:
        return ""
    if host == "kimi":
        return text
    if host == "copilot":
        return json.dumps({"additionalContext": text}, ensure_ascii=False)
    if host in ("opencode", "openclaw", "hermes"):
        return json.dumps({"context": text}, ensure_ascii=False)
    event = payload.get("hook_event_name")
    inner = {"hookEventName": event, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": inner}, ensure_ascii=False)
