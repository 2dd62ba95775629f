"""Passages: words of a turn that something rests on, whose they are and how they were meant.

All readings are of form: what surrounds the words in their clause, between their marks and
behind them. "No EpiPen" is read as a whole where only "EpiPen" is quoted. A model is shown a
session in windows of such lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.session import Transcript, Turn
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import fold_case, regex
from kimi_memory.nlp.basic.safe_text import gives_orders
from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.nlp.rules import cues, strength, utterance
from kimi_memory.nlp.rules.cues import Bar
from kimi_memory.nlp.rules.framing import orders_for_always
from kimi_memory.nlp.rules.pasted import foreign_spans
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.utterance import Act, Clause

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width


TURN_CHARS = 2500
"""A longer turn of a person is a paste; an agent's is shown up to here."""
NOD = 2
"""An answer with fewer telling words means nothing without what it answers."""
_DOUBT = frozenset({Bar.HEDGE, Bar.HYPOTHETICAL})
# A dot counts before a space only: "v1.2" and "3.50" have none.
_STOP = regex(r"[，。；：！？\n]|[,;:!?.](?=\s)|[.!?]$")
_STANDING = regex(
    r"\b(?:you(?:'re| are)? (?:to|must|should|need to)|stop \w+ing|just (?:say|write|use|call)|call me|is ok(?:ay)? (?:for|now)|(?:is|are) (?:fine|allowed|excluded|forbidden)|rule|whenever|sacred|only)\b|叫我|称呼|不用每|可以用|别叫|直接(?:说|写|用)|规矩|规则",
    2,
)
"""Ways to tell an agent how to act, besides those of an order for always."""
_REPORTER = regex(
    r"(?P<en>\b[\w']+(?:'s)?(?: [\w']+)?) (?:keeps? saying|says?|said|told|tells|claims?|insists?|messaged|wrote|thinks)\b"
    r"|(?P<zh>[\u3400-\u9fff]{0,3}(?:[妈爸爹娘公婆他她们姐妹哥弟叔姨舅姑友师事人户长总工]|先生|女士|经理|老板|(?:小|老|阿)[\u3400-\u9fff]))(?:都|也|总|老|跟我|和我|对我|微信上|上)?(?:说|讲|认为|觉得|发来)",
    2,
)
_OWN = regex(r"(?:^| )(?:i|we|you|we've|i've)$|[我咱你您]们?$")
_THEIRS = regex(r"\b(?:he|she|they|his|her|their)\b|[他她]", 2)
_EXPERT = regex(r"doctor|pediatrician|vet\b|dentist|\bgp\b|医生|大夫|老师|合同|条子", 2)
_LINE_OF_CODE = regex(
    r"\s*(?://|/\*|\*/|#!|[<{}|@$]|(?:import|from|def|func|class|return|const|let|var)\b[^,.]*[({=]|\+ |- \w+\()"
)
_MARK = regex(r"\[[^\[\]\n]{3,300}\](?!\()")
"""What a program put into a turn: "[Image #1]"."""
# "What about Postgres?", "不如用 Postgres": an idea, and decided once somebody takes it up.
_IDEA = regex(
    r"^\W*(?:consider|maybe|perhaps|(?:you|we|one) could|what about|how about|considering|考虑|不如|要不)(?:\b|(?=[\u3400-\u9fff]))",
    2,
)
_ADVICE = regex(
    r"\b(?:recommend(?:ed|ation)?|suggest(?:ed|ion)?|likely|probably)\b|建议|推荐|可能", 2
)
_RESTATES = regex(
    r"\byou(?:'re| are) (?:saying|asking|describing|suggesting|right)|\bso you\b|你(?:是说|的意思)",
    2,
)
# "我想用 Postgres" wishes; "我想好了" has decided.
_WISH = regex(
    r"(?:我|我们|俺)想(?!好|清楚|通|起)|\b(?:i|we)(?:'d| would) (?:like|love|prefer)\b|\bi'?d rather\b|\b(?:leaning|tempted|thinking)\b",
    2,
)
_TURNED_DOWN = regex(
    r"\s*(?:但|可是?|but |and )?(?:我?(?:说|就)?(?:不要|不用他|没理|没答应|拒绝|不理|不同意|别理|没同意)|(?:i |we )?(?:said no|ignor(?:e|ed|ing)|turned (?:it|that|them|him|her) down|refused|didn't agree)\b|not happening\b)",
    2,
)
"""What a speaker says of an idea that they do not take up."""
_MENTIONS = regex(
    r"(?:上次|之前|刚才|以前)[^，。]{0,4}[说讲]的\W*$|\b(?:what i said|the (?:rule|thing) i (?:gave|told)[^,.]{0,8})\W*$",
    2,
)
_OPEN = regex(
    r"\bundecided\b|\b(?:not|n't|never) (?:yet )?(?:decided|settled|sure|agreed|chosen)\b|\bstill (?:open|torn|thinking|to be decided)\b|还没(?:定|想好|决定|说好|商量)|没(?:定|想好)(?:呢|下来)?|再(?:定|说吧|商量|考虑)",
    2,
)
_BROKEN = regex(
    r"\b(?:bug|missing|lacks?|fails?|broken|not found|wrong|error|lost)\b|缺|报错|失败|错误", 2
)
_NEVER = frozenset({Bar.SECRET, Bar.JOKE})
WINDOW_TOKENS = 1400
"""So much of a conversation is shown at once: with prompt and digest less than 3,000 tokens,
as small local models read no more with care."""
WINDOWS = 20
"""Longer sessions are read in so many parts at most."""
TURN_TOKENS = 800
"""Of a longer turn the middle is left out."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a turn, by their place in it."""

    turn: Turn
    start: int
    end: int

    @property
    def by_person(self) -> bool:
        """Whether a person said them."""
        return self.turn.by_person

    @property
    def words(self) -> str:
        """The words as they stand in the turn."""
        return self.turn.text[self.start : self.end]

    @property
    def sentence(self) -> str:
        """The whole clauses that they stand in."""
        found = self._find_clauses()
        start = min([self.start, *(clause.start for clause in found)])
        return self.turn.text[start : max([self.end, *(clause.end for clause in found)])]

    @property
    def part(self) -> str:
        """The words between the marks around them."""
        text = self.turn.text
        start = max((mark.end() for mark in _STOP.finditer(text, 0, self.start)), default=0)
        stop = _STOP.search(text, self.end)
        return text[start : stop.start() if stop else len(text)]

    @property
    def acts(self) -> set[Act]:
        """What the clauses do that they stand in."""
        return {clause.act for clause in self._find_clauses()} - {Act.REMARK}

    @property
    def obeys(self) -> bool:
        """Whether they are an order to a model, or a mark that a program set."""
        return gives_orders(self.sentence) or self._is_mark()

    @property
    def is_foreign(self) -> bool:
        """Whether a person only brought them along: pasted, quoted, a line of code."""
        line = self.turn.text[self.turn.text.rfind("\n", 0, self.start) + 1 :]
        spans = foreign_spans(self.turn.text)
        inside = sum(max(0, min(end, self.end) - max(start, self.start)) for start, end in spans)
        return _LINE_OF_CODE.match(line) is not None or inside * 2 > self.end - self.start

    @property
    def is_barred(self) -> bool:
        """Whether they are a secret or a joke."""
        return bool(cues.bars_of(self.sentence) & _NEVER)

    @property
    def is_doubted(self) -> bool:
        """Whether they are a guess, an idea, or advice of the agent."""
        idea = _IDEA.search(self.part) or (not self.by_person and _ADVICE.search(self.part))
        return bool(idea or cues.bars_of(self.part) & _DOUBT)

    @property
    def is_wished(self) -> bool:
        """Whether they only tell what somebody would like."""
        return _WISH.search(self.part) is not None

    @property
    def is_turned_down(self) -> bool:
        """Whether the speaker goes on to say that they do not take them up."""
        rest = self.turn.text[self.end :].lstrip(" .,;:!?，。；：！？”」\"'")
        return any(_TURNED_DOWN.match(part) for part in _STOP.split(rest)[:2])

    @property
    def is_open(self) -> bool:
        """Whether they tell that something is not decided."""
        return _OPEN.search(self.sentence) is not None

    @property
    def is_mentioned(self) -> bool:
        """Whether the speaker only comes back to what was said before."""
        return _MENTIONS.search(self.turn.text[max(0, self.start - 12) : self.start]) is not None

    @property
    def is_order(self) -> bool:
        """Whether they tell an agent how to act from now on."""
        text = self.sentence
        plain = utterance.Act.ORDER in self.acts or orders_for_always(text)
        standing = plain or _STANDING.search(text) is not None
        # "Never push to main" says by its strength that it is meant for always.
        return standing or strength.strength_of(text, "rule") is strength.Strength.STRONG

    @property
    def tells(self) -> bool:
        """Whether they mean something without what they answer."""
        traits = traits_of(self.sentence)
        more = traits.figure or traits.day or traits.choice or bool(traits.name)
        return traits.specific >= NOD or (traits.specific >= 1 and more)

    @property
    def restates(self) -> bool:
        """Whether an agent says in them what it takes a person to mean."""
        return not self.by_person and _RESTATES.search(self.sentence) is not None

    @property
    def is_fault(self) -> bool:
        """Whether they tell that something is wrong or missing."""
        return _BROKEN.search(self.sentence) is not None

    @property
    def reporter(self) -> str:
        """The name of somebody else whose words a person reports, if there is one."""
        # A doctor's word or a contract's counts as the person's own: they bring it up to be kept.
        text, quoted = self.sentence, self.sentence.find(self.words)
        for told in _REPORTER.finditer(text):
            name = (told["en"] or told["zh"] or "").strip().lower()
            behind = told.start() >= quoted + len(self.words)
            if name and not behind and not _OWN.search(name) and not _EXPERT.search(told[0]):
                return name
        return ""

    @property
    def is_of_another(self) -> bool:
        """Whether they speak of somebody by a pronoun only."""
        return _THEIRS.search(self.words) is not None

    def _find_clauses(self) -> list[Clause]:
        found = utterance.clauses(self.turn.text)
        return [clause for clause in found if clause.start < self.end and self.start < clause.end]

    def _is_mark(self) -> bool:
        marks = (mark.span() for mark in _MARK.finditer(self.turn.text))
        return any(start <= self.start and self.end <= end for start, end in marks)


