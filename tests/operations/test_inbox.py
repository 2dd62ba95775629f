"""What asks for a person."""

from __future__ import annotations

from kimi_memory import Memory
from kimi_memory.operations.doctor import status
from kimi_memory.operations.inbox import asking
from tests.jobs.test_import_edits import page, write


def test_status_counts_what_waits_by_the_command_that_deals_with_it(paged: Memory) -> None:
    assert asking(paged) == {}
    write(paged, page(paged) + "- db.pool: twenty connections\n")
    assert asking(paged) == {"review pages": 1}
    paged.take_edits()
    paged.remember("部署端口是 8080。", key="deploy.port")
    paged.remember("部署端口是 8081。", key="deploy.port")
    assert status(paged).asks == {"review": 1, "conflicts": 1}


def test_a_page_of_ones_own_asks_for_nothing(paged: Memory) -> None:
    write(paged, "", "semantic/mine.md")
    write(paged, "# mine\n", "semantic/yours.md")
    assert asking(paged) == {}
