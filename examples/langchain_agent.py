"""An agent of LangChain that remembers across threads.

``pip install 'kimi-memory[langchain]' langchain-openai``, then
``python langchain_agent.py ~/memory openai:gpt-5.5``; any model of LangChain does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from kimi_memory import Memory
from kimi_memory.frameworks.langchain import MemoryMiddleware
from kimi_memory.frameworks.langgraph import MemoryStore


def chat(memory: Memory, model: Any, lines: Iterable[str], thread: str) -> Iterator[str]:
    """Yield the answer to each line; each thread is a session of the memory."""
    agent = create_agent(
        model,
        system_prompt="You are a helpful assistant. Answer in the language you are asked in.",
        middleware=[MemoryMiddleware(memory, "assistant")],
        store=MemoryStore(memory, "assistant"),
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": thread}}
    for line in lines:
        messages: Any = [{"role": "user", "content": line}]
        yield agent.invoke({"messages": messages}, config)["messages"][-1].text


if __name__ == "__main__":
    with Memory.create(sys.argv[1]) as opened:
        for answer in chat(opened, sys.argv[2], sys.stdin, thread="terminal"):
            print(answer)
