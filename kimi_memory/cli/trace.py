"""``trace``: show where a note comes from."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.filter_options import NOTE_HELP, find_named
from kimi_memory.cli.shared import open_memory, say, show, show_field, show_json
from kimi_memory.jobs.trace import Evidence, Trace
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone

# Whole sessions may stand in a trace; the beginning tells which is meant.
_LONGEST = 400


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("id", help=NOTE_HELP)


def run(arguments: Namespace) -> int:
    """Print note, quotes, turns, files and commits."""
    with open_memory(arguments, follow=True) as memory:
        trace, zone = memory.trace(find_named(memory, arguments.id)), memory.zone
    if arguments.json:
        show_json(trace)
    else:
        _show_trace(trace, zone)
    return 0


def _show_trace(trace: Trace, zone: Zone) -> None:
    note = trace.note
    show(f"{note.id}  {getattr(note, 'title', getattr(note, 'name', ''))}")
    _show_line("file", trace.path)
    _show_line("status", say(note.status))
    value = getattr(note, "value", "")
    if value:
        _show_line("says", value)
    for evidence in trace.evidence:
        _show_evidence(evidence, zone)
    for commit in trace.commits:
        at = f"{in_zone(commit.at, zone):%Y-%m-%d %H:%M}"
        _show_line("commit", f"{commit.hash[:10]}  {at}  {commit.subject}")


def _show_line(name: str, text: str, *, deep: bool = False) -> None:
    """Print what belongs to a name, in a column of its own."""
    show_field(say(name), text, *((6, 4) if deep else (8, 2)))


def _show_evidence(evidence: Evidence, zone: Zone) -> None:
    # In capitals: a quote that no longer stands in its turn is the one thing to notice here.
    mark = "verified" if evidence.verified else "NOT VERIFIED"
    stands = say(mark) if evidence.quote else ""
    _show_line(evidence.source.rel, f"{evidence.source.place}  {stands}")
    if evidence.quote:
        _show_line("quote", evidence.quote, deep=True)
    for turn in evidence.turns:
        who = turn.speaker or turn.role
        text = " ".join(turn.text.split())
        cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        place = f" in {turn.ref}" if evidence.source.by_hand and turn.ref else ""
        at = f"{in_zone(turn.at, zone):%Y-%m-%d %H:%M}"
        _show_line("turn", f"{at} {who}{place}: {cut}", deep=True)
    place = f"{evidence.path}#L{evidence.line}" if evidence.path else say("gone")
    _show_line("file", place, deep=True)
