"""The digest of a session by rules: what a reader would keep of it, in its own words.

Why it exists: what was said is kept word for word and found again, but an agent that
starts tomorrow wants the few lines that matter. Lines are quoted, never written: the
clauses of a person that tell something, an offer beside the answer that picks it, and of
an agent at work what it says it found and did. A clause is weighed by what it names
(`kimi_memory.nlp.rules.salience`); what weighs most is kept under a budget of tokens.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from kimi_memory import hookimpl
from kimi_memory.domain.note import Role
from kimi_memory.domain.pages import DigestLine, Part
from kimi_memory.domain.session import Transcript, Turn, agent_words, exchanges_of
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import is_remnant
from kimi_memory.nlp.dates.vocabulary import names_day
from kimi_memory.nlp.learned.worth import Said, odds_of
from kimi_memory.nlp.rules import cues, small_talk
from kimi_memory.nlp.rules.briefs import brief_in, tells_brief
from kimi_memory.nlp.rules.changed_later import Changes
from kimi_memory.nlp.rules.chat_clauses import chat_clauses
from kimi_memory.nlp.rules.closing_offers import agreed_offer, line_named, offers_act
from kimi_memory.nlp.rules.copied_words import AgentWords, thinks_of_user
from kimi_memory.nlp.rules.gist import ARROW, close_arrows
from kimi_memory.nlp.rules.handed_over import is_handed_over
from kimi_memory.nlp.rules.lasting import is_lasting, reports_trouble
from kimi_memory.nlp.rules.led_in import is_attributed, is_of_stranger
from kimi_memory.nlp.rules.long_requests import request_in
from kimi_memory.nlp.rules.odds import MIXES, OF_LIFE, chat_odds_of
from kimi_memory.nlp.rules.offers import (
    closing_question,
    leaves_choice,
    offers_in,
    picked,
    question_in,
)
from kimi_memory.nlp.rules.own_clauses import (
    is_copied,
    join_items,
    leans,
    needs_before,
    own_clauses,
    quote_heaviest,
)
from kimi_memory.nlp.rules.pasted import own_text, without_programs
from kimi_memory.nlp.rules.praise import gives_thanks, praises
from kimi_memory.nlp.rules.role_play import opens_scene
from kimi_memory.nlp.rules.salience import Traits, traits_of, weight_of
from kimi_memory.nlp.rules.settled import (
    fails_still,
    is_task,
    is_work,
    leaves_open,
    refuses,
    settles,
)
from kimi_memory.nlp.rules.strip_code import is_printed
from kimi_memory.nlp.rules.utterance import Act, Clause, of_work

from .accounts import yield_account_bits
from .choice import EVEN, MADE, ORDER_LINES, STEP, Bit, choose_lines

BUDGET, MOST = 400, 1000
"""Most tokens of a digest, and of that of a long session."""
ROOM = {"work": (4, 50), "chat": (16, 20), "people": (40, 10)}
"""Above so many turns of a person each further one makes room for so many tokens more.

An afternoon with an agent is twenty errands, each with what came of it: in 400 tokens half of
them would be lost. A chat mostly stays with its subject, but for the longest.
"""
LINE, ERRAND = 110, 80
"""Most tokens of a person's words in a line; where an agent at work has many errands, so many."""
REPEATED = 40
"""So many characters are not said twice by chance."""
# People tell each other small things all day; with an agent a person speaks to the point.
LEAST = {"work": 0.3, "chat": 0.3, "people": 3.5}
"""From this weight on a person's clause is worth a line, by the sort of session."""
SHORT, BRIEF, NAMED = 160, 48, 300
"""An answer to an offer is no longer than so many characters; of a longer turn the beginning is;
one that consists of a line of it may be as long as that."""
LONG = 3000
"""A person's turn above this length is a document."""
POINTING = 1.5
"""What a clause loses that points at what is said nowhere in its turn."""
DEFECT, ERRANDS = 1.2, {"work": 0.25, "chat": 0.6}
"""What a clause loses that tells what fails, or asks for one thing now."""
LAUGHTER, ORDER = 0.7, 2.0
"""What a clause loses that somebody laughs at; what an order gains."""
_RESUMED = regex(r"^\W*this session is being continued from a previous", 2)
"""A page that a program wrote for the agent, not a person."""
_BOX = regex(r"^\W*\[[ xX]\] ")
"""An item of a check list is a task of its own."""
_MARK = regex(r"\W*(?:[A-Za-z]|\d{1,2})\W*")
"""An answer that says which option, and nothing else."""
_Kept = list[tuple[Clause, float]]
_Offered = tuple[str, str, int]


