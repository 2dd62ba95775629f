"""An agent that is started with a task and a block of memory, asks a model, and is gone.

Run it with a memory and an OpenAI-compatible server such as Ollama:

    kimi-memory agent run helper "What do we use for orders?" \
        --command "python3 agent_with_model.py http://127.0.0.1:11434/v1 qwen3"

On standard input it finds the block and the task; each line that it prints is kept as a turn.
It needs nothing but Python.
"""

import json
import sys
import urllib.request


def ask(address: str, model: str, prompt: str) -> dict:
    """Return the answer of a model."""
    messages = [{"role": "user", "content": prompt}]
    request = urllib.request.Request(  # noqa: S310  the address that a person gave
        f"{address}/chat/completions",
        data=json.dumps({"model": model, "messages": messages}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310  as above
        return json.load(answer)


def main() -> None:
    """Do one task."""
    address, model = sys.argv[1:]
    answer = ask(address, model, sys.stdin.read())
    text = answer["choices"][0]["message"]["content"]
    print(json.dumps({"role": "assistant", "text": text}, ensure_ascii=False), flush=True)
    used = answer.get("usage", {})
    tokens = {"tokens_in": "prompt_tokens", "tokens_out": "completion_tokens"}
    counts = {name: used.get(key, 0) for name, key in tokens.items()}
    print(json.dumps({"usage": {"calls": 1, "model": model, **counts}}))


if __name__ == "__main__":
    main()
