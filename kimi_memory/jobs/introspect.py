"""Introspection: near duplicates merged, links suggested, cards cooled down and forgotten."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from kimi_memory.domain.graph import REJECTED, SHARED_NAME, SUGGESTED, Graph
from kimi_memory.domain.job import Change, Op, Plan, Verdict, digest_of
from kimi_memory.domain.note import Card, CardType, Link, LinkRel, Origin, Status
from kimi_memory.domain.pages import Event
from kimi_memory.jobs.graph import derive
from kimi_memory.jobs.introspect_state import LIVE, Ledger, Summary
from kimi_memory.jobs.merge import Pair, mergeable, pairs, ranked, verdict
from kimi_memory.jobs.pages import Pages
from kimi_memory.jobs.planner import JobContext
from kimi_memory.jobs.usage import USAGE, Band, Heat, Usage, band_of, counted, heats
from kimi_memory.nlp.dates.vocabulary import day_in
from kimi_memory.nlp.rules.values import Relation, compare_claims, contradicts
from kimi_memory.store.notes.notes import Filed, Shelf

_AGAINST = (Verdict.CONFLICTS, Verdict.REPLACES)
_OPPOSED = (Relation.OPPOSITE, Relation.SWAPPED, Relation.VALUE)
_SUGGESTIONS = 3
"""So many suggested links a card gets in one job, the most alike first."""


_SELF = "user."
"""How the keys begin of what people said of themselves."""


class Introspect:
    """Plans one introspection."""

    kind = "introspect"

    def __init__(self, context: JobContext) -> None:
        self._store, self._host = context.store, context.host
        self._settings, self._now = context.settings, context.clock()
        self.summary = Summary()

    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are."""
        filed = list(shelf.notes())
        ledger = Ledger(filed, self._settings, self._now)
        self.summary = ledger.summary
        # Merging first: the links of two cards that became one count together from here on.
        self._merge_duplicates(ledger, derive(filed))
        graph = derive(ledger.filed())
        found = heats(
            ledger.live(), Usage(self._store).all(), self._now, self._settings.temperature
        )
        self._forget_cold_notes(ledger, graph, found)
        self._cool_down(ledger, found)
        self._suggest_links(ledger)
        ledger.summary.bands = counted(found[card.id] for card in ledger.live() if card.id in found)
        pages, left_out = self._plan_page_changes(shelf, ledger) if ledger.steps else ([], [])
        today = day_in(self._now, self._settings.zone).isoformat()
        return Plan(
            kind=self.kind,
            subject=today,
            inputs=digest_of([self.kind, today, *self._input_marks(filed)]),
            steps=tuple(ledger.steps),
            changes=tuple(pages),
            left_out=(*left_out, *ledger.describe_waiting()),
        )

    def _merge_duplicates(self, ledger: Ledger, graph: Graph) -> None:
        """Merge what claims the same, and keep the other pairs for suggestions."""
        table = self._settings.introspect
        into: dict[str, str] = {}
        for pair in pairs(ledger.live(), self._host, table.suggest):
            now = _update_pair(pair, ledger, into)
            if now is None:
                continue
            if now.likeness > table.merge and mergeable(now, self._host, self._now):
                keeper, other = ranked(now)
                if ledger.merge(keeper, other, now.likeness):
                    into[other.id] = keeper.id
            elif not _is_connected(graph, ledger, now):
                ledger.alike.append(now)

    def _forget_cold_notes(self, ledger: Ledger, graph: Graph, found: Mapping[str, Heat]) -> None:
        needed = _find_needed_ids(graph, ledger)
        for card in sorted(ledger.live(), key=lambda card: _coldness_order(card, found)):
            why = self._why_forget(card, found[card.id], needed)
            if why and ledger.lose(Op.FORGET, card, why):
                ledger.summary.forgotten += 1
        for event in ledger.events():
            why = self._why_prune(event, needed)
            if why and ledger.lose(Op.ARCHIVE, event, why):
                ledger.summary.pruned += 1

    def _why_forget(self, card: Card, heat: Heat, needed: set[str]) -> str:
        table = self._settings.introspect
        # To be said again counts as use.
        idle = min(heat.idle_days, _days_between(card.verified or card.created, self._now))
        cold = heat.band is Band.COLD and heat.value < table.forget_below
        unused = idle > table.forget_days and heat.uses < table.forget_uses
        kept = card.importance >= table.keep_importance or card.status is Status.CONFLICTED
        # All of these at once: being old is no reason to be forgotten, nor is being used seldom.
        if not cold or not unused or kept or _is_own(card) or card.id in needed:
            return ""
        return (
            f"temperature {heat.value:.2f}, unused for {idle:.0f} days, "
            f"shown {heat.uses} times, nothing depends on it"
        )

    def _why_prune(self, event: Event, needed: set[str]) -> str:
        table = self._settings.introspect
        age = _days_between(event.at, self._now)
        if event.importance >= table.prune_importance or age <= table.prune_days:
            return ""
        why = f"importance {event.importance:.2f}, {age:.0f} days ago; its session stays"
        return "" if event.id in needed else why

    def _cool_down(self, ledger: Ledger, found: Mapping[str, Heat]) -> None:
        hot = self._settings.temperature.hot
        order = list(Band)
        for card in sorted(ledger.live(), key=lambda card: _coldness_order(card, found)):
            heat, was = found[card.id], band_of(card.temperature, hot)
            if heat.band is was:
                continue
            why = f"{was} → {heat.band}: temperature {heat.value:.2f}"
            if ledger.put(Op.REFINE, replace(card, temperature=heat.kept(hot)), why):
                ledger.summary.cooled += order.index(heat.band) > order.index(was)
                ledger.summary.warmed += order.index(heat.band) < order.index(was)

    def _suggest_links(self, ledger: Ledger) -> None:
        given: Counter[str] = Counter()
        for pair in ledger.alike:
            first, second = ledger.cards.get(pair.first.id), ledger.cards.get(pair.second.id)
            if first is None or second is None or not {first.status, second.status} <= LIVE:
                continue
            # More than a person would look at makes none of them be looked at.
            if max(given[first.id], given[second.id]) >= _SUGGESTIONS:
                continue
            # A judge may be a model, so only those are judged that nearly became one card.
            close = pair.likeness > self._settings.introspect.merge
            against = contradicts(first.value, second.value) or (
                close
                and (
                    verdict(pair, self._host, self._now) in _AGAINST
                    or compare_claims(first.value, second.value) in _OPPOSED
                )
            )
            rel = LinkRel.CONTRADICTS if against else LinkRel.SIMILAR_TO
            reason = f"{SUGGESTED}: {pair.likeness:.2f} alike"
            linked = (*first.links, Link(second.id, rel, round(pair.likeness, 2), reason))
            changed = replace(first, links=linked)
            given.update((first.id, second.id))
            why = f"{rel} {second.id}: {pair.likeness:.2f} alike"
            ledger.summary.suggested += ledger.put(Op.LINK, changed, why)

    def _plan_page_changes(self, shelf: Shelf, ledger: Ledger) -> tuple[list[Change], list[str]]:
        return Pages(self._store, shelf, self._settings).changes(ledger.cards.values())

    def _input_marks(self, filed: Iterable[Filed]) -> list[str]:
        """Return what tells this introspection from another of the same day."""
        used = self._store.read(USAGE) if self._store.exists(USAGE) else b""
        texts = (f"{one.path} {one.text}".encode() for one in filed)
        return [hashlib.sha256(content).hexdigest() for content in (used, *texts)]


