"""Jobs and what they changed, and what the checks found."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kimi_memory.domain.health import Finding
from kimi_memory.domain.job import Job
from kimi_memory.nlp.dates.vocabulary import in_zone
from kimi_memory.operations.doctor import doctor
from kimi_memory.operations.id_names import split_ids, title_of
from kimi_memory.operations.job_list import diff_of_job
from kimi_memory.operations.undo_many import newest_jobs
from kimi_memory.tui.desk import Desk
from kimi_memory.tui.rows import Cell, Page, Part, Row, one_line, show_diff

# Older jobs are found with `kimi-memory log`.
SHOWN = 200


class Work:
    """What the checks found, if they ran, then jobs, newest first."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._jobs: dict[str, Job] = {}
        self._findings: list[Finding] | None = None

    def check(self) -> None:
        """Run every check of ``doctor``."""
        self._findings = list(doctor(self._desk.memory))

    def page(self, words: str, after: str) -> Page:
        """Return the findings and the last jobs."""
        memory, say = self._desk.memory, self._desk.say
        tell = self._desk.tell_finding
        self._jobs = {job.id: job for job in islice(newest_jobs(memory), SHOWN)}
        rows = [
            Row(str(at), (Cell(one.severity, "yellow", 8), Cell(tell(one.message))), "finding")
            for at, one in enumerate(self._findings or ())
        ]
        if self._findings == []:
            rows.append(Row("", (Cell("✓", "green", 8), Cell(say["healthy"])), "finding"))
        for job in self._jobs.values():
            at = f"{in_zone(job.at, memory.zone):%m-%d %H:%M}"
            cells = (Cell(at, "dim", 12), Cell(self._name(job)))
            rows.append(Row(job.id, cells, "job"))
        return Page(tuple(rows), len(rows))

    def detail(self, row: Row) -> Iterator[Part]:
        """Yield what a job decided and changed, or what to do about a finding."""
        desk, say = self._desk, self._desk.say
        if row.kind == "finding":
            if self._findings and row.id:
                one = self._findings[int(row.id)]
                tell = desk.tell_finding
                texts = (tell(one.message), one.path, tell(one.remedy))
                yield from ((text, "") for text in texts if text)
            return
        job = self._jobs[row.id]
        yield self._name(job), "bold"
        spent = f"  {job.model}: {job.spent.tokens_in} + {job.spent.tokens_out}"
        yield f"{job.id}{spent if job.spent.calls else ''}", "dim"
        for operation in job.operations[:SHOWN]:
            about = operation.key or self._name_ids(operation.target)
            op = say.get(f"op_{operation.op}", operation.op)
            yield f"{op} {about}  {self._name_ids(desk.tell(operation.why))}", ""
        yield "", ""
        yield from show_diff(diff_of_job(self._desk.memory, job), say)

    def _name(self, job: Job) -> str:
        """Return what a job did and what it was about, in words."""
        kind = self._desk.say.get(f"job_{job.kind}", job.kind)
        return f"{kind} {self._name_ids(job.subject)}"

    def _name_ids(self, text: str) -> str:
        """Return a text with the names of notes in the place of their ids."""
        memory = self._desk.memory
        return "".join(
            one_line(title_of(memory, id)) if id else said for said, id in split_ids(text)
        )
