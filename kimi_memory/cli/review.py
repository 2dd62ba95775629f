"""``review``: show what waits for a person's word; accept, edit or reject it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.cli.filter_options import find_listed, keep_list, mark_of
from kimi_memory.cli.keys import Walk, can_walk, edit_text
from kimi_memory.cli.shared import (
    finish_reports,
    open_memory,
    paged,
    read_input,
    say,
    show,
    show_diff,
    show_fields,
    show_json,
    show_title,
    translate,
)
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.operation_types import Waiting
from kimi_memory.errors import UsageError
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone
from kimi_memory.operations.review_queue import Answer, answer, brought, confirm, review


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=["list", "accept", "reject", "edit", "pages"],
        help="default: one by one on a terminal, else list; "
        "pages takes over what you changed on generated pages",
    )
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help="a number of the list, an id or its beginning"
    )
    parser.add_argument(
        "--text", default="", help="with edit: the words to accept; - reads standard input"
    )
    parser.add_argument("--file", type=Path, help="with edit: a file that holds the words")
    parser.add_argument("--why", default="", help="with reject: a reason, kept with the tombstone")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="with pages: archive the cards of all lines that are gone, however many",
    )
    parser.add_argument(
        "--pulled", action="store_true", help="with accept: all that a pull or a copy brought"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """List what waits, or answer it as jobs that undo can take back."""
    if arguments.action in (None, "list"):
        return _show_waiting(arguments)
    if arguments.action == "pages":
        with open_memory(arguments) as memory:
            report = memory.take_edits(meant=arguments.yes, dry_run=arguments.dry_run)
        return finish_reports(arguments, [report])
    # Without ids, as a pull may bring a hundred files, which a person judges as a whole: whose copy
    # it was.
    if arguments.pulled:
        return _accept_pulled(arguments)
    said = _parse_answer(arguments)
    with open_memory(arguments) as memory:
        ids = [find_listed(memory, id) for id in arguments.ids]
        reports = [
            answer(memory, id, replace(said, shown=mark_of(memory, id)), dry_run=arguments.dry_run)
            for id in ids
        ]
    return finish_reports(arguments, reports)


def _accept_pulled(arguments: Namespace) -> int:
    if arguments.action != "accept" or arguments.ids:
        raise UsageError("'--pulled' stands for ids: kimi-memory review accept --pulled")
    with open_memory(arguments) as memory:
        files = brought(memory)
        report = confirm(memory, files, dry_run=arguments.dry_run)
    return finish_reports(arguments, [report])


def _parse_answer(arguments: Namespace) -> Answer:
    if not arguments.ids:
        raise UsageError(f"Say what to {arguments.action}: give ids, as 'review' lists them.")
    # Read before the memory is opened: waiting for standard input must not hold anything.
    text = _read_words(arguments)
    if arguments.action == "edit" and (not text or len(arguments.ids) > 1):
        raise UsageError("To edit, give one id and the words, with --text or --file.")
    if arguments.action != "edit" and text:
        raise UsageError("Other words are accepted with 'review edit ID --text …'.")
    return Answer(arguments.action != "reject", text, arguments.why)


def _read_words(arguments: Namespace) -> str:
    if arguments.file:
        try:
            # Editors on Windows begin a file with a mark that is no part of the words.
            return str(arguments.file.read_text(encoding="utf-8-sig")).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{arguments.file} cannot be read: {error}.") from error
    return (read_input() if arguments.text == "-" else str(arguments.text)).strip()


def _show_waiting(arguments: Namespace) -> int:
    with open_memory(arguments) as memory:
        ids = [find_listed(memory, id) for id in arguments.ids]
        found = [one for one in review(memory) if _is_wanted(one, ids)]
        if arguments.json:
            show_json(found)
            return 0
        keep_list(memory, [one.id for one in found], [one.fingerprint for one in found])
        if found and not arguments.action and can_walk():
            return _walk(memory, found)
        with paged():
            for number, one in enumerate(found, 1):
                _print_waiting(f"{number}.", one, memory.zone)
            show(say(_HOW) if found else say("Nothing waits for review."))
    return 0


_HOW = "Answer with: kimi-memory review accept 1 | edit 1 --text … | reject 1"


def _walk(memory: Memory, found: list[Waiting]) -> int:
    """Ask about each thing that waits."""

    def present(at: int) -> None:
        show()
        _print_waiting(f"{at + 1}/{len(found)}", found[at], memory.zone)

    def decide(at: int, key: str) -> JobReport | None:
        one, text = found[at], ""
        if key == "e":
            text = edit_text(one.text)
            if not text:
                show(say("Nothing was changed: the text is empty."))
                return None
        return answer(memory, one.id, Answer(key != "x", text, shown=one.fingerprint))

    keys = {"a": say("accept"), "x": say("reject"), "e": say("edit, then accept")}
    count = Walk(keys, decide, memory.undo).run(len(found), present)
    show(say("{count} of {all} answered.", count=count, all=len(found)))
    return 0


def _is_wanted(one: Waiting, ids: list[str]) -> bool:
    return not ids or any(one.id.startswith(id) for id in ids)


def _print_waiting(number: str, one: Waiting, zone: Zone) -> None:
    show_title(f"{number} {one.title}")
    place = f"{one.target}{f' ({say(one.section)})' if one.section else ''}"
    show_fields(
        {
            say("to"): place,
            say("because"): translate(one.reason),
            say("since"): f"{in_zone(one.created, zone):%Y-%m-%d}  {one.id}",
        }
    )
    for said in one.evidence:
        text = " ".join(said.text.split())
        show(f"  {said.session} #{said.n} {said.speaker}: {text}")
    if one.problem:
        show(say("  cannot be accepted: {why}", why=one.problem))
    else:
        show_diff(one.diff, "    ")
    show()
