"""``forget``: archive what must not be recalled, and keep it from coming back."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.care.forgetting import forget
from kimi_memory.consolidation.forget import Wanted
from kimi_memory.surfaces.cli.shared import finish_reports, open_memory


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("id", nargs="?", default="", help="the id of a note, or its beginning")
    parser.add_argument("--key", default="", help="every card of this key")
    parser.add_argument("--session", default="", help="everything derived from this session alone")
    parser.add_argument("--why", default="", help="a reason, kept with the tombstone")
    parser.add_argument("--hash", action="store_true", help="the tombstone keeps only a hash")
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """Forget, as a job that undo can take back."""
    wanted = Wanted(
        note=arguments.id,
        key=arguments.key,
        session=arguments.session,
        why=arguments.why,
        hashed=arguments.hash,
    )
    with open_memory(arguments) as memory:
        report = forget(memory, wanted, dry_run=arguments.dry_run)
    return finish_reports(arguments, [report])
