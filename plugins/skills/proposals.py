"""Skills: procedures that came up again, as SKILL.md files that do nothing until installed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from kimi_memory import Memory
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Create, JobReport, Plan, digest_of
from kimi_memory.domain.note import CardType, Lang, Origin
from kimi_memory.domain.session import BY_HAND, IMPORTED, Transcript, scope_of
from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.formats import frontmatter
from kimi_memory.formats.page_lines import fill
from kimi_memory.jobs.gates import DraftGate
from kimi_memory.nlp.basic.patterns import language_of, regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.dates.timestamps import EPOCH
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf

from .mining import Procedure, outline, procedures

FOLDER = "review/skills"
"""Where candidates wait for a person."""

_NAME = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# What programs that read SKILL.md know; they refuse a file with any other key.
_ALLOWED = {"name", "description", "license", "compatibility", "allowed-tools", "metadata"}
# A person has to read each of them.
_MOST = 10
# The first runs prove the procedure; a hundred quotations would hide it.
_QUOTED_RUNS = 5


@dataclass(frozen=True, slots=True)
class Skill:
    """One candidate."""

    name: str
    description: str
    path: str
    text: str
    problems: tuple[str, ...] = ()
    """What a program that reads skills would refuse."""


def propose(memory: Memory, *, dry_run: bool = False) -> JobReport:
    """Look for procedures in all sessions, and file each new one as a candidate.

    One that was proposed before is not proposed again, even where a person deleted it;
    `Memory.undo` takes a proposal back.
    """
    return memory.run(FindSkills(memory), dry_run=dry_run)


def skills(memory: Memory) -> list[Skill]:
    """Return the candidates, by name."""
    return sorted(_yield_candidates(memory), key=lambda skill: skill.name)


def skill(memory: Memory, name: str) -> Skill:
    """Return one candidate.

    Raises:
        NotFoundError: there is none of that name.
    """
    for found in _yield_candidates(memory):
        if found.name == name:
            return found
    raise NotFoundError("skill", name)


def problems_of(text: str, name: str) -> list[str]:
    """Return why a SKILL.md in the folder `name` would be refused; empty if it is valid."""
    try:
        values = frontmatter.read(text, f"{name}/SKILL.md").values
    except FormatError as error:
        # What is wrong with its head is what the person has to know.
        return [str(error)]
    found = [f"unknown key {key!r}" for key in values if key not in _ALLOWED]
    given, told = values.get("name"), values.get("description")
    if given != name:
        found.append(f"name is {given!r}, its folder {name!r}")
    if not isinstance(given, str) or not _NAME.fullmatch(given) or len(given) > 64:
        found.append("name has to be 1 to 64 of a-z, 0-9 and single hyphens")
    if not isinstance(told, str) or not told.strip() or len(told) > 1024:
        found.append("description has to have 1 to 1024 characters")
    elif "<" in told or ">" in told:
        found.append("description must hold no angle brackets")
    return found


def _yield_candidates(memory: Memory) -> Iterator[Skill]:
    for path in memory.store.files(FOLDER):
        parts = path.removeprefix(f"{FOLDER}/").split("/")
        if len(parts) == 2 and parts[1] == "SKILL.md":
            text = memory.store.read(path).decode("utf-8", "replace")
            problems = tuple(problems_of(text, parts[0]))
            told = "" if problems else str(frontmatter.read(text, path).values["description"])
            yield Skill(parts[0], told, path, text, problems)


class FindSkills:
    """Plans a file for each procedure that came up again and again."""

    kind = "skills"

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the sessions as they are."""
        found, left_out = _find_new_skills(self._memory)
        names = [skill.name for skill in found]
        changes = [Create(skill.path, skill.text.encode()) for skill in found]
        return Plan(
            kind=self.kind,
            subject=", ".join(names)[:80],
            inputs=digest_of([self.kind, *(skill.text for skill in found)]),
            changes=tuple(changes),
            left_out=tuple(left_out),
        )


