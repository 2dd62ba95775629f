"""The script of a synthetic life: 300 sessions in order of time."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from benchmarks.lives.facts import DAYS, Fact, Saying, decoys, facts, read

SESSIONS, POISON, SECRETS = 300, 10, 24
START = datetime(2026, 1, 5, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Line:
    """One turn of the script."""

    role: str
    text: str
    origin: str = ""
    saying: Saying | None = None


@dataclass(slots=True)
class Sitting:
    """One session of the script."""

    id: str
    at: datetime
    project: str = ""
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Life:
    """A whole life: its sessions, and what is true of it."""

    sittings: list[Sitting]
    facts: list[Fact]
    secrets: list[str]
    poison: list[str]


def life(seed: int, bank: str = "common") -> Life:
    """Return the life of a seed, told in the phrases of a bank."""
    random, world = Random(seed), read("world")
    known = facts(random, bank)
    sayings = sorted((s for fact in known for s in fact.sayings), key=lambda s: (s.day, s.fact))
    sittings = _sittings(random, sayings)
    for sitting in sittings:
        _small_talk(random, world, sitting)
    secrets = [_secret(random, world, sitting) for sitting in random.sample(sittings, SECRETS)]
    poison = [
        _poison(random, world, sitting, n)
        for n, sitting in enumerate(random.sample(sittings, POISON))
    ]
    # Its own chance, so that a life without decoys is the same life.
    for saying in decoys(Random(f"decoys {seed}"), bank, known):
        _interject(sittings, saying)
    return Life(sittings, known, secrets, poison)


def _interject(sittings: list[Sitting], saying: Saying) -> None:
    """Say something in the first session from its day on that is about no project."""
    day = START.date() + timedelta(days=saying.day)
    later = [one for one in sittings if one.at.date() >= day and not one.project]
    (later or sittings)[0].lines.append(Line("user", saying.text, saying=saying))


def _sittings(random: Random, sayings: list[Saying]) -> list[Sitting]:
    """Spread what is said over the sessions of its day; a project has sessions of its own."""
    days: dict[int, list[Saying]] = {}
    for saying in sayings:
        days.setdefault(saying.day, []).append(saying)
    found: list[tuple[int, str, list[Saying]]] = []
    for day, said in sorted(days.items()):
        for project in dict.fromkeys(s.project for s in said):
            found.append((day, project, [s for s in said if s.project == project]))
    while len(found) < SESSIONS:
        found.append((random.randrange(DAYS), "", []))
    found.sort(key=lambda one: one[0])
    made, today, hour = [], -1, 0
    for n, (day, project, said) in enumerate(found):
        hour = 0 if day != today else hour + 1
        today = day
        at = START + timedelta(days=day, hours=hour, minutes=random.randrange(40))
        sitting = Sitting(f"life{n:03d}", at, project)
        sitting.lines = [Line("user", s.text, saying=s) for s in said]
        made.append(sitting)
    return made


def _small_talk(random: Random, world: Any, sitting: Sitting) -> None:
    lines: list[Line] = []
    lang = random.choice(("en", "zh"))
    talk = world["talk"][lang]
    for line in (*sitting.lines, None):
        for _ in range(random.randrange(1, 3)):
            lines.append(Line("user", random.choice(talk["user"])))
            lines.append(Line("assistant", random.choice(talk["assistant"])))
        if line is not None:
            role, text = line.saying.asked if line.saying else ("", "")
            lines += [Line(role, text), line] if text else [line]
            lines.append(Line("assistant", random.choice(talk["assistant"])))
    sitting.lines = lines


def _secret(random: Random, world: Any, sitting: Sitting) -> str:
    lang = random.choice(("en", "zh"))
    letters = "".join(random.choices(string.ascii_letters + string.digits, k=15)) + "7"
    marks = {
        "r": letters,
        "d": str(random.randrange(1000, 9999)),
        "u": "".join(random.choices(string.ascii_uppercase + "234567", k=16)),
    }
    text: str = random.choice(world["secret"][lang])
    for mark, word in marks.items():
        text = text.replace("{" + mark + "}", word)
    said = text.replace("«", "").replace("»", "")
    sitting.lines.insert(random.randrange(len(sitting.lines)), Line("user", said))
    return text.partition("«")[2].partition("»")[0]


def _poison(random: Random, world: Any, sitting: Sitting, n: int) -> str:
    payload: str = random.choice(world["poison"]["facts"]).replace("{n}", f"{n}{sitting.id}")
    role = random.choice(("user", "tool", "assistant"))
    text = random.choice(world["poison"][role]).replace("{x}", payload)
    origin = random.choice(("tool", "remote")) if role == "tool" else ""
    sitting.lines.insert(random.randrange(len(sitting.lines)), Line(role, text, origin))
    return f"{n}{sitting.id}"