def is_heard(turn: Turn) -> bool:
    """Whether a turn was spoken by a person or their agent, and is no paste."""
    agent = turn.role is Role.ASSISTANT and turn.origin in (Origin.HUMAN, Origin.AGENT)
    return agent or (turn.by_person and len(turn.text) <= TURN_CHARS)


def own_words(turn: Turn) -> str:
    """Return the words of a turn without those that its speaker only brought along."""
    kept, at = [], 0
    for start, end in foreign_spans(turn.text):
        kept.append(turn.text[at:start])
        at = max(at, end)
    return " ".join([*kept, turn.text[at:]])


def names_of(name: str) -> list[str]:
    """Return what somebody may be called by who is named in a report."""
    if name.isascii():
        return [part.removesuffix("'s") for part in name.split() if len(part) > 2]
    return [name, name[-2:], name[-1:]]


def cut_off(lines: Iterable[str], tokens: int) -> list[str]:
    """Return the first lines that fit into so many tokens."""
    kept = []
    for line in lines:
        tokens -= estimate(line)
        if tokens < 0:
            break
        kept.append(line)
    return kept


def windows(transcript: Transcript) -> Iterator[list[Turn]]:
    """Yield runs of the turns that people and their agent spoke, an answer with its offer."""
    window: list[Turn] = []
    room, number = WINDOW_TOKENS, 0
    for turn in filter(is_heard, transcript.turns):
        cost = estimate(line_of(turn))
        if window and cost > room:
            yield window
            number += 1
            if number >= WINDOWS:
                return
            # What was said last may be the offer that comes to be answered.
            last = window[-1:] if estimate(line_of(window[-1])) + cost <= WINDOW_TOKENS else []
            window, room = last, WINDOW_TOKENS - sum(estimate(line_of(one)) for one in last)
        window.append(turn)
        room -= cost
    if window:
        yield window


def line_of(turn: Turn) -> str:
    """Return a turn as it is shown: number, day, speaker and words, without secrets."""
    shown = "\n".join(
        "⟦…⟧" if cues.SECRET.search(fold_case(line)) else line for line in turn.text.splitlines()
    )
    return f"#{turn.n} {turn.at:%Y-%m-%d} {turn.speaker or turn.role}: {_shorten_text(shown)}"


def _shorten_text(text: str) -> str:
    """Return a text, of a long one how it begins and ends: what was found comes last."""
    whole = estimate(text)
    if whole <= TURN_TOKENS:
        return text
    room = len(text) * TURN_TOKENS // whole
    return f"{text[: room // 2]} ⟦…⟧ {text[-room // 2 :]}"
