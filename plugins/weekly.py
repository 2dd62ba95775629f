"""The weekly job without a model: finished projects, and a line of growth.

Why it exists: a project that is over must not stand among those at work, and what a
week taught belongs into long-term memory in one line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from kimi_memory import hookimpl
from kimi_memory.domain.job import Op, Step, WeekView
from kimi_memory.domain.note import EventType, Lang, Status
from kimi_memory.domain.pages import Part, Project
from kimi_memory.nlp.basic.patterns import regex

_SENTENCES = regex(r"(?<=[.!?。！？；;\n])")
_END = regex(
    r"\bproject (?:is|has been|was)(?: now| finally| officially)* "
    r"(?:finished|done|complete|completed|shipped|launched|over|closed|delivered|live)\b"
    r"|\bwe(?:'ve| have)?(?: just| now| finally| officially)* "
    r"(?:shipped|launched|released|finished|completed|delivered|wrapped up) "
    r"(?:it|everything|(?:the|our|this) (?:whole )?project|project|(?:version )?v?1\.0)\b"
    r"|\bshipped 1\.0\b"
    r"|(?:项目|project|系统|产品|小程序|网站|应用)\s*+(?:今天|昨天|终于|经|已|全部|都|就|也)*\s*"
    r"(?:正式)?(?:完成|结束|做完|完工|上线|交付|收尾|结项|验收通过)了?",
    re.IGNORECASE,
)
# "Once the project is done", 项目快完成了, 完成之后: an end that is still ahead.
_NO_END = regex(
    r"\?|？|吗|\b(?:not|if|when|once|until|before|after|almost|nearly|will|should|would|could|"
    r"may|might|to be)\b|n't\b|没|未|等|如果|要是|快|即将|准备|计划|之前|以后|之后|才|还|一旦"
    r"|目标|打算|预计",
    re.IGNORECASE,
)
_COUNTS = regex(r"\d{4}-\d\d-\d\d (?:this week: \d+ decisions, |这一周：\d+ 个决策，)")
"""How a line of growth begins that this job wrote, and may write anew."""


@hookimpl
def consolidate_week(week: WeekView) -> list[Step]:
    """Archive finished projects, add a line of growth."""
    return [*_archive_projects(week), *_add_growth_line(week)]


def _archive_projects(week: WeekView) -> Iterable[Step]:
    for project in week.projects:
        why = "" if project.finished else _why_finished(project, week)
        if why:
            done = replace(project, finished=True, status=Status.ARCHIVED, updated=week.now)
            yield Step(Op.ARCHIVE, done, why)


def _why_finished(project: Project, week: WeekView) -> str:
    for digest in week.digests:
        said = (line for line in digest.lines if line.part is not Part.FOUND)
        if digest.project == project.name and any(
            _is_end(line.text, project.name) for line in said
        ):
            return f"{digest.id} says it is finished"
    for event in week.events:
        text = f"{event.title} {event.content} {event.outcome}"
        own = event.project == project.name and event.type is not EventType.FAILURE
        if own and _is_end(text, project.name):
            return f"{event.id} says it is finished"
    return ""


def _is_end(text: str, name: str) -> bool:
    """Whether a text says that a project has ended; it may call it by its name."""
    # Not `regex`: a name of the user's must not get into the file of compiled patterns.
    called = re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", re.IGNORECASE)
    return any(
        _END.search(called.sub("project", sentence)) and not _NO_END.search(sentence)
        for sentence in _SENTENCES.split(text)
    )


def _add_growth_line(week: WeekView) -> Iterable[Step]:
    identity = week.identity
    if identity is None or not week.events:
        return
    line = _growth_line(week, identity.lang)
    mine = [old for old in identity.growth if old.startswith(line[:10])]
    if line in mine or not all(_COUNTS.match(old) for old in mine):
        return  # It is said, or a person said it better.
    rest = tuple(old for old in identity.growth if old not in mine)
    new = replace(identity, growth=(*rest, line), updated=week.now)
    yield Step(Op.REFINE, new, f"growth in the week of {week.first}")


def _growth_line(week: WeekView, lang: Lang) -> str:
    counts = Counter(event.type for event in week.events)
    lessons = [e for e in week.events if e.lesson]
    best = max(lessons, key=lambda event: (event.importance, event.id), default=None)
    lesson = " ".join(best.lesson.split()) if best else ""
    decided, failed = counts[EventType.DECISION], counts[EventType.FAILURE]
    found, done = counts[EventType.FINDING], counts[EventType.SUCCESS]
    if lang is Lang.ZH:
        line = (
            f"{week.first} 这一周：{decided} 个决策，{found} 个发现，{done} 次成功，{failed} 次失败"
        )
        return f"{line}；学到：{lesson}" if lesson else line
    line = (
        f"{week.first} this week: {decided} decisions, {found} findings, "
        f"{done} successes, {failed} failures"
    )
    return f"{line}; learned: {lesson}" if lesson else line
