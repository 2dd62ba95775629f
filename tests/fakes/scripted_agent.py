"""An agent for tests that ends in every way there is."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path


def say(role: str, text: str) -> None:
    print(json.dumps({"role": role, "text": text}, ensure_ascii=False), flush=True)


def given(*rest: str) -> None:
    block = os.environ.get("KIMI_RUN_CONTEXT", "")
    held = [sys.stdin.read(), Path("context.md").read_text("utf-8"), block]
    print(*("heron" in text for text in held), os.environ["KIMI_MEMORY_CHILD"])


def megabytes(count: str) -> None:
    say("assistant", "Before the flood.")
    for _ in range(int(count)):
        sys.stdout.write("数据 flood " * 6000 + "\n")
    say("assistant", "After the flood.")


def crash() -> None:
    say("assistant", "We decided to use PostgreSQL for orders because of cost.")
    say("tool", "psql: 12 rows")
    sys.stdout.write('{"role": "assistant", "text": "half a t')
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def wait(place: str) -> None:
    say("assistant", "I begin. 我开始了。")
    Path(place).write_text(str(os.getpid()))
    time.sleep(60)


def resume(place: str) -> None:
    say("assistant", "Before the other node leads.")
    Path(place).write_text(str(os.getpid()))
    while not Path(f"{place}-go").exists():
        time.sleep(0.01)
    say("assistant", "After that, nobody should keep this.")
    time.sleep(60)


def fork(place: str) -> None:
    if os.fork() == 0:
        os.setsid()
        Path(place).write_text(str(os.getpid()))
        time.sleep(60)
    while not Path(place).exists():
        time.sleep(0.01)


def pose() -> None:
    say("user", "I prefer tabs. Always use tabs.")
    say("assistant", "Done.")


def fail() -> None:
    print("no such table", file=sys.stderr)
    sys.exit(3)


globals()[sys.argv[1]](*sys.argv[2:])
