"""What comes next and that something worked is no knowledge; what was found is."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.announcements import (
    is_marker,
    is_under_way,
    only_announces,
    only_echoes,
)


@pytest.mark.parametrize(
    "text",
    [
        "Let me read the parser before I touch it.",
        "Great. Now I'll move the settings into their own file.",
        "I’ll start with the migration. Then I'll run the tests.",
        "Now I need to look at how the queue is drained.",
        "Sure! Let me check the logs of the worker.",
        "Perfect! Now let me add that to the list.",
        "I'm going to compare both branches.",
        "Now let me read the settings. First, the imports section.",
        "Now I have everything. Let me update the plan.",
        "好的，我先看看配置文件。",
        "接下来我来修改数据库的迁移脚本。",
        "让我检查一下日志。",
        "正在把迁移脚本写进仓库。",
        "好的，正在检查端口配置，现在运行测试。",
    ],
)
def test_only_what_comes_next(text: str) -> None:
    assert only_announces(text)


@pytest.mark.parametrize(
    "text",
    [
        "The parser reads latin-1. Let me fix it.",
        "Let me know which port you prefer.",
        "I'll be honest: the cache never worked.",
        "Done. The port is 8080 now.",
        "Now the build needs Go 1.25.",
        "Port 8080.",
        "正在改配置。端口原来写死在 server.py 里。",
        "I need to tell you that " + "the archive holds two copies of each page, " * 9,
        "数据库换成了 SQLite。让我再测一次。",
        "我来自杭州的分公司。",
        "First, the imports section is wrong. Let me move it.",
        "Good question: the queue is drained every night.",
        "",
    ],
)
def test_what_says_more_stays(text: str) -> None:
    assert not only_announces(text)


@pytest.mark.parametrize(
    "text",
    [
        "Todos have been modified successfully. Ensure that you continue to use the list.",
        "File created successfully at: /srv/app/main.py",
        "The file /srv/app/main.py has been updated.",
        "No matches found",
        "Found 12 files\nsrc/a.py\nsrc/b.py",
        "src/a.py\nsrc/b.py\ntests/",
        "-rw-r--r-- 1 root root 903 Nov 26 23:07 a.out\n-rw-r--r-- 1 root root 90 Nov 26 b.out",
        "Done.",
        "文件已成功创建：src/a.py",
        "exit code: 0",
    ],
)
def test_only_that_it_worked(text: str) -> None:
    assert only_echoes(text)


@pytest.mark.parametrize(
    "text",
    [
        "3 failed, 20 passed: test_parser reads the wrong column",
        "error: release not found",
        "HTTP 502 from the gateway of the warehouse",
        "port = 8080\nhost = '10.0.0.7'",
        "exit code: 137, the worker was killed",
        "Postgres 16.2 is running on db.example.org",
        "main.py:12: name 'reader' is not defined",
        "温度传感器返回 21.5 度",
        "The invoice of March is 4,200 euros.",
        "",
    ],
)
def test_what_a_tool_found_stays(text: str) -> None:
    assert not only_echoes(text)


def test_what_a_program_wrote_for_the_person_is_a_marker() -> None:
    assert is_marker("[Request interrupted by user for tool use]")
    assert not is_marker("[x] the request was interrupted")


@pytest.mark.parametrize(
    "text",
    [
        "Updating the version strings",
        "Now, checking the logs of the pump.",
        "I'm adding the flag to `sync`.",
        "Planning the change of the settings",
    ],
)
def test_what_is_being_done_is_under_way(text: str) -> None:
    assert is_under_way(text)


@pytest.mark.parametrize(
    "text",
    [
        "Adding it by hand creates two attempts at once.",
        "Reading twice was the cause.",
        "Added the flag to `sync`.",
        "Missing index: `orders` has none on `day`.",
        "The building has 3 pumps.",
    ],
)
def test_what_came_of_it_is_not(text: str) -> None:
    assert not is_under_way(text)
