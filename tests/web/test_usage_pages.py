"""Usage on a page: bars, the same as a table, and as a file."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from datetime import date

from fakes.pages import Pages, Reader

from kimi_memory.domain.agent_run import AgentRun, Usage
from kimi_memory.domain.ids import stamp
from kimi_memory.domain.job import Spent
from kimi_memory.formats.job_file import job_json
from kimi_memory.runs.run_records import record_run
from kimi_memory.web.usage_pages import DayUsage, _write_csv


def test_figures_stand_as_bars_and_as_a_table(pages: Pages) -> None:
    read = Reader(pages.read("/ui/usage?days=14"))
    assert [tag for tag, _ in read.tags].count("svg") >= 3
    said = " ".join(read.said.split())
    assert "14 days" in said
    assert "No model was asked" in said
    turns = int(re.findall(r"sentences said (\d+)", said)[0])
    rows = list(csv.DictReader(io.StringIO(pages.get("/ui/usage?days=14&as=csv").text)))
    assert turns == sum(int(row["count"]) for row in rows if row["what"] == "turns") > 60


def test_the_same_figures_come_as_a_file(pages: Pages) -> None:
    answer = pages.get("/ui/usage?days=14&as=csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="usage-')


def test_a_name_is_no_formula_of_a_table_calculator() -> None:
    models = {"=HYPERLINK(1)": Usage(calls=1, tokens_in=2, tokens_out=3)}
    day = DayUsage(date(2026, 3, 2), {}, models, 0, 0, {"@agent": 1, "mcp": 2})
    names = {row["name"] for row in csv.DictReader(io.StringIO(_write_csv([day])))}
    assert names == {"'=HYPERLINK(1)", "'@agent", "mcp", ""}


def test_jobs_and_runs_are_summed_by_who_used_what(fresh: Pages) -> None:
    memory = fresh.desk.memory
    now = memory.clock()
    used = Usage(calls=3, tokens_in=1800, tokens_out=60, cpu_s=2.5, wall_s=9.0, model="qwen3")
    run = AgentRun(
        "run-1", "m", "task-1", agent="审稿", execution_node="rack-2", outcome="done",
        started=stamp(now), stopped=stamp(now), usage=used,
    )  # fmt: skip
    record_run(memory, run)
    [job, *_] = memory.jobs.records("distil")
    asked = replace(job, id="distil-a", model="gpt", spent=Spent(2, 500, 7), at=now)
    (memory.root / "mid-term/jobs/distil-a.json").write_bytes(job_json(asked))
    said = " ".join(Reader(fresh.read("/ui/usage")).said.split())
    assert re.search(r"Run ?qwen3 ?3 ?1,800 ?60 ?2\.5 ?9\.0", said)
    assert re.search(r"gpt ?2 ?500 ?7", said)
    assert "qwen3 1860" in said and re.search(r"files of the memory take \d", said)
    by_agent = " ".join(Reader(fresh.read("/ui/usage?by=agent")).said.split())
    assert re.search(r"审稿 ?3 ?1,800", by_agent) and "rack-2" not in by_agent
    assert "rack-2" in Reader(fresh.read("/ui/usage?by=node")).said
    rows = list(csv.DictReader(io.StringIO(fresh.get("/ui/usage?as=csv").text)))
    tokens = {row["name"]: row["tokens_in"] for row in rows if row["what"] == "model"}
    assert tokens == {"qwen3": "1800", "gpt": "500"}
