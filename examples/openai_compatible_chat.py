"""A chat over any server with OpenAI's interface: vLLM, llama.cpp, LM Studio, SiliconFlow.

``pip install kimi-memory``, then
``python openai_compatible_chat.py ~/memory http://127.0.0.1:8000/v1 MODEL``; the key, if the
server wants one, is taken from OPENAI_API_KEY.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import httpx

from kimi_memory import Memory

PROMPT = "You are a helpful assistant. Answer in the language you are asked in."


class Server:
    """One server and one of its models."""

    def __init__(self, base_url: str, model: str, key: str = "") -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(base_url=base_url, headers=headers, timeout=300)
        self.model = model

    def answer(self, messages: list[Any]) -> str:
        """Return the next message of the assistant."""
        body = {"model": self.model, "messages": messages}
        told = self._client.post("chat/completions", json=body).raise_for_status().json()
        return str(told["choices"][0]["message"]["content"])

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()


def chat(memory: Memory, server: Server, lines: Iterable[str]) -> Iterator[str]:
    """Yield the answer to each line.

    The first message stays the same for the whole session, so that the server's cache of the
    prompt holds; what is known about a line stands right before that line.
    """
    with memory.session(agent=server.model, host="openai-compatible") as session:
        start = memory.context("start", budget=1500, session=session.id).text
        messages: list[dict[str, str]] = [{"role": "system", "content": f"{PROMPT}\n\n{start}"}]
        for line in lines:
            known = memory.context("live", line, budget=900, beside=session.id).text
            session.turn("user", line)
            asked = {"role": "user", "content": f"{known}\n\n{line}" if known else line}
            answer = server.answer([*messages, asked])
            session.turn("assistant", answer)
            messages += [{"role": "user", "content": line}]
            messages += [{"role": "assistant", "content": answer}]
            yield answer


if __name__ == "__main__":
    chosen = Server(sys.argv[2], sys.argv[3], os.environ.get("OPENAI_API_KEY", ""))
    with Memory.create(sys.argv[1]) as opened:
        for text in chat(opened, chosen, sys.stdin):
            print(text)
    chosen.close()
