"""The client of event loops, made of the one that waits: the same text with ``await`` in it.

``python -m docs.async_client`` writes it; with ``--check`` it says whether it is stale.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

CLIENT = Path(__file__).parent.parent / "kimi_memory" / "client"
MADE = CLIENT / "async_client.py"

_FIRST = (
    '"""The client for programs with an event loop.\n\n'
    "Made by `python -m docs.async_client` from sync_client.py; change that.\n"
    '"""\n'
)
_PLAIN = r"__init__|id"
"""Methods that wait for nothing."""
_CHANGES = (
    (r'\A"""[^\n]*\n', _FIRST),
    (r"\bIterator\b", "AsyncIterator"),
    (r"\bClientSession\b", "AsyncSession"),
    (r"\bClient\b", "AsyncClient"),
    (r"(A memory behind a server); every", r"\1, for an event loop; every"),
    (rf"    def (?!(?:{_PLAIN})\()", "    async def "),
    (r"__(enter|exit)__", r"__a\1__"),
    (r"(self\.(?:_client\.)?(?:send|end|close)\()", r"await \1"),
    (r"(self\._http\.(?:request|get)\()", r"await \1"),
    (r"self\._http\.close\(", "await self._http.aclose("),
    (r"with (self\._http\.stream\()", r"async with \1"),
    (r"answer\.read\(", "await answer.aread("),
    (r"for line in answer\.iter_lines\(", "async for line in answer.aiter_lines("),
    (
        r"( +)yield from made\.feed_line\(line\)",
        r"\1for event in made.feed_line(line):\n\1    yield event",
    ),
)


def async_client() -> str:
    """Return the text of the module."""
    text = (CLIENT / "sync_client.py").read_text(encoding="utf-8")
    for pattern, given in _CHANGES:
        text = re.sub(pattern, given, text)
    return text


def main(argv: Sequence[str] | None = None) -> int:
    """Write the module, or check it."""
    options = argparse.ArgumentParser(prog="python -m docs.async_client", description=main.__doc__)
    options.add_argument("--check", action="store_true", help="write nothing, exit 1 if stale")
    made = async_client()
    if not options.parse_args(argv).check:
        MADE.write_text(made, encoding="utf-8")
    elif MADE.read_text(encoding="utf-8") != made:
        print(f"{MADE.name} is stale: run python -m docs.async_client", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
