"""The text forms of projects, agents and identity."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from kimi_memory.domain.pages import IDENTITY_PATH, Agent, Identity, Project, Todo
from kimi_memory.formats import note_format
from kimi_memory.formats.body_layout import Body, Layout, Style
from kimi_memory.formats.note_format import Keys
from kimi_memory.formats.page_lines import marked, split_mark
from kimi_memory.formats.scalar import Value, clean, one_line

# The box of a task list: `[ ] to do`, `[x] done`; an X of either case.
_BOX = re.compile(r"\[(?P<mark>[ xX])\](?:[ \t]+|$)")

_LISTS = ("state", "progress", "todos", "decisions", "risks", "preferences")
_PROJECT = Layout(
    prefix="project",
    sections={"goal": Style.TEXT, **dict.fromkeys(_LISTS, Style.LIST)},
)
_AGENT = Layout(
    prefix="agent",
    sections={
        "persona": Style.TEXT,
        **dict.fromkeys(("state", "skills", "relationships"), Style.LIST),
    },
)
_IDENTITY = Layout(
    prefix="identity",
    sections={
        "who": Style.TEXT,
        "beliefs": Style.LIST,
        "mission": Style.TEXT,
        "abilities": Style.LIST,
        "growth": Style.LIST,
    },
)


def _section_text(body: Body, name: str) -> str:
    return "".join(body.sections.get(name, ()))


def _single_block(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def _todo_block(todo: Todo) -> str:
    text = marked(todo.text, todo.id) if todo.id else todo.text
    return f"[{'x' if todo.done else ' '}] {text}"


def _parse_todo(block: str) -> Todo:
    box = _BOX.match(block)
    text, id = split_mark(block[box.end() :] if box else block)
    return Todo(text, box is not None and box["mark"] in "xX", id)


def _parse_todos(blocks: Iterable[str]) -> tuple[Todo, ...]:
    return tuple(todo for block in blocks if (todo := _parse_todo(block)).text)


def _project_values(project: Project) -> dict[str, Value]:
    return note_format.values(project, {}, {"finished": True if project.finished else None})


def _project_body(project: Project) -> Body:
    sections = {
        "goal": _single_block(project.goal),
        "state": project.state,
        "todos": tuple(_todo_block(todo) for todo in project.todos),
        "decisions": project.decisions,
        "risks": project.risks,
        "preferences": project.preferences,
        "progress": project.progress,
    }
    return Body(project.name, {}, sections)


def _build_project(keys: Keys, body: Body) -> Project:
    return Project(
        **note_format.common(keys),
        name=body.title,
        finished=keys.flag("finished"),
        goal=_section_text(body, "goal"),
        state=body.sections.get("state", ()),
        todos=_parse_todos(body.sections.get("todos", ())),
        decisions=body.sections.get("decisions", ()),
        risks=body.sections.get("risks", ()),
        preferences=body.sections.get("preferences", ()),
        progress=body.sections.get("progress", ()),
    )


def _clean_project(project: Project) -> Project:
    todos = (_clean_todo(todo) for todo in project.todos)
    return replace(
        project,
        **note_format.clean_common(project),
        name=one_line(project.name),
        goal=clean(project.goal),
        state=note_format.texts(project.state),
        todos=tuple(todo for todo in todos if todo.text),
        decisions=note_format.texts(project.decisions),
        risks=note_format.texts(project.risks),
        preferences=note_format.texts(project.preferences),
        progress=note_format.texts(project.progress),
    )


def _clean_todo(todo: Todo) -> Todo:
    # Words that look like a mark become one, as they would when they are read.
    text, id = split_mark(clean(todo.text))
    return replace(todo, text=text, id=todo.id or id)


def _project_place(project: Project) -> str:
    folder = "mid-term/projects/archive" if project.finished else "mid-term/projects"
    return f"{folder}/{note_format.slug(project.name)}.md"


def _agent_values(agent: Agent) -> dict[str, Value]:
    return note_format.values(agent, {}, {})


def _agent_body(agent: Agent) -> Body:
    sections = {
        "persona": _single_block(agent.persona),
        "state": agent.state,
        "skills": agent.skills,
        "relationships": agent.relationships,
    }
    return Body(agent.name, {}, sections)


def _build_agent(keys: Keys, body: Body) -> Agent:
    return Agent(
        **note_format.common(keys),
        name=body.title,
        persona=_section_text(body, "persona"),
        state=body.sections.get("state", ()),
        skills=body.sections.get("skills", ()),
        relationships=body.sections.get("relationships", ()),
    )


def _clean_agent(agent: Agent) -> Agent:
    return replace(
        agent,
        **note_format.clean_common(agent),
        name=one_line(agent.name),
        persona=clean(agent.persona),
        state=note_format.texts(agent.state),
        skills=note_format.texts(agent.skills),
        relationships=note_format.texts(agent.relationships),
    )


def _agent_place(agent: Agent) -> str:
    return f"mid-term/agents/{note_format.slug(agent.name)}.md"


def _identity_values(identity: Identity) -> dict[str, Value]:
    return note_format.values(identity, {}, {})


def _identity_body(identity: Identity) -> Body:
    sections = {
        "who": _single_block(identity.who),
        "beliefs": identity.beliefs,
        "mission": _single_block(identity.mission),
        "abilities": identity.abilities,
        "growth": identity.growth,
    }
    return Body(identity.name, {}, sections)


def _build_identity(keys: Keys, body: Body) -> Identity:
    return Identity(
        **note_format.common(keys),
        name=body.title,
        who=_section_text(body, "who"),
        beliefs=body.sections.get("beliefs", ()),
        mission=_section_text(body, "mission"),
        abilities=body.sections.get("abilities", ()),
        growth=body.sections.get("growth", ()),
    )


def _clean_identity(identity: Identity) -> Identity:
    return replace(
        identity,
        **note_format.clean_common(identity),
        name=one_line(identity.name),
        who=clean(identity.who),
        beliefs=note_format.texts(identity.beliefs),
        mission=clean(identity.mission),
        abilities=note_format.texts(identity.abilities),
        growth=note_format.texts(identity.growth),
    )


def _identity_place(_: Identity) -> str:
    return IDENTITY_PATH


PROJECT = note_format.Shape(
    _PROJECT, _project_values, _project_body, _build_project, _clean_project, _project_place
)
AGENT = note_format.Shape(
    _AGENT, _agent_values, _agent_body, _build_agent, _clean_agent, _agent_place
)
IDENTITY = note_format.Shape(
    _IDENTITY, _identity_values, _identity_body, _build_identity, _clean_identity, _identity_place
)
