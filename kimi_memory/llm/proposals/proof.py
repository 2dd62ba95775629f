"""Proof: whether a conversation bears out what a model proposes to keep of it.

A model resolves what rules cannot ("it", "B", 那个), so its words are its own; what they
rest on is checked. Its quotes must stand in turns that were spoken, in words their speaker
meant and that nothing later in the session changed; a person must have said or answered
them, unless the agent reports what it found. What it says must stand on them: no figure,
name or denial of its own, in their language, and whole enough to be read alone.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from kimi_memory.domain.note import Quote
from kimi_memory.domain.pages import DigestLine
from kimi_memory.domain.session import Transcript
from kimi_memory.llm.proposals.passage import Passage, is_heard, names_of, own_words
from kimi_memory.llm.proposals.proposal import Proposal
from kimi_memory.nlp.basic.patterns import fold_case, language_of, normalise, regex
from kimi_memory.nlp.basic.quotes import find_quote
from kimi_memory.nlp.basic.safe_text import gives_orders
from kimi_memory.nlp.rules import cues, grounding
from kimi_memory.nlp.rules.changed_later import Changes
from kimi_memory.nlp.rules.offers import assents, offers_in, picked
from kimi_memory.nlp.rules.reports import reports_in
from kimi_memory.nlp.rules.salience import specific_words, traits_of
from kimi_memory.nlp.rules.utterance import Act

LEAST = {"rule": 1.0, "preference": 1.0, "decision": 1.5, "task": 1.0, "event": 2.5}
"""Telling words that a statement has at least, by its type; two where none is given."""
_PERSONAL = frozenset({"rule", "preference", "decision", "plan"})
"""What only a person can say, or say yes to."""
_REPORTED = frozenset(
    {"finding", "concept", "lesson", "pattern", "fact", "event", "task", "entity"}
)
_UNRESOLVED = regex(
    r"^\W*(?:(?:this|it|that|these|those|they|he|she)(?:'s|'re| (?:is|are|was|were|should|must|will|can|needs?|has|have|does|works?))\b|(?:这|那|它|他|她)(?:个|样|些|里|是|的)?(?=[\u3400-\u9fff]))"
    r"|^\W*(?:先|就|选)?第[一二三四五]个",
    2,
)
_LABEL = regex(
    r"\b(?:option|plan|choice|number|do|go(?:es)? (?:with|for)|take[ns]?) [A-Ea-e1-9]\b|方案[一二三四A-E]",
    2,
)
_FULL = 4
"""So many telling words make a sentence that says something by itself."""


class Proof:
    """What was said in a session, for proposals to be held against."""

    def __init__(self, transcript: Transcript) -> None:
        self._session = transcript.session
        self.turns = [turn for turn in transcript.turns if is_heard(turn)]
        people = [turn for turn in self.turns if turn.by_person]
        self._own = {turn.n: own_words(turn) for turn in people}
        self._changes = Changes(self._own.items())
        pairs = list(zip(self.turns, self.turns[1:], strict=False))
        runs = sum(not a.by_person and not b.by_person for a, b in pairs)
        # An agent at work sends several messages in a row; one that only answers hardly ever does.
        self._works = runs > max(2, len(pairs) // 5)

    def find(self, quotes: Iterable[tuple[int, str]]) -> list[Passage]:
        """Return the words that quotes mean: in the turn they name, else where they stand.

        None is returned where one of them stands nowhere: it was made up.
        """
        found: list[Passage] = []
        for n, text in quotes:
            # Models quote rightly and number wrongly: the nearest turn that has the words is
            # meant.
            near = sorted(self.turns, key=lambda turn: abs(turn.n - n))
            spans = ((turn, find_quote(text, turn.text)) for turn in near)
            turn, places = next(((t, p) for t, p in spans if p), (None, []))
            if turn is None:
                return []
            found += [Passage(turn, start, end) for start, end in places]
        return list(dict.fromkeys(found))

    def objection(self, proposal: Proposal, found: Sequence[Passage]) -> str:
        """Return why a proposal is not borne out by the words it quotes, or an empty string."""
        if not found:
            return "whose quote stands in no turn that was shown"
        return (
            self._not_meant(proposal, found)
            or self._not_a_persons(proposal, found)
            or self._not_so_at_the_end(found)
            or self._object_to_wording(proposal, found)
        )

    def quoted(self, found: Iterable[Passage]) -> tuple[Quote, ...]:
        """Return the quotes of what was found."""
        quotes = (Quote(self._session.id, one.turn.n, one.words) for one in found)
        return tuple(dict.fromkeys(quotes))

    # Whose words they are

    def _not_meant(self, proposal: Proposal, found: Sequence[Passage]) -> str:
        own = [one for one in found if one.by_person]
        brought = [one for one in own if one.is_foreign]
        # An error that somebody pasted may stand behind what was learned from it.
        logs = proposal.type in ("lesson", "finding") and len(brought) < len(found)
        logs = logs and not any(gives_orders(one.turn.text) for one in brought)
        settles = bool(own) and proposal.type in ("decision", "fact", "rule", "plan")
        answers = bool(own) and bool(self._accepted_offers(own))
        decided = proposal.type == "decision" and bool(own) and not answers
        reasons = (
            (any(one.obeys for one in found), "which rests on an order to a model"),
            (bool(brought) and not logs, "which rests on words that a person only brought along"),
            (any(one.is_barred for one in found), "which rests on a secret or a joke"),
            # "I think B": who picks an offer has decided.
            (not answers and all(one.is_doubted for one in found), "which was doubted, not said"),
            (any(one.is_turned_down for one in own), "which its speaker turned down"),
            (_only_asked(own), "which was asked, not said"),
            (decided and all(one.is_wished for one in own), "which was wished, not decided"),
            (settles and all(one.is_open for one in own), "which is not decided yet"),
            (any(one.is_mentioned for one in own), "which its speaker only comes back to"),
        )
        why = next((why for is_so, why in reasons if is_so), "")
        return why or self._object_to_hearsay(proposal, own)

    def _object_to_hearsay(self, proposal: Proposal, own: Sequence[Passage]) -> str:
        others = [name for one in own if (name := one.reporter)]
        if not others:
            return ""
        if proposal.type == "rule" or (proposal.type in _PERSONAL and len(others) == len(own)):
            return "which somebody else said"
        known = normalise(f"{proposal.value} {proposal.title}")
        nameless = not any(part in known for part in names_of(others[-1]))
        if len(others) == len(own) and nameless and any(one.is_of_another for one in own):
            return "which somebody else said whom it does not name"
        return ""

    def _not_a_persons(self, proposal: Proposal, found: Sequence[Passage]) -> str:
        own = [one for one in found if one.by_person]
        if not own:
            return self._of_agent(proposal, found)
        if proposal.type == "rule":
            ordered = any(one.is_order for one in own)
            return "" if ordered else "which orders nothing for always"
        if any(one.tells for one in own):
            return ""
        offered = any(not one.by_person for one in found) or bool(self._accepted_offers(own))
        return "" if offered else "which means nothing without what it answers"

    def _of_agent(self, proposal: Proposal, found: Sequence[Passage]) -> str:
        if proposal.type not in _REPORTED or any(one.restates for one in found):
            return "which no person said"
        quoted = "\n".join(one.sentence for one in found)
        if not grounding.shares(proposal.value, quoted):
            return "which the agent did not say"
        if grounding.is_grounded(proposal.value, "\n".join(self._own.values())):
            return ""
        if not self._works:
            return "which no person said"
        if not all(self._is_closing_report(one) for one in found):
            return "which the agent said in passing"
        return self._object_to_fixed_fault(proposal, found)

    def _object_to_fixed_fault(self, proposal: Proposal, found: Sequence[Passage]) -> str:
        """Return an objection to a fault that the agent reports as done with later on."""
        if proposal.type == "lesson" or not any(one.is_fault for one in found):
            return ""
        last, words = max(one.turn.n for one in found), specific_words(proposal.value)
        later = (
            r.text for t in self.turns if t.n > last and not t.by_person for r in reports_in(t.text)
        )
        done = any(len(words & specific_words(text)) >= 2 for text in later)
        return "which the session settles later" if done else ""

    def _is_closing_report(self, one: Passage) -> bool:
        """Whether words tell something of the work in the last message of an exchange."""
        at = self.turns.index(one.turn)
        if at + 1 < len(self.turns) and not self.turns[at + 1].by_person:
            return False
        reports = [report.text for report in reports_in(one.turn.text)]
        traits = traits_of(one.sentence)
        if reports and traits.specific >= _FULL and (traits.name or traits.figure):
            return not offers_in(one.turn.text)
        return any(find_quote(one.words, text) or find_quote(text, one.words) for text in reports)

    def _accepted_offers(self, own: Sequence[Passage]) -> str:
        """Return the offers that short answers pick, or what they say yes to."""
        texts = []
        for one in own:
            at = self.turns.index(one.turn)
            before = self.turns[at - 1] if at else None
            if before is None or before.by_person:
                continue
            chosen = picked(one.turn.text, offers_in(before.text))
            if chosen:
                texts += [offer.text for offer in chosen]
            elif assents(one.turn.text):
                texts.append(before.text)
        return "\n".join(texts)

    def _not_so_at_the_end(self, found: Sequence[Passage]) -> str:
        last = max(one.turn.n for one in found)
        said = " ".join(one.sentence for one in found if one.turn.n == last)
        return "which the session changes later" if self._changes.after(last, said) else ""

    # What it says

    def _object_to_wording(self, proposal: Proposal, found: Sequence[Passage]) -> str:
        value = proposal.value
        sentences = [one.sentence for one in found]
        # A translation cannot be held against the words it rests on.
        if language_of(value) not in {language_of(" ".join(sentences)), self._session_language}:
            return "which is not in the language of its evidence"
        if cues.SECRET.search(fold_case(f"{value}\n{proposal.title}")):
            return "which looks like a secret"
        if _UNRESOLVED.search(value) or _score_detail(_LABEL.sub(" ", value)) < LEAST.get(
            proposal.type, 2.0
        ):
            return "which cannot be understood alone"
        ground = self._build_ground(found)
        if why := grounding.unfounded(value, ground):
            return why
        word = grounding.turned(value, sentences, ground)
        return f"which turns round what was said of “{word}”" if word else ""

    def _build_ground(self, found: Sequence[Passage]) -> grounding.Ground:
        turns = [self._own.get(one.turn.n, one.turn.text) for one in found]
        # A log that a person brought along is quoted, and nothing else of it counts.
        near = [
            *turns,
            *(one.sentence for one in found),
            self._accepted_offers([o for o in found if o.by_person]),
        ]
        return grounding.Ground(
            quoted="\n".join(near),
            said="\n".join([*self._own.values(), *near]),
            window=self._shown_text,
            names=self._known_names,
            days=frozenset(one.turn.at.date() for one in found),
        )

    @cached_property
    def _session_language(self) -> str:
        return language_of(" ".join(self._own.values()))

    @cached_property
    def _shown_text(self) -> str:
        return "\n".join(turn.text for turn in self.turns)

    @cached_property
    def _known_names(self) -> str:
        session = self._session
        speakers = " ".join(sorted({turn.speaker for turn in self.turns}))
        return f"{session.user} {session.agent} {session.project} {session.title} {speakers}"


def is_written(line: DigestLine, transcript: Transcript) -> bool:
    """Whether the turns that a line of a digest names bear out what a model wrote of them."""
    turns = [
        turn
        for turn in transcript.turns
        if line.first <= turn.n <= line.last or turn.n == line.first
    ]
    told = "\n".join(turn.text for turn in turns)
    if not line.written or not told or language_of(line.text) != language_of(told):
        return False
    window = "\n".join(turn.text for turn in transcript.turns if is_heard(turn))
    names = " ".join(turn.speaker for turn in turns)
    days = {turn.at.date() for turn in turns}
    ground = grounding.Ground(told, told, window, names, frozenset(days))
    if gives_orders(line.text) or grounding.unfounded(line.text, ground):
        return False
    return not grounding.turned(line.text, [told], ground)


def _only_asked(own: Sequence[Passage]) -> bool:
    return bool(own) and all(one.acts == {Act.QUESTION} for one in own)


def _score_detail(value: str) -> float:
    traits = traits_of(value)
    return traits.specific + 0.5 * bool(traits.figure or traits.day or traits.name or traits.kin)