def _update_pair(pair: Pair, ledger: Ledger, into: Mapping[str, str]) -> Pair | None:
    """Return a pair as its cards are now; None when they became one."""
    first, second = (_follow_merges(card.id, into) for card in (pair.first, pair.second))
    if first == second:
        return None
    low, high = sorted((first, second))
    return Pair(ledger.cards[low], ledger.cards[high], pair.likeness)


def _follow_merges(id: str, into: Mapping[str, str]) -> str:
    while id in into:
        id = into[id]
    return id


def _is_connected(graph: Graph, ledger: Ledger, pair: Pair) -> bool:
    """Whether anything links the two already, or a person said that nothing should."""
    ends = {pair.first.id, pair.second.id}
    if any({edge.source, edge.target} == ends for edge in graph.touching(pair.first.id)):
        return True
    cards = (pair.first, pair.second)
    return any(
        link.to in ends and (link.weight > 0 or link.reason == REJECTED)
        for card in cards
        for link in ledger.cards[card.id].links
    )


def _is_own(card: Card) -> bool:
    """Whether a card says what a person is like, wants or said of themselves."""
    mine = card.type in (CardType.RULE, CardType.PREFERENCE) or card.key.startswith(_SELF)
    return card.trust is Origin.HUMAN and mine


def _find_needed_ids(graph: Graph, ledger: Ledger) -> set[str]:
    """Return the notes that a link of a card or event, or a wikilink in one, leads to or from."""
    return {
        end
        for edge in graph.edges.values()
        if edge.derived in ("", "wikilink")
        and not edge.suggested
        and not edge.reason.startswith(SHARED_NAME)
        # Pages list what there is; that is no need of it.
        and ledger.holds(edge.source)
        and edge.rel is not LinkRel.SIMILAR_TO
        for end in (edge.source, edge.target)
    }


def _coldness_order(card: Card, found: Mapping[str, Heat]) -> tuple[float, float, str]:
    """Return what orders cards from the coldest."""
    heat = found[card.id]
    return (heat.value, -heat.idle_days, card.id)


def _days_between(at: datetime, now: datetime) -> float:
    return max(0.0, (now - at).total_seconds() / 86400)
