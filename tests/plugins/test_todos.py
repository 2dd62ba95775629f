"""Check lists: open items are kept, ticked ones and code are not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from kimi_memory.plugins.todos import open_tasks

from kimi_memory.domain.note import CardType, Origin, Role
from kimi_memory.domain.session import CODING_RECORDER, Session, Transcript, Turn
from kimi_memory.hooks.host import Host

NOW = datetime(2026, 2, 27, tzinfo=UTC)


def said(*texts: str, origin: Origin = Origin.HUMAN) -> Transcript:
    turns = (Turn(n, NOW, Role.USER, text, origin=origin) for n, text in enumerate(texts, start=1))
    return Transcript(Session("s", NOW, project="p"), tuple(turns))


LIST = "待办列一下：\n- [x] 首页\n- [ ] 食材搜索页\n* [ ] export for the treasurer"


def test_open_items_become_tasks_with_their_own_language() -> None:
    tasks = open_tasks(said(LIST))
    assert [(task.value, str(task.lang)) for task in tasks] == [
        ("食材搜索页", "zh"),
        ("export for the treasurer", "en"),
    ]
    assert {task.type for task in tasks} == {CardType.TASK_STATE}
    assert all(task.quotes[0].stands_in(LIST) for task in tasks)


def test_an_item_ticked_later_is_done() -> None:
    tasks = open_tasks(said(LIST, "- [x] 食材搜索页"))
    assert [task.value for task in tasks] == ["export for the treasurer"]


@pytest.mark.parametrize(
    "transcript",
    [
        said("```\n- [ ] in code\n```"),
        said("- [ ] from the web", origin=Origin.REMOTE),
        said("a [ ] b", "- [] nothing", "- [ ]"),
    ],
)
def test_code_and_strangers_give_no_tasks(transcript: Transcript) -> None:
    assert open_tasks(transcript) == []


def test_hook_distil_session() -> None:
    drafts = Host(entry_points=False).answer("distil_session", transcript=said(LIST, "好的"))
    assert [d.value for d in drafts if d.type is CardType.TASK_STATE and not d.done] == [
        "食材搜索页",
        "export for the treasurer",
    ]


def test_a_list_that_an_agent_at_work_writes_for_itself_is_no_task() -> None:
    plan = "- [x] read src/app.py\n- [ ] wire the export in src/app.py\n- [ ] run the checks"
    rounds = [(Role.USER, "add an export"), (Role.ASSISTANT, plan)] * 2
    turns = tuple(
        Turn(n, NOW, role, text, origin=Origin.HUMAN if role is Role.USER else Origin.AGENT)
        for n, (role, text) in enumerate([*rounds, (Role.ASSISTANT, "Edited src/app.py.")], 1)
    )
    work = Transcript(Session("s", NOW, host=CODING_RECORDER), turns)
    assert open_tasks(work) == []
    mine = replace(turns[0], text="- [ ] ask Lena for the logo")
    tasks = open_tasks(replace(work, turns=(mine, *turns[1:])))
    assert [task.value for task in tasks] == ["ask Lena for the logo"]


def test_a_long_list_handed_to_an_agent_at_work_is_a_document() -> None:
    boxes = "\n".join(f"- [ ] part {n} of the cookbook" for n in range(7))
    handed = said(f"Put this under product/:\n{boxes}")
    assert len(open_tasks(handed)) == 7
    at_work = replace(handed, session=replace(handed.session, host=CODING_RECORDER))
    assert open_tasks(at_work) == []
    short = replace(at_work, turns=said("- [ ] move the spices\n- [ ] name the file").turns)
    assert [task.value for task in open_tasks(short)] == ["move the spices", "name the file"]
