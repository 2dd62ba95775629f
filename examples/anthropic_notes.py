"""A chat with Claude, whose memory tool keeps its notes in a memory.

``pip install 'kimi-memory[anthropic]'``, set ANTHROPIC_API_KEY, then
``python anthropic_notes.py ~/memory claude-sonnet-5-5``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from anthropic import Anthropic

from kimi_memory import Memory
from kimi_memory.frameworks.anthropic import MemoryTool


def chat(memory: Memory, client: Anthropic, model: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the answer to each line."""
    messages: list[Any] = []
    for line in lines:
        messages.append({"role": "user", "content": line})
        runner = client.beta.messages.tool_runner(
            model=model, max_tokens=2000, messages=messages, tools=[MemoryTool(memory, "claude")]
        )
        answer = runner.until_done()
        messages.append({"role": "assistant", "content": answer.content})
        yield "".join(block.text for block in answer.content if block.type == "text")


if __name__ == "__main__":
    with Memory.create(sys.argv[1]) as opened:
        for text in chat(opened, Anthropic(), sys.argv[2], sys.stdin):
            print(text)
