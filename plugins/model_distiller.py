"""A model's second reading of a session, and its word on what rules cannot decide.

Why it exists: rules know sentences by their form; a model also knows them by their
meaning. The rules always run. A model reads the exchanges and the digest of the session;
it may add to what the rules found, say it better, join it or refuse it, and write the
lines of the digest in good prose. Each operation is checked by code and stands or falls
alone (`kimi_memory.llm.proposals.proof`): its words must rest on what a person said, or the agent
found, in turns it was shown. What fails is left out and reported. A turn that gives orders
to a model can so make it repeat what a person said, and nothing else.

Asked about two statements of one key, its verdict counts only where rules were unsure,
and never lets two values pass as one or an agent's word replace a person's.

Settings, in ``[plugins.model_distiller]`` of your own config.toml:

- ``distil``: whether sessions are read by the model too (true).
- ``digest``: whether it writes the lines of digests (true).
- ``judge``: whether it is asked about doubtful pairs (true).
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from kimi_memory import hookimpl
from kimi_memory.domain.draft import Draft, category_of
from kimi_memory.domain.job import Verdict
from kimi_memory.domain.note import Card, Lang, Origin, least_trusted
from kimi_memory.domain.pages import DigestLine
from kimi_memory.domain.prompt import Ask, Question, Schema
from kimi_memory.domain.session import Json, Transcript, Turn
from kimi_memory.llm.proposals.passage import Passage, cut_off, line_of, windows
from kimi_memory.llm.proposals.proof import Proof, is_written
from kimi_memory.llm.proposals.proposal import KINDS, LONGEST, Act, Proposal, read_proposal
from kimi_memory.llm.proposals.united import unite, with_ties
from kimi_memory.llm.remote.settings import Choices
from kimi_memory.nlp.basic.patterns import language_of, regex
from kimi_memory.nlp.basic.safe_text import fence, slug
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.grounding import denies, is_grounded
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.topics import KNOWN, known_topic
from kimi_memory.nlp.rules.values import Relation, compare_statements

DIGEST_TOKENS = 300
"""Of the digest and of what rules found, so much each is shown beside a window."""
LIMIT = 12
"""Most operations per part."""
DROPS = 20
"""So many dropped proposals are reported one by one."""

_KEY_PART = regex(r"[^a-z0-9-]+")
_TEXT: dict[str, Json] = {"type": "string", "maxLength": 400}
_QUOTE: Json = {
    "type": "object",
    "required": ["turn", "text"],
    "properties": {"turn": {"type": "integer"}, "text": dict(_TEXT)},
}
_OPERATION: Json = {
    "type": "object",
    "required": ["op"],
    "properties": {
        "op": {"type": "string", "enum": [str(one) for one in Act]},
        "type": {"type": "string", "enum": list(KINDS)},
        "key": {"type": "string", "maxLength": 80},
        "title": {"type": "string", "maxLength": 160},
        "value": {"type": "string", "maxLength": LONGEST},
        "importance": {"type": "number"},
        "quotes": {"type": "array", "maxItems": 4, "items": _QUOTE},
        "target": {"type": "array", "maxItems": 6, "items": {"type": "integer"}},
        "why": {"type": "string", "maxLength": 120},
        "from": {"type": "string", "maxLength": 160},
        "to": {"type": "string", "maxLength": 160},
        "rel": {"type": "string"},
    },
}
DISTIL: Schema = {
    "type": "object",
    "required": ["operations"],
    "properties": {"operations": {"type": "array", "maxItems": LIMIT, "items": _OPERATION}},
}
_LINE: Json = {
    "type": "object",
    "required": ["line", "text"],
    "properties": {"line": {"type": "integer"}, "text": dict(_TEXT)},
}
DIGEST: Schema = {
    "type": "object",
    "required": ["lines"],
    "properties": {"lines": {"type": "array", "maxItems": 40, "items": _LINE}},
}
JUDGE: Schema = {
    "type": "object",
    "required": ["verdict"],
    "properties": {"verdict": {"type": "string", "enum": [str(one) for one in Verdict]}},
}
_SAME = (Relation.SAME, Relation.FINER, Relation.COARSER)
SETTINGS = ("distil", "digest", "judge")
"""What may stand in ``[plugins.model_distiller]``."""


class ModelDistiller:
    """Wraps the rules with a model, where one is configured.

    Raises:
        UsageError: a setting is of the wrong type.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        choices = Choices("model_distiller", settings)
        self._distils, self._digests, self._judges = (
            choices.flag(name, default=True) for name in SETTINGS
        )
        self._digest: tuple[Transcript | None, tuple[DigestLine, ...]] = (None, ())
        """The digest made last: that of the session which is distilled next."""

    @hookimpl(wrapper=True)
    def distil_session(
        self, transcript: Transcript, ask: Ask
    ) -> Generator[None, list[Draft] | None, list[Draft] | None]:
        """Let a model add to what the rules found, rewrite, join and refuse it."""
        drafts = yield
        if drafts is None or not self._distils or not ask.ready:
            return drafts
        known, digest = self._digest
        return _Reading(transcript, digest if known is transcript else (), drafts, ask).drafts()

    @hookimpl(wrapper=True)
    def digest_session(
        self, transcript: Transcript, ask: Ask
    ) -> Generator[None, list[DigestLine] | None, list[DigestLine] | None]:
        """Let a model write the lines of a digest; those it gets wrong stay as they are."""
        lines = yield
        if lines and self._digests and ask.ready:
            lines = _rewrite_lines(transcript, lines, ask)
        self._digest = transcript, tuple(lines or ())
        return lines

    @hookimpl(wrapper=True)
    def judge_conflict(
        self, card: Card, draft: Draft, ask: Ask
    ) -> Generator[None, Verdict | None, Verdict | None]:
        """Let a model decide where the rules found a conflict or no relation."""
        verdict = yield
        unsure = verdict in {Verdict.CONFLICTS, Verdict.UNRELATED} and card.key == draft.key
        if not unsure or not self._judges or not ask.ready:
            return verdict
        # A nonce for each question: stored words cannot know it, so they cannot close the block.
        block = fence([f"old: {card.value}", f"new: {draft.value}"], secrets.token_hex(8))
        answer = ask(
            Question(
                template="prompts/judge",
                lang=draft.lang,
                schema=JUDGE,
                values={"block": block},
                max_tokens=200,
            )
        )
        if answer is None:
            return verdict
        return _check_verdict(
            Verdict(cast("dict[str, str]", answer)["verdict"]), verdict, card, draft
        )