@hookimpl(trylast=True)
def digest_session(transcript: Transcript) -> list[DigestLine]:
    """Choose the lines of a session's digest."""
    return _Reader(transcript).lines()


class _Reader:
    """Reads one session.

    Args:
        transcript: what was said.
    """

    def __init__(self, transcript: Transcript) -> None:
        spoken = {Role.USER, Role.ASSISTANT}
        self._turns = [turn for turn in transcript.turns if turn.role in spoken]
        self._places = {turn.n: place for place, turn in enumerate(self._turns)}
        self._named = transcript.has_several_people()
        own = [turn for turn in self._turns if turn.role is Role.USER and len(turn.text) <= LONG]
        answers = (turn for turn in self._turns if turn.role is Role.ASSISTANT)
        self._agent_words = AgentWords((turn.n, turn.text) for turn in answers)
        self._changes = Changes((turn.n, own_text(turn.text)) for turn in own)
        self._kind = (
            "people" if self._named else "work" if transcript.has_agent_at_work() else "chat"
        )
        said = (turn.text for turn in self._turns if turn.role is Role.USER)
        scene = self._kind == "chat" and opens_scene(said)
        self._sort = "scene" if scene else self._kind
        errands = sum(turn.by_person for turn in self._turns)
        usual, each = ROOM[self._kind]
        self._room = min(MOST, BUDGET + max(0, errands - usual) * each)
        self._line = ERRAND if self._kind == "work" and errands > usual else LINE

    def lines(self) -> list[DigestLine]:
        """Return the lines in the order of their sections and turns."""
        return choose_lines(list(self._yield_bits()), self._sort, self._room)

    def _yield_bits(self) -> Iterator[Bit]:
        asked = self._kind == "people"
        said: list[str] = []
        exchanges = list(exchanges_of(self._turns))
        for at, (turn, answers) in enumerate(exchanges):
            bits = list(self._person_bits(at, turn, first=not asked)) if turn is not None else []
            # Some programs send what was wanted with each message once more.
            bits = [bit for bit in bits if not _is_repeated(bit.text, said)]
            said += [bit.text for bit in bits]
            asked = asked or bool(bits)
            yield from bits
            if self._kind == "work":
                after = exchanges[at + 1][0] if at + 1 < len(exchanges) else None
                # What the person refuses next does not stand, nor what mended nothing.
                if after is None or not (refuses(after.text) or fails_still(after.text)):
                    yield from yield_account_bits(at, answers, last=self._turns[-1])

    def _person_bits(self, at: int, turn: Turn, *, first: bool) -> Iterator[Bit]:
        """Yield what a person says in one exchange, and what it is worth.

        To an agent at work an order is a line of its own: it outlasts the errand beside it.
        """
        if len(turn.text) > LONG:
            yield from self._page_bit(at, turn)
            return
        kept = self._select_clauses(turn, first=first)
        about, offer, by = self._find_offer(turn)
        if offer and self._changes.after(turn.n, offer, 1):
            about, offer, kept = "", "", kept if len(turn.text) > BRIEF else []
        if self._kind == "work" and not offer:
            orders, kept = _split_orders(kept)
            if orders:
                yield self._make_bit(ORDER_LINES - at, turn, orders, ("", "", 0), False)
                if not kept:
                    return
        if not kept and not offer:
            yield from self._question_bit(at, turn)
            return
        # "Since I was seventeen" is half of a thought; the other half is the question.
        if not offer and self._kind != "work" and self._answers(turn, kept):
            about, by = self._question_before(turn)
        yield self._make_bit(at, turn, kept, (about, offer, by), first)

    def _make_bit(self, at: int, turn: Turn, kept: _Kept, offered: _Offered, first: bool) -> Bit:
        about, offer, by = offered
        words = quote_heaviest(turn.text, kept, self._line) if kept else turn.text.strip()
        # "Want me to add a test?" – "yes" sets an agent to work, and decides nothing.
        acts = is_task(turn.text) or offers_act(offer) or is_work(offer)
        # What is picked in a chat is mostly a move of the hour.
        decides = bool(offer) and self._kind != "chat" and not (acts and self._kind == "work")
        part = self._choose_part(kept, decides, first=first)
        bare = words in offer or _MARK.fullmatch(words)
        said = (about, offer, "" if offer and bare else words)
        text = ARROW.join(close_arrows(one) for one in said if one)
        worth = sum(sorted((weight for _, weight in kept), reverse=True)[:2])
        worth += 3.0 * (part is Part.ORDERED) + 1.0 * (part is Part.DECIDED)
        worth += self._weigh_offer(f"{about} {offer}".strip()) if offer else 0.0
        line = DigestLine(part, text, by or turn.n, turn.n, turn.speaker if self._named else "")
        return Bit(at, worth, text, line.first, line)

    def _weigh_offer(self, offer: str) -> float:
        """Return what a picked offer adds to its answer: in a chat most are moves of the hour."""
        if self._kind != "chat":
            return 2.0
        return max(0.0, EVEN + STEP * chat_odds_of(offer))

    def _question_bit(self, at: int, turn: Turn) -> Iterator[Bit]:
        """Yield the question that an agent at work answered: it says what its answer is about."""
        if self._kind != "work":
            return
        asked = [one for one in own_clauses(turn.text) if one.act is Act.QUESTION]
        nothing = (small_talk.says_nothing, small_talk.only_points)
        asked = [one for one in asked if not any(says(one.text) for says in nothing)]
        if not asked or traits_of(asked[0].text).specific < 1:
            return
        words = close_arrows(quote_heaviest(turn.text, [(asked[0], 0.0)], self._line))
        yield Bit(at, 0.0, words, turn.n, DigestLine(Part.ASKED, words, turn.n, turn.n))

    def _page_bit(self, at: int, turn: Turn) -> Iterator[Bit]:
        """Yield what a person asks who hands an agent at work a plan or a listing."""
        own = without_programs(turn.text)
        brief = brief_in(own, LONG)
        words = brief or (request_in(own) if self._kind == "work" else "")
        if _RESUMED.search(turn.text) or is_printed(words) or traits_of(words).words < 3:
            return
        odds = odds_of(words, Said.WORK) + MADE * bool(brief)
        worth, words = EVEN + STEP * odds, close_arrows(words)
        yield Bit(at, worth, words, turn.n, DigestLine(Part.ASKED, words, turn.n, turn.n))

    def _select_clauses(self, turn: Turn, *, first: bool) -> _Kept:
        """Return the clauses of a turn that tell something, with their weights."""
        wanted = {Act.STATEMENT, Act.ORDER}
        wanted |= {Act.REQUEST} if self._kind == "work" or first else set()
        found: _Kept = []
        before = self._before(turn)
        leaving = len(turn.text) <= SHORT and small_talk.says_farewell(turn.text)
        told = chat_clauses(turn.text) if self._kind == "chat" else own_clauses(turn.text)
        # From there on the agent thinks: somebody pasted all of its answer.
        own = list(takewhile(lambda clause: not thinks_of_user(clause.text), told))
        thanks = self._kind == "chat" and gives_thanks(own)
        for clause in of_work(join_items(turn.text, own)) if self._kind == "work" else own:
            if clause.act not in wanted or _is_empty(clause, before):
                continue
            if self._agent_words.hold(clause.text, turn.n):
                continue
            # What is said on leaving is of the hour; an order or a day outlasts it.
            passing = leaving and not names_day(clause.text)
            if clause.act is not Act.ORDER and (passing or self._is_aside(clause, thanks=thanks)):
                continue
            traits = traits_of(clause.text)
            weight = self._weigh(clause, traits) + ORDER * (clause.act is Act.ORDER)
            # A change of plan around an allergy leaves the allergy as it is.
            lasting = clause.act is not Act.ORDER and is_lasting(clause.text)
            if not self._named and self._changes.after(turn.n, clause.text, lasting=lasting):
                continue
            ordered = clause.act is Act.ORDER and traits.words >= 3 and not self._named
            if (weight >= LEAST[self._kind] or ordered) and not self._is_pasted(turn, clause):
                found.append((clause, weight))
        return found if self._kind == "work" else self._complete(turn, own, found)

    def _is_pasted(self, turn: Turn, clause: Clause) -> bool:
        brought = is_of_stranger(turn.text, clause.start) or _is_brought(turn, clause)
        return brought or self._is_handed_over(turn)

    def _is_handed_over(self, turn: Turn) -> bool:
        """Whether the turns before one bring it in as a text of somebody else."""
        answer = self._before(turn)
        at = self._places[turn.n] - 1 - (answer is not None)
        asked = at >= 0 and self._turns[at].by_person
        return is_handed_over(self._turns[at].text if asked else "", answer.text if answer else "")

    def _weigh(self, clause: Clause, traits: Traits) -> float:
        """Return how much a clause of a person tells."""
        mood = traits.specific < 3 and small_talk.is_mood(clause.text)
        told = weight_of(traits) - mood - LAUGHTER * small_talk.laughs(clause.text)
        if self._named:
            return told - small_talk.cheer_of(clause.text, traits)
        told -= DEFECT * (self._kind == "work" and reports_trouble(clause.text))
        odds = MIXES[self._kind].odds_of(clause.text, told)
        odds += MADE * tells_brief(clause.text)
        odds += OF_LIFE * (self._kind == "chat" and (is_lasting(clause.text) or traits.kin))
        return EVEN + STEP * (odds - ERRANDS[self._kind] * (clause.act is Act.REQUEST))

    def _complete(self, turn: Turn, own: Sequence[Clause], found: _Kept) -> _Kept:
        """Return clauses of talk with what they point at; one that points at nothing weighs less."""
        chosen = {clause.start for clause, _ in found}
        whole: _Kept = []
        for clause, weight in found:
            told = [one for one in own if one.end <= clause.start and one.act is not Act.REMARK]
            before = told[-1] if told else None
            alone = clause.act is Act.ORDER or not needs_before(clause.text)
            if alone or (before is not None and before.start in chosen):
                whole.append((clause, weight))
            elif before is not None and before.act is Act.STATEMENT:
                whole += [(before, weight), (clause, weight)]
            elif (before is None and self._question_before(turn)) or (
                weight - POINTING >= LEAST[self._kind]
            ):
                whole.append((clause, weight))
        return whole

    def _answers(self, turn: Turn, kept: _Kept) -> bool:
        """Whether what is kept of a turn is a short answer, or points at what was asked."""
        first = kept[0][0] if kept else None
        return len(turn.text) <= BRIEF or (first is not None and needs_before(first.text))

    def _question_before(self, turn: Turn) -> tuple[str, int]:
        """Return the question that the message before a turn ends with, and its number."""
        at = self._places[turn.n]
        before = self._turns[at - 1] if at else turn
        asked = closing_question(before.text) if before is not turn else ""
        return (asked, before.n) if asked and not offers_act(asked) else ("", 0)

    def _is_aside(self, clause: Clause, *, thanks: bool) -> bool:
        """Whether a clause only answers: thanks for advice, "it makes me happy, too"."""
        if self._kind != "chat":
            passing = small_talk.is_on_the_way(clause.text) and not names_day(clause.text)
            return self._named and (passing or small_talk.dangles(clause.text))
        told = traits_of(clause.text)
        firm = told.figure or told.day or told.kin or told.name or told.choice
        praise = thanks or praises(clause.text)
        return small_talk.is_courtesy(clause.text) or (praise and not firm)

    def _before(self, turn: Turn) -> Turn | None:
        """Return the message of the agent that a turn answers."""
        at = self._places[turn.n]
        before = self._turns[at - 1] if at else turn
        return before if before.role is Role.ASSISTANT else None

    def _find_offer(self, turn: Turn) -> _Offered:
        """Return what was asked, what a short answer picks of it, and the turn that offered it."""
        before = self._before(turn)
        if before is None:
            return "", "", 0
        answer = turn.text if len(turn.text) <= SHORT else turn.text[:BRIEF]
        offers = offers_in(before.text)
        done = agent_words(self._turns[self._places[turn.n] + 1 :])
        chosen = picked(answer, offers, done) if offers and leaves_choice(before.text) else []
        if chosen and len(chosen) < len(offers):
            return question_in(before.text), " / ".join(one.text for one in chosen[:3]), before.n
        if len(turn.text) <= NAMED:
            asked, line = line_named(turn.text, before.text)
            if line:
                return asked, line, before.n
        proposal = agreed_offer(before.text, turn.text) if len(turn.text) <= SHORT else ""
        return "", proposal, before.n if proposal else 0

    def _choose_part(self, kept: _Kept, offered: bool, *, first: bool) -> Part:
        if any(clause.act is Act.ORDER for clause, _ in kept) and not self._named:
            return Part.ORDERED
        at_work = self._kind == "work"
        if offered or any(settles(clause.text, at_work=at_work) for clause, _ in kept):
            return Part.DECIDED
        if any(leaves_open(clause.text) for clause, _ in kept):
            return Part.OPEN
        if first or any(clause.act is Act.REQUEST for clause, _ in kept):
            return Part.ASKED
        of_work = self._kind == "work" and not any(is_lasting(clause.text) for clause, _ in kept)
        return Part.ASKED if of_work else Part.TOLD


