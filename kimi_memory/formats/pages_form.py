"""The text forms of projects, agents and identity."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from kimi_memory.domain.pages import IDENTITY_PATH, Agent, Identity, Project, Todo
from kimi_memory.formats import codec
from kimi_memory.formats.body_layout import Body, Layout, Style
from kimi_memory.formats.codec import Keys
from kimi_memory.formats.page_lines import marked, split_mark
from kimi_memory.formats.scalar import Value, clean, one_line

P = TypeVar("P", Agent, Identity)

# The box of a task list: `[ ] to do`, `[x] done`; an X of either case.
_BOX = re.compile(r"\[(?P<mark>[ xX])\](?:[ \t]+|$)")

# Their names are those of the fields, so that a section which is added to a class is written and
# read without a change here.
_PROJECT = {
    "goal": Style.TEXT,
    **dict.fromkeys(("state", "progress", "decisions", "risks", "preferences"), Style.LIST),
}
_PROJECT_LAYOUT = Layout(
    prefix="project",
    # To-dos are no plain texts, and stand before the decisions.
    sections={
        **{name: _PROJECT[name] for name in ("goal", "state", "progress")},
        "todos": Style.LIST,
        **_PROJECT,
    },
)
_AGENT = {
    "persona": Style.TEXT,
    **dict.fromkeys(("state", "skills", "relationships"), Style.LIST),
}
_IDENTITY = {
    "who": Style.TEXT,
    "beliefs": Style.LIST,
    "mission": Style.TEXT,
    "abilities": Style.LIST,
    "growth": Style.LIST,
}


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
    return codec.values(project, {}, {"finished": True if project.finished else None})


def _project_body(project: Project) -> Body:
    sections = codec.section_blocks(project, _PROJECT)
    return Body(project.name, {}, {**sections, "todos": tuple(map(_todo_block, project.todos))})


def _build_project(keys: Keys, body: Body) -> Project:
    return Project(
        **codec.common(keys),
        name=body.title,
        finished=keys.flag("finished"),
        todos=_parse_todos(body.sections.get("todos", ())),
        **codec.read_sections(body, _PROJECT),
    )


def _clean_project(project: Project) -> Project:
    todos = (_clean_todo(todo) for todo in project.todos)
    return replace(
        project,
        **codec.clean_common(project),
        name=one_line(project.name),
        todos=tuple(todo for todo in todos if todo.text),
        **codec.clean_texts(project, _PROJECT),
    )


def _clean_todo(todo: Todo) -> Todo:
    # Words that look like a mark become one, as they would when they are read.
    text, id = split_mark(clean(todo.text))
    return replace(todo, text=text, id=todo.id or id)


def _project_place(project: Project) -> str:
    folder = "mid-term/projects/archive" if project.finished else "mid-term/projects"
    return f"{folder}/{codec.slug(project.name)}.md"


def _named_page(
    kind: type[P], sections: Mapping[str, Style], place: Callable[[P], str]
) -> codec.Shape[P]:
    """Return the shape of a page that is a name and sections."""

    def body(page: P) -> Body:
        return Body(page.name, {}, codec.section_blocks(page, sections))

    def build(keys: Keys, body: Body) -> P:
        said = codec.read_sections(body, sections)
        return kind(**codec.common(keys), name=body.title, **said)

    def clean_page(page: P) -> P:
        said = codec.clean_texts(page, sections)
        shared = codec.clean_common(page)
        return replace(page, **shared, name=one_line(page.name), **said)

    def values(page: P) -> dict[str, Value]:
        return codec.values(page, {}, {})

    layout = Layout(prefix=kind.kind, sections=sections)
    return codec.Shape(layout, values, body, build, clean_page, place)


PROJECT = codec.Shape(
    _PROJECT_LAYOUT,
    _project_values,
    _project_body,
    _build_project,
    _clean_project,
    _project_place,
)
AGENT = _named_page(Agent, _AGENT, lambda agent: f"mid-term/agents/{codec.slug(agent.name)}.md")
IDENTITY = _named_page(Identity, _IDENTITY, lambda _: IDENTITY_PATH)
