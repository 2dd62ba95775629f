"""A project's page without what one job did, whoever went on with it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kimi_memory.domain.pages import Project, Todo
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.jobs.undo_project import take_back

AT = datetime(2026, 2, 27, 9, tzinfo=UTC)
PATH = "mid-term/projects/shop.md"
EMPTY = Project(id="project-1", created=AT, updated=AT, name="shop")


def bytes_of(page: Project) -> bytes:
    return codec.render(page).encode()


def test_what_a_job_added_goes_and_what_it_took_out_comes_back() -> None:
    before = replace(EMPTY, progress=("a",), decisions=("old",), todos=(Todo("t"),))
    after = replace(before, progress=("a", "b"), decisions=("new",))
    now = replace(after, progress=("a", "b", "c"), todos=(Todo("t", done=True), Todo("mine")))
    found = take_back(PATH, bytes_of(before), bytes_of(after), bytes_of(now))
    assert found is not None
    page = codec.parse(decode(found, PATH), PATH)
    assert isinstance(page, Project)
    assert (page.progress, page.decisions) == (("a", "c"), ("old",))
    assert page.todos[:2] == (Todo("t", done=True), Todo("mine"))


@pytest.mark.parametrize(
    ("path", "after", "now"),
    [
        ("semantic/general/a.md", bytes_of(EMPTY), bytes_of(EMPTY)),
        (PATH, bytes_of(EMPTY), b""),
        (PATH, b"---\nid: [\n", bytes_of(EMPTY)),
        (PATH, bytes_of(EMPTY), b"---\nid: [\n"),
    ],
    ids=["another page", "gone", "cannot be read", "is not read"],
)
def test_where_nobody_can_tell_nothing_is_taken_back(path: str, after: bytes, now: bytes) -> None:
    assert take_back(path, b"", after, now) is None