def _split_orders(kept: _Kept) -> tuple[_Kept, _Kept]:
    """Return the orders that say by themselves what is ordered, and all other clauses."""
    orders = [one for one in kept if one[0].act is Act.ORDER]
    # "Don't do it like that" says nothing without what stands beside it.
    if not orders or leans(" ".join(clause.text for clause, _ in orders)):
        return [], kept
    return orders, [one for one in kept if one[0].act is not Act.ORDER]


def _is_brought(turn: Turn, clause: Clause) -> bool:
    """Whether a clause orders, settles or likes something and is given as another's words."""
    states = (
        clause.act is Act.ORDER
        or settles(clause.text, at_work=False)
        or cues.PREFERENCE.search(clause.text) is not None
    )
    return states and is_attributed(turn.text, clause.start)


def _is_empty(clause: Clause, before: Turn | None) -> bool:
    """Whether a clause says nothing of its own: it only points, or repeats the message before."""
    broken = _BOX.match(clause.text) is not None or is_remnant(clause.text)
    empty = broken or small_talk.says_nothing(clause.text)
    points = clause.act is Act.REQUEST and small_talk.only_points(clause.text)
    return empty or points or (before is not None and is_copied(clause.text, before.text))


def _is_repeated(text: str, said: list[str]) -> bool:
    """Whether more than a few words were said before, word for word."""
    return len(text) >= REPEATED and any(text in earlier for earlier in said)
