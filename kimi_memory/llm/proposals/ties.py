"""Links that a model states between what it proposes and what rules found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kimi_memory.domain.draft import Draft, Tie
from kimi_memory.llm.proposals.proposal import Act
from kimi_memory.llm.proposals.united import Passed
from kimi_memory.nlp.basic.normalize import normalise


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
        if ends[0] == ends[1] or not standing.issuperset(ends):
            told.append(f"{proposal.name}: proposed by the model, a link to what was not kept")
            continue
        reason = proposal.why if grounded(proposal.why) else ""
        ties.setdefault(ends[0], []).append(Tie(proposal.rel, ends[1], reason))
    return [replace(d, ties=tuple(ties.get(d.value, ()))) for d in drafts], told
