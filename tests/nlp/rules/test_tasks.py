"""To-dos and ticks in talk: what is taken, word for word, and what is left."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.tasks import done_in, finishes, tasks_in

MARK = "TO" + "DO"
"""In one word it would stand for something unfinished in this file."""
TAKEN = {
    f"{MARK}: add retries to the webhook client": "add retries to the webhook client",
    "todo(lena): document the retention rules.": "document the retention rules",
    "- To-do: rotate the staging keys": "rotate the staging keys",
    "Action item: ask legal about the font licence": "ask legal about the font licence",
    "We still need to move the nightly export to the new bucket.": (
        "move the nightly export to the new bucket"
    ),
    "ok, and I still have to write the rollback script": "write the rollback script",
    "The rate limiter isn't tested yet.": "The rate limiter isn't tested",
    "But we haven't deployed the worker pool yet, so keep the old one.": (
        "we haven't deployed the worker pool"
    ),
    "Still open: invoice template, seat map": "invoice template, seat map",
    "Left to do: port the importer to Rust": "port the importer to Rust",
    "待办：给导出接口加超时": "给导出接口加超时",
    "待办事项: 更新部署文档": "更新部署文档",
    f"{MARK}：把日志切到新集群": "把日志切到新集群",
    "我们还要把定时任务迁到新机器。": "把定时任务迁到新机器",
    "还需要补一下支付回调的测试": "补一下支付回调的测试",
    "上线前还得更新证书配置。": "更新证书配置",
    "支付回调的单测还没写。": "支付回调的单测还没写",
    "对了，灰度开关还没配置好，": "灰度开关还没配置好",
    "数据库备份脚本还没来得及改": "数据库备份脚本还没来得及改",
    "未完成：会员等级的迁移脚本": "会员等级的迁移脚本",
}
LEFT = [
    "remind me to call the dentist tomorrow",
    "Do we still need to keep the old endpoint?",
    "I still have to think about it.",
    "We still need to be careful here.",
    "If we still need to support IE we are doomed.",
    "I haven't seen that film yet.",
    "It isn't ready yet.",
    "I have a todo list app idea",
    "Please add retries to the client.",
    "He said you should still try it.",
    f"// {MARK}",
    "maybe we still have to change the colour",
    "提醒我明天给牙医打电话",
    "这件比那件还要贵",
    "你还没吃饭吗？",
    "我还没想好用什么库",
    "他还没来",
    "还要多久？",
    "要不要还得看你",
    "今天还要睡个午觉",
]


@pytest.mark.parametrize(("text", "task"), TAKEN.items(), ids=str)
def test_what_is_still_to_be_done_is_taken(text: str, task: str) -> None:
    assert tasks_in(text) == [task]
    assert task in text


@pytest.mark.parametrize("text", LEFT, ids=str)
def test_reminders_questions_and_small_talk_are_no_tasks(text: str) -> None:
    assert tasks_in(text) == []


def test_code_and_pastes_hold_no_tasks() -> None:
    assert tasks_in(f"Look:\n```python\n# {MARK}: fix this later on\n```\nwhat is wrong?") == []
    assert tasks_in(f"{MARK}: add retries to the webhook client\n" + "x " * 800) == []


DONE = {
    "Done with the migration.": "the migration",
    "ok, I'm done with the webhook retries": "the webhook retries",
    "We finished the export job today.": "the export job",
    "I've just completed the seat map": "the seat map",
    "The rollback script is done.": "The rollback script",
    "the rate limiter has been deployed": "the rate limiter",
    "Our release notes are finished": "Our release notes",
    "迁移脚本做完了": "迁移脚本",
    "支付回调的单测写好了！": "支付回调的单测",
    "我们已经把证书配置搞定了": "证书配置",
    "定时任务的迁移完成了": "定时任务的迁移",
    "The seat map is finished, I showed it to Ruth.": "The seat map",
    "今天先到这儿吧，发票模板写完了，我也测过了。": "发票模板",
}
NOT_DONE = [
    "The migration isn't done.",
    "Once the migration is done, delete the old table.",
    "Is the migration done?",
    "We are almost done with the migration",
    "When I'm done with the report I will call",
    "I'll finish the report tomorrow",
    "迁移做完了吗？",
    "迁移还没做完",
    "等迁移做完了再发版",
    "快写完了",
    "迁移差不多做完了",
    "如果迁移完成了就告诉我",
    "The seat map is finished, but the invoices aren't",
    "发票模板写完了，不过还没测",
]


@pytest.mark.parametrize(("text", "done"), DONE.items(), ids=str)
def test_what_is_done_is_taken(text: str, done: str) -> None:
    assert done_in(text) == [done]


@pytest.mark.parametrize("text", NOT_DONE, ids=str)
def test_what_is_not_done_is_no_tick(text: str) -> None:
    assert done_in(text) == []


@pytest.mark.parametrize(
    ("done", "task", "same"),
    [
        ("the migration", "migrate the cron jobs", True),
        ("the cron jobs", "migrate the cron jobs", True),
        ("the export", "migrate the cron jobs", False),
        ("it", "migrate the cron jobs", False),
        ("迁移脚本", "会员等级的迁移脚本", True),
        ("导出脚本", "会员等级的迁移脚本", False),
    ],
)
def test_a_tick_means_the_to_do_that_says_all_its_words(
    done: str, task: str, *, same: bool
) -> None:
    assert finishes(done, task) is same


@pytest.mark.parametrize(
    ("said", "task"),
    [
        ("I need to finish the survey by tomorrow.", "finish the survey by tomorrow"),
        ("we have to ship the patch before Friday", "ship the patch before Friday"),
        ("I must hand in chapter 3 by 12 May", "hand in chapter 3 by 12 May"),
        (
            "our audit needs to be signed off by March 3",
            "our audit needs to be signed off by March 3",
        ),
        ("I've got to renew the lease by the 5th", "renew the lease by the 5th"),
        ("also we need to rotate the keys by Sunday", "rotate the keys by Sunday"),
        ("明天之前要把周报写完", "明天之前要把周报写完"),
        ("周五前我得交开题报告", "周五前我得交开题报告"),
        ("我们必须在月底前完成数据迁移", "我们必须在月底前完成数据迁移"),
        ("下周一之前要把合同发给客户", "下周一之前要把合同发给客户"),
    ],
)
def test_what_is_due_by_a_day_is_a_task(said: str, task: str) -> None:
    assert tasks_in(said) == [task]


@pytest.mark.parametrize(
    "said",
    [
        "Do I need to finish it by tomorrow?",
        "If I have to move by Friday I would tell you",
        "He has to finish it by tomorrow",
        "I need to group the rows by month",
        "we should sort it by the third column",
        "You should finish the tests before Friday",
        "before Friday the build was green",
        "你周五前要把接口写完",
        "三天前我把报告交了",
        "上周五前他已经交了",
        "我还要补充那些",
        "We still need to fix those",
    ],
)
def test_what_names_a_day_and_nothing_to_do_is_no_task(said: str) -> None:
    assert tasks_in(said) == []