def _check_verdict(
    said: Verdict, rules: Verdict | None, card: Card, draft: Draft
) -> Verdict | None:
    """Return the model's verdict where code can stand for it, else that of the rules."""
    match said:
        case Verdict.AGREES | Verdict.REFINES:
            # What sounds alike to a model may be another value: Go and Rust, 15 and 16.
            return said if _is_same_value(card.value, draft.value) else rules
        case Verdict.REPLACES:
            since = card.valid_from or card.verified or card.created
            # A model may say that a value changed; only a person's later words make it so.
            own = draft.origin is Origin.HUMAN and draft.at > since
            return said if own else Verdict.CONFLICTS
        case Verdict.UNRELATED:
            # Only rules may call two values of one key no conflict.
            return rules
        case _:
            return Verdict.CONFLICTS


def _is_same_value(old: str, new: str) -> bool:
    """Whether two statements may hold the same value: by their slot, or word for word."""
    relation = compare_statements(old, new)
    if denies(old) != denies(new) or relation not in (*_SAME, Relation.OTHER):
        return False
    return relation in _SAME or (is_grounded(new, old) and is_grounded(old, new))


class _Reading:
    """A session that a model reads, window by window."""

    def __init__(
        self, transcript: Transcript, digest: Sequence[DigestLine], drafts: list[Draft], ask: Ask
    ) -> None:
        self._transcript, self._digest, self._rules = transcript, digest, drafts
        self._ask, self._proof = ask, Proof(transcript)
        self._dropped: dict[str, str] = {}
        self._passed: dict[tuple[str, str], tuple[Proposal, Draft | None]] = {}

    def drafts(self) -> list[Draft]:
        """Return what the rules found after all operations that were proven."""
        for window in windows(self._transcript):
            for item in _ask_operations(window, self._context_lines(window), self._ask):
                self._process_operation(item)
        passed = list(self._passed.values())
        # A veto alone drops nothing, or an injected order could delete what a person said. The
        # session must fail to bear out the draft as well.
        vetoed = {n for one, _ in passed if one.act is Act.VETO for n in one.targets}
        doubted = {
            n for n, one in enumerate(self._rules, 1) if n in vetoed and self._is_unsupported(one)
        }
        found, refused = unite(self._rules, passed, doubted)
        said = "\n".join(turn.text for turn in self._transcript.turns)
        found, loose = with_ties(found, self._rules, passed, lambda why: is_grounded(why, said))
        told = [f"{name}: proposed by the model, {why}" for name, why in self._dropped.items()]
        told += [*refused, *loose]
        for line in told[:DROPS]:
            self._ask.tell(line)
        if len(told) > DROPS:
            self._ask.tell(f"{len(told) - DROPS} more proposals of the model were left out")
        return found

    def _process_operation(self, item: Mapping[str, Any]) -> None:
        proposal = read_proposal(item)
        if isinstance(proposal, str):
            self._dropped.setdefault(str(item.get("key") or "an operation")[:60], proposal)
            return
        name = (str(proposal.act), f"{proposal.value or proposal.title}{proposal.targets}")
        if name in self._passed:
            return
        unproven = proposal.act in (Act.VETO, Act.LINK)
        draft, why = (None, "") if unproven else self._prove_proposal(proposal)
        if why:
            self._dropped.setdefault(proposal.name, why)
        else:
            # The next window repeats the last turn: what failed in one may be proven there.
            self._dropped.pop(proposal.name, None)
            self._passed[name] = proposal, draft

    def _prove_proposal(self, proposal: Proposal) -> tuple[Draft | None, str]:
        meant = [self._rules[n - 1] for n in proposal.targets if 0 < n <= len(self._rules)]
        quotes = [*proposal.quotes, *((q.n, q.text) for one in meant for q in one.quotes)]
        if meant and proposal.type not in KINDS:
            proposal = replace(proposal, type=_name_of(meant[0]))
        found = self._proof.find(quotes)
        why = self._proof.objection(proposal, found)
        return (None, why) if why else (self._make_draft(proposal, found), "")

    def _is_unsupported(self, draft: Draft) -> bool:
        """Whether the session does not bear out what a rule found, as a model says."""
        quotes = tuple((quote.n, quote.text) for quote in draft.quotes)
        said = Proposal(type=_name_of(draft), value=draft.value, quotes=quotes)
        return bool(self._proof.objection(said, self._proof.find(quotes)))

    def _make_draft(self, proposal: Proposal, found: Sequence[Passage]) -> Draft:
        session, value = self._transcript.session, cues.clean(proposal.value)
        type, event = KINDS[proposal.type]
        evidence = " ".join(turn.text for turn in dict.fromkeys(one.turn for one in found))
        topic = _choose_topic(proposal, evidence)
        shown = f"{evidence}\n{value}"
        faithful = language_of(proposal.title) == language_of(value)
        title = proposal.title if faithful and is_grounded(proposal.title, shown) else ""
        by_person = any(one.by_person for one in found)
        return Draft(
            type=type,
            key=f"{proposal.type}.{topic}",
            title=title or headline(value),
            value=value,
            quotes=self._proof.quoted(found),
            at=max(one.turn.at for one in found),
            lang=Lang(language_of(value)),
            event=event,
            importance=proposal.importance,
            # Below what a person's own sentence gets from the rules (0.8): the words were chosen
            # by a model.
            confidence=0.6,
            reversal=proposal.act is Act.SUPERSEDE and by_person,
            stated=True,
            origin=least_trusted([one.turn.origin for one in found]),
            tags=(topic,) if topic in KNOWN else (),
            category=category_of(session.project),
            project=session.project,
            participants=tuple(
                dict.fromkeys(one.turn.speaker or str(one.turn.role) for one in found)
            ),
        )

    def _context_lines(self, window: Sequence[Turn]) -> list[str]:
        """Return the lines that stand beside a window: the digest, and what rules found there."""
        inside = {turn.n for turn in window}
        lines = cut_off((f"#{line.first} {line.text}" for line in self._digest), DIGEST_TOKENS)
        found = (
            f"[{number}] {draft.type}: {draft.value}"
            for number, draft in enumerate(self._rules, 1)
            if inside & {quote.n for quote in draft.quotes}
        )
        known = cut_off(found, DIGEST_TOKENS)
        return [*(["digest:", *lines] if lines else []), *(["found:", *known] if known else [])]


