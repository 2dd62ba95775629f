"""A chat with a model of Ollama that remembers from one day to the next.

``pip install kimi-memory``, ``ollama pull qwen3``, then ``python ollama_chat.py ~/memory qwen3``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from ollama import Client

from kimi_memory import Memory

PROMPT = "You are a helpful assistant. Answer in the language you are asked in."


def chat(memory: Memory, client: Client, model: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the answer to each line, piece by piece; the session ends with the last line."""
    with memory.session(agent=model, host="ollama") as session:
        messages: list[dict[str, str]] = []
        for line in lines:
            # What other sessions left goes before the messages and is none of them.
            known = memory.context("live", line, budget=900, beside=session.id).text
            session.turn("user", line)
            messages.append({"role": "user", "content": line})
            asked = [{"role": "system", "content": f"{PROMPT}\n\n{known}"}, *messages]
            answer = ""
            for piece in client.chat(model, asked, stream=True):
                answer += piece.message.content or ""
                yield piece.message.content or ""
            session.turn("assistant", answer)
            messages.append({"role": "assistant", "content": answer})
            yield "\n"


if __name__ == "__main__":
    with Memory.create(sys.argv[1]) as opened:
        for text in chat(opened, Client(), sys.argv[2], sys.stdin):
            print(text, end="", flush=True)
