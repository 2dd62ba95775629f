"""Records of runs in a memory: ``mid-term/runs.jsonl``, a sealed line for each run that ended.

They hold no words of anybody: what was asked and said stands in the session alone, where forget
and purge find it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.agent_run import AgentRun
from kimi_memory.formats.json_values import plain, revive
from kimi_memory.formats.jsonl import is_whole, seal

RUNS = "mid-term/runs.jsonl"


class Skill(NamedTuple):
    """How often runs with a skill ended well."""

    name: str
    runs: int
    done: int
    last: str


def screen_run(memory: Memory, run: AgentRun) -> AgentRun:
    """Return a run as it may be stored: names and why it failed can hold a secret."""
    screen = memory.screen

    def texts(of: Any) -> dict[str, Any]:
        named = ((field.name, getattr(of, field.name)) for field in fields(of))
        return {name: screen.pass_name(text) for name, text in named if isinstance(text, str)}

    skills = tuple(map(screen.pass_name, run.skills))
    return replace(run, **texts(run), skills=skills, usage=replace(run.usage, **texts(run.usage)))


def record_run(memory: Memory, run: AgentRun) -> None:
    """Keep a run that ended."""
    memory.store.append(RUNS, [seal(plain(screen_run(memory, run)))], memory.actor)
    memory.written()


def read_runs(memory: Memory) -> list[AgentRun]:
    """Return the runs that ended, in order; a torn line is left out."""
    if not memory.store.exists(RUNS):
        return []
    lines = memory.store.read(RUNS).splitlines(keepends=True)
    return [revive(AgentRun, json.loads(line)) for line in lines if is_whole(line)]


def count_skills(runs: Sequence[AgentRun], first_day: str = "") -> list[Skill]:
    """Return how runs went, by skill, from a day on where one is given."""
    total: Counter[str] = Counter()
    done: Counter[str] = Counter()
    last: dict[str, str] = {}
    for run in (run for run in runs if run.stopped[:10] >= first_day):
        for skill in run.skills:
            total[skill] += 1
            done[skill] += run.outcome == "done"
            last[skill] = max(last.get(skill, ""), run.stopped[:10])
    return [Skill(name, total[name], done[name], last[name]) for name in sorted(total)]
