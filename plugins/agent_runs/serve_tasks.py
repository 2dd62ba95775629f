"""``agent serve``: one task after the other, for agents that were started before it came."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from kimi_memory import Memory
from kimi_memory.domain.agent_run import TASK_CLASSES, Program, Task
from kimi_memory.domain.ids import new_id
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.formats.json_values import plain
from kimi_memory.runs.lifecycle import Runs, choose_runtime
from kimi_memory.runs.warm_pool import WarmPool


def serve_tasks(memory: Memory, program: Program, arguments: Namespace) -> int:
    """Do the tasks of standard input, a line of JSON each, and print what became of each."""
    runtime = choose_runtime(memory.host, program.runtime)
    pool = WarmPool(
        memory, program, runtime, os.environ, warm=arguments.warm, idle_s=arguments.idle
    )
    with pool:
        for found in carry_out(memory, program, pool, sys.stdin):
            sys.stdout.write(f"{json.dumps(found, ensure_ascii=False)}\n")
            sys.stdout.flush()
            pool.fill()
    return 0


def carry_out(
    memory: Memory, program: Program, pool: WarmPool, lines: Iterable[str]
) -> Iterator[dict[str, Any]]:
    """Yield what became of each task; one that cannot be read, or done, keeps no other waiting."""
    runs = Runs(memory, os.environ, pool)
    for line in filter(str.strip, lines):
        try:
            found = runs.run(_read_task(memory, line), program)
        except KimiMemoryError as error:
            yield {"outcome": "failed", "why": str(error)}
        else:
            yield {**plain(found), "said": runs.read_log(found.id)}


def _read_task(memory: Memory, line: str) -> Task:
    try:
        value = json.loads(line)
        task = Task(
            new_id("task", datetime.now(UTC)), memory.settings.memory.id,
            value.get("task", "batch"), value["prompt"].strip(), ref=value.get("ref", ""),
            expected_s=float(value.get("expected_s", 0)),
        )  # fmt: skip
        if not task.prompt or task.class_ not in TASK_CLASSES or not isinstance(task.ref, str):
            raise ValueError("prompt is a text, task a class, ref a text")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f'That is no task: {error}. Write {{"prompt": "…"}} on a line of its own.'
        ) from error
    return task
