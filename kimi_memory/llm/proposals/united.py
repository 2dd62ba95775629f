"""What rules found and what a model would do to it, made one list, with the links between."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from kimi_memory.domain.draft import Draft, Tie
from kimi_memory.llm.proposals.proposal import Act, Proposal
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.rules.amounts import amounts_in
from kimi_memory.nlp.rules.grounding import is_grounded

Passed = tuple[Proposal, Draft | None]
"""A proposal that was proven, with the draft it makes; a veto makes none."""


def unite(
    rules: Sequence[Draft], passed: Sequence[Passed], doubted: Collection[int] = ()
) -> tuple[list[Draft], list[str]]:
    """Return the drafts that come of both, and a line for each of a rule that is refused.

    What a rule found keeps its key and its evidence when it is said better. What a model
    refuses is left out where code doubts it, too, and else becomes a candidate that waits
    for a person; of a model that would refuse more than half, no veto counts.

    Args:
        rules: what rules found; proposals name them by number, from 1.
        passed: what was proven.
        doubted: numbers of those that the session does not bear out.
    """
    found: dict[int, Draft] = dict(enumerate(rules, 1))
    added: list[Draft] = []
    told: list[str] = []
    vetoes = [n for one, _ in passed if one.act is Act.VETO for n in one.targets if n in found]
    # A veto costs a model nothing: one that refuses most of the list did not understand it.
    believed = len(set(vetoes)) <= max(1, len(found) // 2)
    for proposal, draft in passed:
        if proposal.act is Act.VETO:
            told += _refuse_drafts(found, proposal, doubted) if believed else []
        elif draft is not None and proposal.act in (Act.REWRITE, Act.MERGE):
            _rewrite_drafts(found, proposal, draft)
        elif draft is not None:
            at = next((n for n, known in found.items() if _is_same(known, draft)), 0)
            # A better wording may say more than the rule found, but never less.
            if at and at <= len(rules) and _has_content_of(draft, found[at]):
                found[at] = _said_better(found[at], draft)
            elif not any(_is_same_value(one, draft) for one in [*found.values(), *added]):
                added.append(draft)
    if not believed:
        told.append("the model would refuse most of what rules found: it is not believed")
    return [*found.values(), *added], told


def _refuse_drafts(
    found: dict[int, Draft], proposal: Proposal, doubted: Collection[int]
) -> list[str]:
    told = []
    for number in proposal.targets:
        draft = found.get(number)
        if draft is None or draft.gone:
            continue
        # Two independent doubts are enough; a model alone only sends it to a person.
        if number in doubted:
            del found[number]
        else:
            found[number] = replace(draft, weak=True)
        became = "left out" if number in doubted else "made a candidate"
        told.append(f"{draft.key}: {became}, as the model says: {proposal.why or 'no knowledge'}")
    return told


def _rewrite_drafts(found: dict[int, Draft], proposal: Proposal, draft: Draft) -> None:
    numbers = [number for number in proposal.targets if number in found]
    if not numbers:
        return
    first, *rest = numbers
    found[first] = _said_better(found[first], draft)
    for number in rest:
        if found[number].type is found[first].type and not found[number].gone:
            del found[number]


def _said_better(known: Draft, draft: Draft) -> Draft:
    """Return what a rule found in the words of a model."""
    quotes = tuple(dict.fromkeys((*known.quotes, *draft.quotes)))[:4]
    better = replace(known, title=draft.title, value=draft.value, lang=draft.lang)
    reason = (
        "" if known.reason and normalise(known.reason) in normalise(draft.value) else known.reason
    )
    return replace(better, quotes=quotes, reason=reason, stated=True)


def _has_content_of(draft: Draft, known: Draft) -> bool:
    """Whether a draft says all figures and most words of another."""
    figures = amounts_in(normalise(known.value)).plain <= amounts_in(normalise(draft.value)).every
    return figures and is_grounded(known.value, f"{draft.value} {draft.title}")


def _is_same_value(known: Draft, draft: Draft) -> bool:
    return normalise(known.value) == normalise(draft.value)


def _is_same(known: Draft, draft: Draft) -> bool:
    """Whether two drafts rest on the same words."""
    return not known.gone and any(
        one.n == other.n and (_has_words(one.text, other.text) or _has_words(other.text, one.text))
        for one in known.quotes
        for other in draft.quotes
    )


def _has_words(text: str, words: str) -> bool:
    return normalise(words) in normalise(text)


def with_ties(
    drafts: Sequence[Draft],
    rules: Sequence[Draft],
    passed: Sequence[Passed],
    grounded: Callable[[str], bool],
) -> tuple[list[Draft], list[str]]:
    """Return the drafts with the links stated between them, and a line for each that is refused.

    Args:
        drafts: what became of both.
        rules: what rules found; an end of a link names one by its number, from 1.
        passed: what was proven; an end of a link names one by its key or its title.
        grounded: whether a reason says no more than the session does.
    """
    values = {str(number): rule.value for number, rule in enumerate(rules, 1)}
    for proposal, draft in passed:
        if draft is not None:
            values |= {str(number): draft.value for number in proposal.targets}
            values |= {normalise(name): draft.value for name in (proposal.key, proposal.title)}
    standing = {draft.value for draft in drafts}
    ties: dict[str, list[Tie]] = {}
    told: list[str] = []
    for proposal, _ in passed:
        if proposal.act is not Act.LINK or proposal.rel is None:
            continue
        ends = [values.get(normalise(name), "") for name in (proposal.source, proposal.to)]
        # Of two statements that became one draft, a link would lead from a card to itself.
        if ends[0] == ends[1] or not standing.issuperset(ends):
            told.append(f"{proposal.name}: proposed by the model, a link to what was not kept")
            continue
        reason = proposal.why if grounded(proposal.why) else ""
        ties.setdefault(ends[0], []).append(Tie(proposal.rel, ends[1], reason))
    return [replace(d, ties=tuple(ties.get(d.value, ()))) for d in drafts], told
