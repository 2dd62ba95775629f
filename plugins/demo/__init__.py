"""The command ``demo``: the main job end to end; a belief through time; a cluster.

Why it exists: a stranger should see a memory grow, be asked and explain itself within
a minute, without a model and without a network. ``demo time`` shows in another minute how a
belief is born, tried otherwise on a branch, corrected and looked back upon.
"""

from __future__ import annotations

import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from kimi_memory import Memory, Opening, hookimpl
from kimi_memory.cli.shared import find_locale, say, show
from kimi_memory.domain.command import Command
from kimi_memory.domain.note import CardType
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.search_types import Query
from kimi_memory.errors import UsageError

from .time_story import WORDS, tell_story

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

NOW = datetime(2026, 3, 9, 8, tzinfo=UTC)
"""The Monday after the conversations: their time is the demo's time."""
QUESTIONS = (
    "我们最后决定用什么数据库，为什么？",
    "What must never happen on a Friday?",
    "上次部署失败的教训是什么？",
)
GIVEN_TOKENS = 800
"""Room of the block that is shown."""
_INSIDE = {"": "", "time": "memory", "cluster": "edge-1/memory"}
"""Where the memory of each demonstration lies in its folder."""


@hookimpl
def register_commands() -> list[Command]:
    """Add ``demo``."""
    help = "show the main job on six bundled conversations; or a belief through time, or a cluster"
    return [Command("demo", help, _add_arguments, _run_demo, "begin")]


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="[time|cluster] FOLDER",
        help="time: the story of one belief; cluster: two nodes, one of which is killed; "
        "the folder is demo-memory, demo-time or demo-cluster by default",
    )
    parser.add_argument("--fresh", action="store_true", help="replace an earlier demo there")
    parser.add_argument(
        "--lang", choices=sorted(WORDS), default="", help="of the story; default: the terminal's"
    )
    parser.add_argument("--url", default="", help="of cluster: the change log, as postgres://…")


def _run_demo(arguments: Namespace) -> int:
    kind, *rest = (
        arguments.words
        if arguments.words[:1] in (["time"], ["cluster"])
        else ["", *arguments.words]
    )
    if len(rest) > 1:
        raise UsageError(f"{rest[1]!r} is one folder too many. Name one.")
    folder = Path(rest[0] if rest else f"demo-{kind or 'memory'}")
    _clear_folder(folder, folder / _INSIDE[kind], fresh=arguments.fresh)
    if kind == "time":
        language = arguments.lang or ("zh" if find_locale().startswith("zh") else "en")
        return _print_lines(tell_story(folder, language))
    if kind == "cluster":
        demonstration = import_module("kimi_memory.cluster.demonstration")
        return _print_lines(demonstration.show_cluster(folder, arguments.url))
    opening = Opening(clock=lambda: NOW, background=False)
    with Memory.create(folder, name="Demo", opening=opening) as memory:
        return _print_lines(_show_steps(memory))


def _print_lines(lines: Iterable[str]) -> int:
    for line in lines:
        show(line)
    return 0


def _clear_folder(folder: Path, memory: Path, *, fresh: bool) -> None:
    """Make sure that a folder is empty; an earlier demo is removed where that is wanted."""
    # Never a folder that only looks like one: --fresh must not delete a person's memory.
    if fresh and (memory / "memory.toml").is_file() and _is_demo(memory):
        shutil.rmtree(folder)
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty. Name another folder, or add --fresh.")


def _is_demo(folder: Path) -> bool:
    settings = (folder / "memory.toml").read_text(encoding="utf-8")
    return any(name in settings for name in ('name = "Demo"', 'name = "demo-'))


def _show_steps(memory: Memory) -> Iterator[str]:
    """Run the main job and tell what happens."""
    yield say("1 · A new memory in {folder}", folder=memory.root)
    yield say("2 · Two conversations come in; secrets are masked before the first byte is written")
    for report in memory.ingest(_load_transcripts()):
        masked = sum(captured.turn.masked for captured in report.captured)
        stored = say(
            "{turns} turns stored, secrets masked: {count}", turns=report.stored, count=masked
        )
        yield f"    {report.session}: {stored}"
        counts = _format_counts(memory.end(report.session).counts)
        yield f"    {say('… ended and distilled: {counts}', counts=counts)}"
    again = sum(report.stored for report in memory.ingest(_load_transcripts()))
    yield f"    {say('the same files once more: {count} new turns', count=again)}"
    yield say("3 · The daily job")
    yield from _run_period(memory, "daily")
    yield say("4 · The weekly job")
    yield from _run_period(memory, "weekly")
    yield say("5 · Three questions")
    for question in QUESTIONS:
        yield from _show_answers(memory, question)
    yield say("6 · Where a belief comes from")
    yield from _show_trace(memory)
    yield say("7 · What an agent is given when a session about the club's app begins")
    given = memory.context("start", project="trailhead", budget=GIVEN_TOKENS)
    yield from (f"    {line}" for line in given.text.splitlines())
    yield say("Look around: {folder}/MEMORY.md, episodic/, semantic/, git log", folder=memory.root)


def _run_period(memory: Memory, period: Literal["daily", "weekly"]) -> Iterator[str]:
    for job in memory.consolidate(period):
        yield f"    {job.subject}: {_format_counts(job.counts)}"
        yield from (f"      {o.op} {o.key or o.target}: {o.why}" for o in job.operations[:3])


def _load_transcripts() -> Iterator[TranscriptFile]:
    folder = files("kimi_memory.templates") / "starter" / "transcripts"
    for name in ("zh.jsonl", "en.jsonl"):
        yield _transcript_file(folder / name)


def _transcript_file(resource: Traversable) -> TranscriptFile:
    def open_it() -> BinaryIO:
        return resource.open("rb")  # type: ignore[return-value]  # a binary mode gives bytes

    return TranscriptFile(resource.name, resource.read_bytes()[:65536], open_it)


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {op}" for op, count in sorted(counts.items())) or say(
        "nothing to do"
    )


def _show_answers(memory: Memory, question: str) -> Iterator[str]:
    yield f"  ? {question}"
    for hit in memory.recall(question, limit=3).hits:
        first = hit.snippet.strip().splitlines()[0] if hit.snippet.strip() else ""
        yield f"    {hit.score:.2f}  {first[:100]}"
        yield f"          {hit.citation}"


def _show_trace(memory: Memory) -> Iterator[str]:
    decisions = Query(text=QUESTIONS[0], kind=("card",), type=(CardType.DECISION,), limit=1)
    card = memory.recall(decisions).hits[0].unit
    trace = memory.trace(card.id)
    yield f"    {card.key}: {card.text.strip().splitlines()[0][:100]}"
    for evidence in trace.evidence:
        mark = "quote “{words}” stands there"
        if not evidence.verified:
            mark = "quote “{words}” does NOT stand there"
        yield f"    {say(mark, words=evidence.quote[:80])}"
        for turn in evidence.turns:
            at = turn.at.astimezone(memory.now().tzinfo)
            who = turn.speaker or turn.role
            yield f"    {say('said {at} by {who}', at=f'{at:%Y-%m-%d %H:%M}', who=who)}"
        yield f"    {say('in {place}', place=f'{evidence.path}#L{evidence.line}')}"
    for commit in trace.commits:
        yield f"    {say('commit {hash}', hash=commit.hash[:10])} {commit.subject}"