def _find_new_skills(memory: Memory) -> tuple[list[Skill], list[str]]:
    # Who deleted a proposal does not want to see it again.
    known = {*_yield_proposed_paths(memory), *memory.store.files(FOLDER)}
    gate = DraftGate.from_context(memory)
    found: list[Skill] = []
    left_out: list[str] = []
    for procedure in procedures(_yield_shared_sessions(memory, left_out)):
        made = _build_skill(procedure, memory)
        why = gate.objection(_build_draft(procedure))
        if why:
            left_out.append(f"{made.name}: {why}")
        elif made.path not in known and len(found) < _MOST and not made.problems:
            found.append(made)
            known.add(made.path)
    return found, left_out


def _yield_shared_sessions(memory: Memory, left_out: list[str]) -> Iterator[tuple[str, Transcript]]:
    """Yield the sessions that belong to everybody; name those that cannot be read."""
    for place in sessions.places(memory.store):
        try:
            transcript = sessions.read(memory.store, place.path)
        except FormatError as error:
            left_out.append(str(error))
            continue
        own = scope_of(transcript.session)  # A skill is everybody's.
        if not own and transcript.session.host not in (IMPORTED, BY_HAND):
            yield place.root, transcript


def _yield_proposed_paths(memory: Memory) -> Iterator[str]:
    """Yield the path of every skill that was ever proposed and not taken back."""
    for job in memory.jobs.records(FindSkills.kind):
        yield from (effect.path for effect in job.effects)


def _build_draft(procedure: Procedure) -> Draft:
    words = outline(procedure.steps)
    quotes = tuple(step.quote for run in procedure.runs for step in run)
    lang = Lang(language_of(words))
    return Draft(
        type=CardType.PATTERN,
        key="",
        title=words[:60],
        value=words,
        quotes=quotes,
        at=EPOCH,
        lang=lang,
        origin=Origin.AGENT,
    )


def _build_skill(procedure: Procedure, memory: Memory) -> Skill:
    told = outline(procedure.steps)
    # Commands are English everywhere; who asked for them may not be.
    asked = "\n".join(run[0].asked for run in procedure.runs)
    lang = language_of(asked if procedure.steps[0].is_command else told)
    name = _skill_name(procedure)
    count = len(procedure.runs)
    # The format allows no angle brackets in a description.
    told = told.replace("<", "‹").replace(">", "›")
    about = ", ".join(procedure.about[:6]) if lang == "en" else "、".join(procedure.about[:6])
    description = _describe_skill(lang, told, about, count)
    runs = [
        {
            "session": run[0].quote.session,
            "quotes": [(s.quote.n, _collapse_spaces(s.quote.text)) for s in run],
        }
        for run in procedure.runs[:_QUOTED_RUNS]
    ]
    text = fill(
        "skills/SKILL",
        lang,
        name=name,
        description=_quote_yaml(description),
        about=about,
        count=count,
        steps=[{"text": s.text, "command": s.is_command} for s in procedure.steps],
        runs=runs,
        date=memory.now().date().isoformat(),
    )
    problems = tuple(problems_of(text, name))
    return Skill(name, description, f"{FOLDER}/{name}/SKILL.md", text, problems)


def _describe_skill(lang: str, told: str, about: str, count: int) -> str:
    steps = told[:600]
    if lang == "zh":
        when = f"当请求涉及 {about} 时使用。" if about else ""
        return f"{count} 次会话中重复出现的步骤：{steps}。{when}"
    when = f" Use when a request is about {about}." if about else ""
    return f"Steps that came up in {count} sessions: {steps}.{when}"


def _skill_name(procedure: Procedure) -> str:
    keys = [step.key for step in procedure.steps]
    words = [" ".join(key.split()[:2]) for key in keys]
    mark = hashlib.sha256("\0".join(keys).encode()).hexdigest()[:6]
    ascii_only = "".join(ch if ch.isascii() else " " for ch in " ".join(words))
    stem = slug(ascii_only, limit=48).replace(".", "-").replace("_", "-")
    stem = "-".join(filter(None, stem.split("-")))
    # Words of people may be Chinese, and a skill's name is ASCII by its format.
    plain = all(step.is_command for step in procedure.steps) and _NAME.fullmatch(stem)
    return f"{stem}-{mark}" if plain else f"procedure-{mark}"


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


def _quote_yaml(text: str) -> str:
    """Return a YAML text in double quotes, on one line."""
    plain = _collapse_spaces(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'
