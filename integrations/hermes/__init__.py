"""Memory for Hermes: tells kimi-memory every moment, and shows the model what it answers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from agent.memory_provider import MemoryProvider

COMMAND = ["kimi-memory", "hook", "run", "--host", "hermes"]
SECONDS = 10


class KimiMemory(MemoryProvider):
    """Asks before a turn and tells after it; nothing here may break the program."""

    def __init__(self) -> None:
        """Know no session yet."""
        self._session, self._silent = "", True

    @property
    def name(self) -> str:
        """What ``memory.provider`` in config.yaml says."""
        return "kimi_memory"

    def is_available(self) -> bool:
        """Whether there is anything to ask; what it costs is nothing."""
        return True

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Begin a session; sub-agents and scheduled work leave no trace."""
        self._session = session_id
        self._silent = kwargs.get("agent_context", "primary") != "primary"

    def system_prompt_block(self) -> str:
        """Say who the user is, what is going on and what is preferred."""
        return self._tell("start")

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """Look for what would help with a prompt."""
        return self._tell("prompt", session_id, prompt=query)

    def sync_turn(
        self, user_content: str, assistant_content: str, *, session_id: str = "", messages: Any = ()
    ) -> None:
        """Tell what the user and the agent said."""
        number = sum(one.get("role") == "user" for one in messages or ())
        said = {"prompt": user_content, "last_assistant_message": assistant_content}
        self._tell("turn", session_id, prompt_id=number or None, **said)

    def on_session_switch(self, new_session_id: str, **kwargs: Any) -> None:
        """Go on in another session."""
        self._session = new_session_id

    def on_session_end(self, messages: Any) -> None:
        """Tell that the session is over."""
        self._tell("end")

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Offer no tools: those of the MCP server are the same for every program."""
        return []

    def _tell(self, event: str, session: str = "", **payload: Any) -> str:
        if self._silent:
            return ""
        payload |= {"event": event, "session_id": session or self._session, "cwd": str(Path.cwd())}
        try:
            given = json.dumps(payload).encode()
            done = subprocess.run(
                COMMAND, input=given, capture_output=True, timeout=SECONDS, check=False
            )
            return str(json.loads(done.stdout)["context"]) if done.stdout else ""
        except (OSError, ValueError, KeyError, subprocess.SubprocessError):
            return ""


def register(ctx: Any) -> None:
    """Register the provider."""
    ctx.register_memory_provider(KimiMemory())
