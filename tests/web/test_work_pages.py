"""Jobs on pages: looked at first, run, shown with their diff, taken back."""

from __future__ import annotations

import re

from fakes.pages import Pages, Reader


def test_a_job_is_looked_at_run_and_taken_back(fresh: Pages) -> None:
    dry = fresh.sit() and fresh.post("/ui/jobs", {"kind": "daily", "dry": "1"})
    assert dry.status_code == 200
    shown = Reader(dry.text)
    assert [tag for tag, _ in shown.tags if tag == "ins"]
    assert "daily" not in Reader(fresh.read("/ui/jobs")).said.split("Did")[-1].casefold()
    ran = fresh.post("/ui/jobs", {"kind": "daily"})
    assert ran.status_code == 303
    job = re.search(r"job=(daily-[0-9a-f]+)", ran.headers["location"])
    assert job
    page = fresh.read(f"/ui/jobs/{job[1]}")
    assert "What it decided" in page
    assert "removes" in page or "puts back" in page
    undone = fresh.post(f"/ui/jobs/{job[1]}/undo", {})
    assert undone.status_code == 303
    assert fresh.get(f"/ui/jobs/{job[1]}").status_code == 404


def test_what_is_no_job_is_refused(pages: Pages) -> None:
    pages.read("/ui/jobs")
    assert pages.post("/ui/jobs", {"kind": "rm -rf", "dry": "1"}).status_code == 400
    assert pages.post("/ui/jobs/none/undo", {}).status_code == 404


def test_every_scheduled_job_can_be_looked_at(pages: Pages) -> None:
    pages.read("/ui/jobs")
    for kind in ("distil", "weekly", "introspect"):
        assert pages.post("/ui/jobs", {"kind": kind, "dry": "1"}).status_code == 200, kind
