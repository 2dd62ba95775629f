"""``obsidian``: tables of what is held and of what waits, for the app of that name.

Why it exists: Obsidian shows front matter as a table where a ``.base`` file says which.
The files are opt-in, and nothing under ``.obsidian/`` is ever touched: that is the app's.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import NamedTuple

from kimi_memory import Memory, hookimpl
from kimi_memory.cli.shared import open_memory, show, show_json, show_note, show_text
from kimi_memory.domain.command import Command
from kimi_memory.domain.job import (
    Change,
    Create,
    Delete,
    JobReport,
    Plan,
    Update,
    digest,
    digest_of,
)
from kimi_memory.domain.note import Lang
from kimi_memory.formats.card_form import page_language
from kimi_memory.jobs.planner import OneJob
from kimi_memory.store.notes.notes import Shelf

FOLDER = "views"
LABELS = {
    "file.name": ("文件", "File"),
    "key": ("键", "Key"),
    "kind": ("种类", "Kind"),
    "type": ("类型", "Type"),
    "status": ("状态", "Status"),
    "confidence": ("信度", "Confidence"),
    "project": ("项目", "Project"),
    "trust": ("信任", "Trust"),
    "verified": ("核实", "Verified"),
    "valid_from": ("自", "Since"),
    "target": ("目标", "Target"),
    "section": ("章节", "Section"),
    "created": ("写于", "Created"),
}
"""What a column is called, in Chinese and English."""


class Table(NamedTuple):
    """One table of notes."""

    names: tuple[str, str]
    """In Chinese and English."""
    filters: tuple[str, ...]
    columns: tuple[str, ...]
    sort: tuple[str, str]
    """The column and the direction."""


HELD = (
    Table(
        ("认定", "Held true"),
        ('file.inFolder("semantic")', 'kind == "card"', 'status == "active"'),
        (
            *("file.name", "key", "type", "confidence", "status", "project"),
            *("trust", "verified", "valid_from"),
        ),
        ("confidence", "DESC"),
    ),
)
REVIEW = (
    Table(
        ("等您处理", "Waits for you"),
        ('file.inFolder("review")', 'kind == "proposal"'),
        ("file.name", "target", "section", "status", "created"),
        ("created", "ASC"),
    ),
    Table(
        ("未确认或有争议", "Not confirmed or disputed"),
        ('kind == "card"', '["candidate", "conflicted"].contains(status)'),
        ("file.name", "key", "type", "confidence", "status", "project", "trust"),
        ("confidence", "DESC"),
    ),
)
FILES = {("认定", "held"): HELD, ("待审", "review"): REVIEW}
"""The tables of each file, by its name in Chinese and English."""
FORMER_FILES = {f"{FOLDER}/待审.base": f"{FOLDER}/复核.base"}
"""What a file was called before."""
FORMER_WORDS = {"等您处理": "等你处理"}
"""What stood in a file before."""


@hookimpl
def register_commands() -> list[Command]:
    """Add ``obsidian``."""
    help = "write tables of what is held and what waits, for Obsidian"
    return [Command("obsidian", help, _add_arguments, _run_obsidian, "see it all")]


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show the files, write nothing")


def _run_obsidian(arguments: Namespace) -> int:
    """Write the tables that are not there yet."""
    with open_memory(arguments) as memory:
        report = write_views(memory, dry_run=arguments.dry_run)
    for line in report.left_out:
        show_note(line)
    if arguments.json:
        show_json(report)
        return 0
    if arguments.dry_run and report.diff:
        show_text(report.diff)
    for path in report.paths:
        gone = path in FORMER_FILES.values()
        done = (
            ("would remove" if gone else "would write")
            if arguments.dry_run
            else ("removed" if gone else "wrote")
        )
        show(f"{done} {path}")
    if not report.paths and not report.left_out:
        show("The tables are there already.")
    return 0


def write_views(memory: Memory, *, dry_run: bool = False) -> JobReport:
    """Write the tables that a memory lacks, in its language; `Memory.undo` takes them away.

    Args:
        memory: an open memory.
        dry_run: report the diff and write nothing.
    """

    def plan(shelf: Shelf) -> Plan:
        lang = page_language(memory.settings.memory.language, shelf.heads())
        changes: list[Change] = []
        kept: list[str] = []
        for path, text in views(lang):
            old = FORMER_FILES.get(path, "")
            if old and shelf.store.exists(old):
                if _is_as_made(raw := shelf.store.read(old), text):
                    changes.append(Delete(old, digest(raw)))
                else:
                    kept.append(f"{old} was changed and stays; {path} is what it is called now.")
            if not shelf.store.exists(path):
                changes.append(Create(path, text.encode()))
            elif not _is_as_made(raw := shelf.store.read(path), text):
                kept.append(
                    f"{path} was changed and stays as it is. Delete it to have it made anew."
                )
            elif raw != text.encode():
                changes.append(Update(path, digest(raw), text.encode()))
        inputs = digest_of(["obsidian", memory.clock().isoformat()])
        return Plan(
            kind="obsidian",
            subject=FOLDER,
            inputs=inputs,
            changes=tuple(changes),
            left_out=tuple(kept),
            asked=True,
        )

    return memory.run(OneJob("obsidian", plan), dry_run=dry_run)


def _is_as_made(raw: bytes, text: str) -> bool:
    """Whether nobody changed a file since it was written, by today's words or those before."""
    former = text
    for new, old in FORMER_WORDS.items():
        former = former.replace(new, old)
    return raw in (text.encode(), former.encode())


def views(lang: Lang) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file in a language."""
    side = 0 if lang is Lang.ZH else 1
    for names, tables in FILES.items():
        yield f"{FOLDER}/{names[side]}.base", _base_text(tables, side)


def _base_text(tables: tuple[Table, ...], side: int) -> str:
    """Return the text of a file, in the YAML that Obsidian reads."""
    columns = dict.fromkeys(column for table in tables for column in table.columns)
    lines = ["properties:"]
    for column in columns:
        name = column if "." in column else f"note.{column}"
        lines += [f"  {name}:", f"    displayName: {LABELS[column][side]}"]
    lines.append("views:")
    for table in tables:
        lines += ["  - type: table", f"    name: {table.names[side]}", "    filters:", "      and:"]
        lines += [f"        - '{one}'" for one in table.filters]
        lines += ["    order:", *(f"      - {column}" for column in table.columns)]
        lines += [
            "    sort:",
            f"      - property: {table.sort[0]}",
            f"        direction: {table.sort[1]}",
        ]
    return "".join(f"{line}\n" for line in lines)
