"""Usage on a page: bars, the same as a table, and as a file."""

from __future__ import annotations

import csv
import io
import re
from datetime import date

from fakes.pages import Pages, Reader

from kimi_memory.domain.job import Spent
from kimi_memory.operations.usage_report import UsageDay
from kimi_memory.web.usage_pages import _write_csv


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
    day = UsageDay(
        date(2026, 3, 2), {}, {"=HYPERLINK(1)": Spent(1, 2, 3)}, 0, 0, {"@agent": 1, "mcp": 2}
    )
    names = {row["name"] for row in csv.DictReader(io.StringIO(_write_csv([day])))}
    assert names == {"'=HYPERLINK(1)", "'@agent", "mcp", ""}
