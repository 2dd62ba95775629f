"""What every worker does: read a folder, then questions; answer each on a line of JSON.

Runs in the environment of another program, so it imports nothing but the standard library.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path

Ask = Callable[[str, int], Awaitable[list[str]]]
Index = Callable[[str], Awaitable[Ask]]


def serve(package: str, index: Index) -> None:
    """Index a folder and answer questions with paths, best first.

    Args:
        package: whose version is told.
        index: indexes a folder and returns what asks it.
    """
    # What a program prints must not come between the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def tell(**said: object) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    async def answer() -> None:
        began = time.perf_counter()
        ask = await index(sys.argv[1])
        tell(version=version(package), seconds=time.perf_counter() - began)
        for line in sys.stdin:
            asked = json.loads(line)
            began = time.perf_counter()
            paths = await ask(asked["q"], asked["limit"])
            ms = (time.perf_counter() - began) * 1000
            tell(paths=[Path(path).name for path in paths], ms=ms)
        os._exit(0)  # some programs wait for threads of their own

    asyncio.run(answer())
