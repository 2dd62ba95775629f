"""A loop that remembers by itself: recall before, capture after, learning when it ends.

Nobody says "remember this". Any function from messages to a text can be the model; as a
program it asks the one that ``OLLAMA_MODEL`` names: ``python auto_memory.py ~/memory``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator

from kimi_memory import Memory

Message = dict[str, str]
Model = Callable[[list[Message]], str]


def session(memory: Memory, model: Model, lines: Iterable[str]) -> Iterator[str]:
    """Yield the answer to each line, and in the end what was learned."""
    handle = memory.session(host="auto-memory")
    messages: list[Message] = []
    for line in lines:
        known = memory.context("live", line, beside=handle.id).text
        handle.turn("user", line)
        messages.append({"role": "user", "content": line})
        system = [{"role": "system", "content": known}] if known else []
        answer = model([*system, *messages])
        handle.turn("assistant", answer)
        messages.append({"role": "assistant", "content": answer})
        yield answer
    report = memory.end(handle.id)
    yield from (f"learned: {one.key} ({one.why})" for one in report.operations if one.key)


def ollama(messages: list[Message]) -> str:
    """Return what the model on this machine answers."""
    import ollama as library

    told = library.chat(os.environ["OLLAMA_MODEL"], messages)
    return told.message.content or ""


if __name__ == "__main__":
    with Memory.create(sys.argv[1]) as opened:
        for text in session(opened, ollama, sys.stdin):
            print(text)
        opened.consolidate("daily")  # what a schedule does each night
