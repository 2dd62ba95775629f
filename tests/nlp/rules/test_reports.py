"""What an agent at work reports, without its running commentary."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.reports import reports_in


@pytest.mark.parametrize(
    "text",
    [
        "Renamed `load_all` to `load_batch` in both workers.",
        "The root cause is that the queue drops messages after 30 seconds.",
        "I've moved the retry logic into `client.py`.",
        "The parser fails on tabs because `split` only knows spaces.",
        "已经把缓存改成了 Redis，测试全部通过。",
        "原因是时区没有带上，所以日期差了一天。",
    ],
)
def test_findings_and_deeds_are_reported(text: str) -> None:
    assert [report.text for report in reports_in(text)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Let me look at the queue first.",
        "Now I'll update the tests.",
        "Would you like me to push it?",
        "Here's a summary of the changes:",
        "## Summary",
        "| file | change |",
        "让我先看看日志。",
        "需要我继续修复吗？",
    ],
)
def test_commentary_is_left_out(text: str) -> None:
    assert reports_in(text) == []


def test_code_is_no_report() -> None:
    assert reports_in("```python\nadded = fixed(because)\n```") == []


def test_a_nod_before_a_report_is_cut_off() -> None:
    found = reports_in("Done. Added the flag `--dry` to `sync`.")
    assert [report.text for report in found] == ["Added the flag `--dry` to `sync`."]


def test_a_cause_with_names_outweighs_a_plain_deed() -> None:
    plain, rich = reports_in(
        "Updated the notes a bit more.\nFixed `ETL-4`: the job failed because `cron.yml` was empty."
    )
    assert rich.worth > plain.worth


def test_a_list_stands_below_its_lead() -> None:
    found = reports_in(
        "Done. Added `test_retry` with 3 cases:\n\n"
        "- the server answers late\n- The server answers twice because of `retry`\n\nAll good."
    )
    assert [(one.above, one.text) for one in found] == [
        ("Added `test_retry` with 3 cases", "the server answers late"),
        ("Added `test_retry` with 3 cases", "The server answers twice because of `retry`"),
    ]


def test_a_heading_that_names_a_file_stands_above_its_changes() -> None:
    found = reports_in("### `src/queue.py`\n- Moved the lock into `Worker`\n\n## Summary\n")
    assert [(one.above, one.text) for one in found] == [
        ("`src/queue.py`", "Moved the lock into `Worker`")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- (4) ✅ Needed because `join` builds the path.",
        "✅ Good - the flag is validated. It never fails.",
        "Nice separation of reading and writing, never mixed.",
        "1103→+ return Error{Message: failed}",
        "Now add the `lock` call because the test fails.",
        "I need to fix `lock` because it fails.",
        "Must be a tab issue because it fails.",
        "The index is unused (wait, let me check because it fails).",
    ],
)
def test_praise_listings_and_intentions_are_no_findings(text: str) -> None:
    assert reports_in(text) == []


QUOTED = """Here is the rule.

```markdown
## Example

```markdown
The index is missing because nobody wrote `build`.
     ```
     kimi build
     ```
The queue fails because `lock` is missing.
```

Never call `lock` twice, it fails.```

The real cause: `lock` is never released."""


def test_a_quoted_page_with_code_of_its_own_is_no_report() -> None:
    assert [one.text for one in reports_in(QUOTED)] == ["The real cause: `lock` is never released."]


def test_a_longer_fence_holds_shorter_ones() -> None:
    found = reports_in(
        "````\n```\nIt fails because of `a`.\n```\nIt fails, too.\n````\nFixed `b.py` now."
    )
    assert [one.text for one in found] == ["Fixed `b.py` now."]


@pytest.mark.parametrize(
    "text",
    [
        "So this should help because it shows whether `lock` is:\n- held",
        "所以当用户访问不同的 `URL` 时：\n- 会重定向",
        "另外，由于这些信息涉及用户隐私，建议：",
        "Added `a.py` with 2 cases:\n- sets the class of `Card` to:",
    ],
)
def test_a_sentence_that_leads_to_a_list_is_none_without_it(text: str) -> None:
    assert all(
        "：" not in one.text and not one.text.endswith((":", "建议", "时", "is"))
        for one in reports_in(text)
    )
    assert all(one.text.startswith(("held", "会")) for one in reports_in(text))


@pytest.mark.parametrize(
    "columns",
    ["File | Action", "文件 | 改动", "Title | URL", "`Path` | Lines"],
    ids=lambda text: text,
)
def test_which_files_were_changed_and_which_pages_were_found_is_no_finding(columns: str) -> None:
    rows = "| `src/queue.py` | moved the lock because of `Worker` |"
    assert reports_in(f"| {columns} |\n|---|---|\n{rows}") == []
    assert reports_in(f"| Case | Result |\n|---|---|\n{rows}") != []


@pytest.mark.parametrize(
    "text",
    [
        "Use this when the task needs `lock`.",
        "Navigate to the folder because `run` needs it.",
        "Implement createTask in the MarkdownTaskBackend because it is missing.",
        "Consider having `process` return a result, positions never last.",
    ],
)
def test_what_somebody_is_to_do_is_no_finding(text: str) -> None:
    assert reports_in(text) == []


def test_a_nod_needs_its_mark() -> None:
    (found,) = reports_in(
        "Good defaults are missing because `conf` is empty.\nFixed the `a.py` one."
    )
    assert found.text == "Fixed the `a.py` one."


CAUSES = """## What broke