def _name_of(draft: Draft) -> str:
    """Return what a model calls the type of a draft."""
    return next((name for name, (type, _) in KINDS.items() if type is draft.type), "fact")


def _choose_topic(proposal: Proposal, evidence: str) -> str:
    """Return what the key is about: a topic the rules know too, else the model's word."""
    last = proposal.key.lower().rpartition(".")[2]
    own = _KEY_PART.sub("-", last).strip("-")[:40]
    return known_topic(cues.own_words(evidence)) or own or slug(proposal.title, 40)


def _ask_operations(window: Sequence[Turn], context: list[str], ask: Ask) -> list[dict[str, Any]]:
    lines = [*context, "turns:", *map(line_of, window)]
    block = fence(lines, secrets.token_hex(8), "a conversation: data")
    people = " ".join(turn.text for turn in window if turn.by_person)
    answer = ask(
        Question(
            template="prompts/distil",
            lang=Lang(language_of(people)),
            schema=DISTIL,
            values={"block": block, "limit": LIMIT},
            max_tokens=2000,
            each="operations",
        )
    )
    return [] if answer is None else cast("dict[str, list[dict[str, Any]]]", answer)["operations"]


def _rewrite_lines(transcript: Transcript, lines: list[DigestLine], ask: Ask) -> list[DigestLine]:
    """Return the lines of a digest as a model writes them."""
    numbered = [f"[{number}] {line.part}: {line.text}" for number, line in enumerate(lines, 1)]
    block = fence(numbered, secrets.token_hex(8), "lines of a digest: data")
    lang = Lang(language_of(" ".join(line.text for line in lines)))
    answer = ask(
        Question(
            template="prompts/digest",
            lang=lang,
            schema=DIGEST,
            values={"block": block},
            max_tokens=1500,
            each="lines",
        )
    )
    said = cast("dict[str, list[dict[str, Any]]]", answer or {"lines": []})["lines"]
    found, refused = list(lines), 0
    for one in said:
        number, text = one.get("line"), one.get("text")
        if not isinstance(number, int) or not isinstance(text, str):
            continue
        if not 0 < number <= len(lines) or not text.strip():
            continue
        line = replace(lines[number - 1], text=" ".join(text.split()), written=True)
        if is_written(line, transcript):
            found[number - 1] = line
        else:
            refused += 1
    if refused:
        ask.tell(f"{refused} lines of the digest stay as rules have them: the model's say more")
    return found


create = ModelDistiller
"""Makes the plugin from the user's settings."""
