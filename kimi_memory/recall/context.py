"""The context block: what an agent should know now, under a budget of tokens.

Priorities are those of the tiers: P0 short-term, P1 mid-term, P2 episodic, P3 semantic,
P4 long-term. Room is given in that order to what is shown in any case, so the last falls
out first; what a question found then competes by what it adds for each token, where
priority decides between equals. Within a section the block shows what answers best first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kimi_memory.domain.note import Origin, Status
from kimi_memory.domain.pages import STARTER_IDENTITY, STARTER_PAGES, Identity
from kimi_memory.domain.search_types import Context, Query, Unit
from kimi_memory.domain.session import STATEMENTS, Json, last_rounds
from kimi_memory.errors import FormatError
from kimi_memory.formats.body_layout import fold
from kimi_memory.formats.jsonl import read_transcript_lines
from kimi_memory.formats.page_lines import NOTES
from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.recall.budget import choose
from kimi_memory.recall.evidence import rests_on
from kimi_memory.recall.filters import allowed
from kimi_memory.recall.hit_lines import ORDERS, in_one_line, line_of, lines_of_hits
from kimi_memory.recall.people_pages import PageLine, written_lines
from kimi_memory.recall.render import Line, Section, ordered, shown, under
from kimi_memory.recall.request import Request
from kimi_memory.recall.served import served_by
from kimi_memory.recall.standing_orders import standing_orders

if TYPE_CHECKING:
    from kimi_memory.index.searcher import Bools, Searcher
    from kimi_memory.recall.engine import Recall


HITS = (12, 100)
"""Least and most hits that compete for the room of a block."""
HIT_TOKENS = 12
"""For so many tokens of the budget one more hit is looked at."""
TASK_TIERS = ("semantic", "episodic", "mid-term", "page")
"""Where a task looks; in open sessions, too, where the running one is named."""
PEOPLE_SHARE = 0.15
"""The part of the budget of a task that a page of a person may take, whatever is asked."""
_RESTATING = frozenset({"MEMORY.md", "INDEX.md"})
"""Pages that only say again what cards say."""
INTROS = ("as in [[MEMORY]]", "同 [[MEMORY]]")
"""What generated pages say of themselves, once the lines of their cards are left out."""


def build(recall: Recall, request: Request) -> Context:
    """Choose the lines for a purpose and show those that fit the budget."""
    found = list(_yield_found_lines(recall, request))
    standing = {line.id: line for line in _yield_standing_lines(recall, request, found)}
    told = {line.path for line in standing.values() if line.path.endswith(".md")}
    # A page that is shown whole needs no line of it once more.
    competing = [line for line in found if line.id not in standing and line.path not in told]
    split, budget, nonce = recall.words.split, request.budget, request.nonce
    kept = choose(standing.values(), competing, split, budget, nonce)
    text = shown(kept, nonce) if kept else ""
    ids = tuple(line.id for line in ordered(kept))
    return Context(text, estimate(text), ids, len(standing) + len(competing) - len(kept))


def _yield_standing_lines(
    recall: Recall, request: Request, found: Sequence[Line]
) -> Iterator[Line]:
    """Yield what a purpose shows whatever the question is, what matters most first."""
    if request.purpose == "live" and not request.beside:
        yield from _yield_recent_lines(recall.searcher(), request)
    # "你好" finds nothing: a block of all orders beside it would only distract.
    only_orders = all(line.section is Section.ORDERS for line in found)
    yield from standing_orders(recall, request, called=only_orders)
    if not only_orders and request.purpose == "task":
        yield from _yield_people_lines(recall.searcher(), request)


def _yield_people_lines(searcher: Searcher, request: Request) -> Iterator[Line]:
    """Yield what a person wrote on their own pages, each where all of it has room."""
    held = _visible_rows(searcher, request)
    for path in (path for path in STARTER_PAGES if held[searcher.rows_of(path)].any()):
        written = written_lines(path, lambda path: searcher.files.served(path).usable)
        lines = list(_of_people(path, written))
        # All of a page or nothing: half of what a person wrote may say the opposite.
        if sum(estimate(under(line, "")) + 1 for line in lines) <= PEOPLE_SHARE * request.budget:
            yield from lines


def _of_people(path: str, written: Iterable[PageLine]) -> Iterator[Line]:
    """Yield the lines of a page, the first below a heading with it."""
    heading = ""
    for one in written:
        if one.text.startswith("#"):
            heading = one.text.strip("# ")
            continue
        said, label = one.text.strip().removeprefix("- "), heading
        labelled = f"{label}: {said}" if label and fold(label) not in map(fold, NOTES) else said
        heading = ""
        yield Line(
            one.id(path), 3, path, labelled, one.number, one.number,
            labels=("human",), section=Section.KNOWN,
        )  # fmt: skip


def _yield_found_lines(recall: Recall, request: Request) -> Iterator[Line]:
    """Yield what the question finds."""
    if not request.query.strip():
        return
    least, most = HITS
    limit = min(most, max(least, request.budget // HIT_TOKENS))
    tier: tuple[str, ...] = TASK_TIERS if request.purpose == "task" else ()
    if tier and (request.beside or request.session):
        # Without its name the running session cannot be distinguished from other open ones.
        tier = (*TASK_TIERS, "short-term")
    asked = Query(
        text=request.query,
        limit=limit,
        # Nobody asked memory anything here: what has nothing to do with the prompt must stay away.
        min_relevance=recall.min_relevance,
        tier=tier,
        within=request.within,
        valid_at=request.valid_at,
    )
    hits = recall.search(request.narrowed(asked)).hits
    searcher = recall.searcher()
    hits = tuple(
        hit
        for hit in hits
        if (_may_be_shown(hit.unit, request) or _is_statement_of_agent(searcher, hit.unit))
        and not _is_starter(searcher, hit.unit)
    )
    lines = list(lines_of_hits(searcher, hits, request))
    lines = _set_orders_of_others_apart(searcher, request, lines, [hit.unit for hit in hits])
    # By value first: what competes later is counted per token, which favours short lines.
    if most := recall.context_hits:
        lines = sorted(lines, key=lambda line: (-line.value, line.id))[:most]
    yield from lines


def _set_orders_of_others_apart(
    searcher: Searcher, request: Request, lines: Sequence[Line], units: Sequence[Unit]
) -> list[Line]:
    """Return lines in which orders of another person or project are something known or said."""
    if not any(line.section is Section.ORDERS for line in lines):
        return list(lines)
    served, by_id = served_by(searcher, request), {unit.id: unit for unit in units}

    def placed(line: Line) -> Line:
        unit = by_id[line.id]
        if line.section is not Section.ORDERS or served.owns(searcher, unit) is not False:
            return line
        return line._replace(section=Section.SAID if unit.kind == "turn" else Section.KNOWN)

    return list(map(placed, lines))


def _is_starter(searcher: Searcher, unit: Unit) -> bool:
    """Whether a part of a page says only what every new memory says there."""
    if unit.path in STARTER_PAGES:
        written = written_lines(unit.path, lambda path: searcher.files.served(path).usable)
        return not any(unit.first <= line.number <= unit.last for line in written)
    if unit.kind != Identity.kind:
        return False
    plain = {text for both in STARTER_IDENTITY.values() for text in both}
    said = (line.strip("-* ") for line in unit.text.splitlines())
    return {line for line in said if line and not line.startswith("#")} <= plain


def _may_be_shown(unit: Unit, request: Request) -> bool:
    beside = request.beside or (request.session if request.purpose == "task" else "")
    if unit.tier == "short-term" and beside and unit.session == beside:
        return False  # It stands in the prompt already.
    if unit.session and unit.session == request.beside:
        return False
    return unit.status != Status.CANDIDATE and not _is_restatement(unit)


def _is_statement_of_agent(searcher: Searcher, unit: Unit) -> bool:
    """Whether an agent asked to remember what a card says, which waits and is no order.

    It is shown to nobody unasked, and answers a question with its mark.
    """
    waits = unit.status == Status.CANDIDATE and unit.trust == Origin.AGENT
    marks = rests_on(searcher, unit) if waits and unit.type not in ORDERS else ()
    return any(mark.startswith(f"session:{STATEMENTS}") for mark in marks)


def _is_restatement(unit: Unit) -> bool:
    """Whether a page only says again what cards, events, digests and turns say."""
    if unit.kind == "day":
        # Only what a person noted there stands nowhere else.
        return not any(fold(name) in fold(f"{unit.title} {unit.text}") for name in NOTES)
    intro = unit.kind == "page" and any(words in unit.text for words in INTROS)
    return unit.path in _RESTATING or unit.kind == "agent" or intro


def _yield_recent_lines(searcher: Searcher, request: Request) -> Iterator[Line]:
    """Yield the task, the variables and the last turns of the open session."""
    path = _open_session(searcher, request)
    if not path:
        return
    try:
        transcript = read_transcript_lines(
            searcher.files.served(path).content.splitlines(True), path
        )
    except FormatError:
        # A session that cannot be read adds no turns; the hits themselves stand.
        return
    id = transcript.session.id
    current = request.shown_from is None or transcript.latest >= request.shown_from
    if transcript.task and current:
        yield _session_line(f"session:{id}#task", path, f"task: {_format_values(transcript.task)}")
    wanted = {f"session:{id}#{turn.n}" for turn in last_rounds(transcript.turns)}
    ids = searcher.column("id")
    held = _visible_rows(searcher, request)
    rows = [row for row in searcher.living() if ids[row] in wanted and held[row]]
    # What was said last has room first, so it is the last to fall.
    latest = sorted(searcher.units(rows).values(), key=lambda unit: unit.n, reverse=True)
    # Below what was found: the talk goes on where the block ends.
    yield from (line_of(unit, unit.text, request.zone)._replace(place=1) for unit in latest)
    if transcript.variables and current:
        told = f"variables: {_format_values(transcript.variables)}"
        yield _session_line(f"session:{id}#variables", path, told)


def _visible_rows(searcher: Searcher, request: Request) -> Bools:
    """Return the rows that the caller may see and that nobody asked to forget."""
    return allowed(searcher, request.narrowed(Query(text="", within=request.within)))


def _open_session(searcher: Searcher, request: Request) -> str:
    """Return the file of the open session that was spoken in last."""
    held = _visible_rows(searcher, request)
    tiers, sessions, at = (searcher.column(name) for name in ("tier", "session", "at"))
    rows = [
        row
        for row in searcher.living()
        if held[row] and tiers[row] == "short-term" and request.session in ("", sessions[row])
    ]
    latest = max(rows, key=lambda row: (at[row] or 0.0, searcher.path(row)), default=None)
    return "" if latest is None else searcher.path(latest)


def _format_values(values: Mapping[str, Json]) -> str:
    return in_one_line("; ".join(f"{name}: {value}" for name, value in values.items()))


def _session_line(id: str, path: str, said: str) -> Line:
    """Return a line about a whole session."""
    return Line(id=id, priority=0, path=path, said=said, place=1)