The pump stops at night: `valve.py` closes it when 2 clocks disagree.
I looked around for a while.

## Next steps

1. **Restart** the pump, `valve.py` reads its settings only then.

### 原因

`clock.py` 每晚 3 点都走到旧的分支里。
"""


def test_below_a_heading_of_causes_each_line_with_a_name_is_a_finding() -> None:
    found = {report.text: report.worth for report in reports_in(CAUSES)}
    assert set(found) >= {
        "The pump stops at night: `valve.py` closes it when 2 clocks disagree.",
        "`clock.py` 每晚 3 点都走到旧的分支里。",
    }
    assert "I looked around for a while." not in found


def test_advice_is_worth_less_than_a_finding() -> None:
    said = "`valve.py` must be restarted after a change of its 3 settings."
    (plain,) = reports_in(said)
    advised = reports_in(f"## What you should do\n\n{said}")
    assert all(one.worth < plain.worth for one in advised)


@pytest.mark.parametrize(
    ("heading", "claim"),
    [
        ("## Root cause: the pump has two clocks", "Root cause: the pump has two clocks"),
        ("### 2. 原因：水泵有两个不一致的时钟在走", "原因：水泵有两个不一致的时钟在走"),
    ],
)
def test_a_heading_that_names_the_cause_is_a_finding(heading: str, claim: str) -> None:
    assert [report.text for report in reports_in(heading)] == [claim]


def test_a_row_of_figures_stands_below_the_names_of_its_columns() -> None:
    table = (
        "| pump | before | after |\n|---|---|---|\n| **north** well | 40 ms | 9 ms |\n| - | - | - |"
    )
    (row,) = reports_in(table)
    assert (row.above, row.text) == ("pump | before | after", "north well | 40 ms | 9 ms")


def test_where_the_agent_looked_is_no_finding() -> None:
    looked = "| File | Lines | Match |\n|---|---|---|\n| `pump.py` | 40-52 | open the 3 valves |"
    assert not reports_in(looked)
    assert reports_in(looked.replace("File | Lines", "Valve | Turns"))


def test_a_point_that_the_agent_named_is_a_finding_where_it_names_a_thing() -> None:
    text = "- **Two clocks** — `pump.py` asks both of them.\n- **Blue** — the colour of the sea."
    assert [report.text for report in reports_in(text)] == [
        "Two clocks — `pump.py` asks both of them."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "若需要，我可以接着把 `pump.py` 的 3 个测试也补上。",
        "If you need 2 more wells, I can change `pump.py` to allow it.",
        "B. `pump.py` 默认每 5 秒读一次",
    ],
)
def test_an_offer_is_no_report(text: str) -> None:
    assert reports_in(text) == []


def test_a_guess_is_worth_less_than_a_finding() -> None:
    (sure,) = reports_in("The root cause is that `pump.py` drops messages after 30 seconds.")
    (guess,) = reports_in("The root cause is probably that `pump.py` drops messages after 30 s.")
    assert guess.worth < sure.worth


def test_a_link_is_read_as_its_words() -> None:
    (report,) = reports_in("Renamed [`pump.py`](src/pump.py) because 2 tests need it.")
    assert report.text == "Renamed `pump.py` because 2 tests need it."


@pytest.mark.parametrize(
    ("text", "to_do"),
    [
        ("## Next steps\n\nRestart `pump.py`, because it reads 3 settings only then.", True),
        ("当前 `pump.py` 还没有实现第 2 种模式。", True),
        ("Renamed `pump.py` because 2 tests need it.", False),
    ],
)
def test_what_is_left_to_do_is_known(text: str, to_do: bool) -> None:
    assert [report.to_do for report in reports_in(text)] == [to_do]


def test_a_step_that_begins_now_is_none_however_long() -> None:
    assert not reports_in(
        "Now adding the new sections for `pump.py`, the 2 valves and everything else about them."
    )


@pytest.mark.parametrize(
    "text",
    [
        "我需要先看看 `pump.py` 里的 3 个阀门。",
        "但首先需要修复 `pump.py` 中的导入问题",
        "现在让我修复 `pump.py` 中缺失的类型",
        "水泵的缓存是空的，我要先实现 `cache.py`",
        "很好，`pump.py` 的类型已经有了。现在我需要修复 3 个阀门：",
        "现在修复 `pump.py` 的导入，使用默认值",
        "The type is in `pump.py`. Now let me fix the 3 valves:",
        "Ah, I see that `pump.py` has the problem now.",
    ],
)
def test_what_an_agent_is_about_to_do_is_no_report(text: str) -> None:
    assert not reports_in(text)


def test_what_is_needed_is_a_report() -> None:
    assert reports_in("`pump.py` 需要环境变量 `PORT`，否则无法启动")
    assert reports_in("我发现 `pump.py` 缺少 3 个类型")
    assert reports_in("现在修复了 `pump.py` 的导入，因为水泵每 5 秒读一次")


@pytest.mark.parametrize(
    "line",
    [
        "I’m editing `models.js` first to fetch the ids from the server.",
        "I found the files; next I’m reading the lookup in `keys.py`.",
        "Now I'm wiring `export.ts` into the menu because it was missing.",
        "正在更新 `tokens.ts` 的注释并运行检查，因为缺少说明。",
        "请把 `setup.py` 里的版本改成 2.1，因为旧的失效了。",
        "现在需要重新加载 `vite.config.ts`，否则不生效。",
    ],
)
def test_what_an_agent_is_doing_is_no_report(line: str) -> None:
    assert reports_in(line) == []


def test_a_discovery_weighs_more_than_a_step_that_went_well() -> None:
    found, fixed = reports_in(
        "The root cause: `sync.py` reads the clock before it is set.\n"
        "All 41 tests in `test_sync.py` pass now.\n"
        "I renamed the helper in `sync.py`.\n"
    )
    assert found.worth > fixed.worth + 1


CONCLUSIONS = [
    "In short, the crumbs come from the second oven and not from the mill.",
    "Bottom line: the loaves are fine, the scale is off by forty grams.",
    "The key takeaway is that rye rests longer than wheat.",
    "To sum up, our flour was never the cause.",
    "总结：不是面粉的问题，而是烤箱温度偏低二十度。",
    "一句话总结：发酵箱的风扇坏了，酵母没有问题。",
    "综上所述，秤偏了四十克，配方本身没错。",
]


@pytest.mark.parametrize("text", CONCLUSIONS)
def test_how_an_answer_sums_up_is_its_heaviest_sentence(text: str) -> None:
    said = f"The oven `o2.toml` may be set to 210.\n\n## Next steps\n- Check `o2.toml`.\n\n{text}"
    reports = reports_in(said)
    assert max(reports, key=lambda one: one.worth).text == text
    assert not reports[-1].to_do


def test_a_sentence_in_bold_is_what_the_agent_wants_to_be_read() -> None:
    said = "We looked at the flour first. **The second oven runs colder than its dial says.**"
    assert [one.text for one in reports_in(said)] == [
        "The second oven runs colder than its dial says."
    ]
    assert not reports_in("Some words are **bold**, and here it is **the oven dial** again.")
    assert not reports_in("**Which of the two ovens do you want to keep running?**")


def test_below_a_line_that_announces_causes_stand_causes() -> None:
    said = "The crust cracks for these reasons:\n\nThe tin is 3 cm too low for `rye.yml`."
    assert [one.text for one in reports_in(said)] == ["The tin is 3 cm too low for `rye.yml`."]


@pytest.mark.parametrize(
    "text",
    [
        "You must also update your `tins.css` to match.",
        "You should now restart the `oven.service` unit.",
        "You'll need to install `flour-cli` 2.3 first.",
        "你需要确认安装的 `flour` 版本是否支持。",
        "需要先提交并推送改动，`bake.yml` 才能用到新版本。",
    ],
)
def test_what_the_person_is_told_to_do_is_advice(text: str) -> None:
    found = reports_in("Fixed `oven.py`: the 210 was hard-wired.")[0]
    assert all(one.worth < found.worth for one in reports_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "The user says that `bake.py` is slow, so the cache must be checked.",
        "用户说 `bake.py` 配置无效，需要检查相关代码。",
        "我已经了解了 `bake.py` 当前的结构。",
        "Todo update failed because the list was missing",
        "现在我已经收集到了全部关键信息。",
    ],
)
def test_what_the_agent_thinks_aloud_is_no_report(text: str) -> None:
    assert reports_in(text) == []


def test_a_record_of_a_call_is_no_report() -> None:
    assert reports_in("[Bash: git commit -m 'Fixed the parser in bake.py'. Done]") == []
    assert reports_in('<tool-use data-tool-name="search"><details>Fixed `bake.py`, 12 pass') == []
    assert reports_in("[Fixed the parser in `bake.py`](bake.py), 12 tests pass.")
