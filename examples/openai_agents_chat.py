"""A chat with an agent of the OpenAI Agents SDK that remembers across sessions.

``pip install 'kimi-memory[openai-agents]'``, set OPENAI_API_KEY, then
``python openai_agents_chat.py ~/memory monday``.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterable

from agents import Agent, Model, RunConfig, Runner

from kimi_memory import Memory
from kimi_memory.frameworks.openai_agents import MemorySession


async def chat(
    memory: Memory, model: str | Model | None, lines: Iterable[str], name: str
) -> AsyncIterator[str]:
    """Yield the answer to each line of the session of that name."""
    agent = Agent(name="assistant", instructions="You are a helpful assistant.", model=model)
    session = MemorySession(memory, name, "assistant")
    config = RunConfig(call_model_input_filter=session.recall)
    for line in lines:
        result = await Runner.run(agent, line, session=session, run_config=config)
        yield str(result.final_output)


async def main() -> None:
    """Chat on the terminal."""
    with Memory.create(sys.argv[1]) as opened:
        async for answer in chat(opened, None, sys.stdin, sys.argv[2]):
            print(answer)


if __name__ == "__main__":
    asyncio.run(main())
