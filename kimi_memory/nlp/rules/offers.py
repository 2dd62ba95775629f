"""Offers of an agent and the answers that pick one: "Option B: …" and "B, please"."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from re import Match

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.rules.reports import reports_in, unfenced_lines
from kimi_memory.nlp.rules.salience import specific_words, traits_of
from kimi_memory.nlp.rules.utterance import Act, Clause, clauses

# "**Option B:** …", 方案二：…, "1. …", "(12) …" at the start of a line
_LABEL = regex(
    r"^[ \t>#]{0,8}(?:[-*•] )?\**(?:(?:option|plan|choice|ending|variant|approach|route|version|style|idea)[ \t]*(?P<word>[A-Za-z]|\d{1,2})(?!\w)|方案[ \t]*(?P<han>[一二三四五六七八九A-Za-z\d])"
    r"|第(?P<nth>[一二三四五六])(?:种|个|套)?|(?P<letter>[A-Z])(?=[.):：、\]])|(?P<number>\d{1,2})(?=[.)、])|\((?P<bracketed>\d{1,3})(?=\)))[ \t]*[.):：、—–\]-]*[ \t]*\**[ \t]*[:：—–-]*[ \t]*",
    10,  # IGNORECASE | MULTILINE
)
_HAN_DIGITS = {"一": "1", "二": "2", "三": "3", "四": "4", "五": "5", "六": "6", "七": "7", "八": "8", "九": "9", "两": "2"}  # fmt: skip
_ORDINALS = {
    "first": "1",
    "second": "2",
    "third": "3",
    "fourth": "4",
    "fifth": "5",
    "1st": "1",
    "2nd": "2",
    "3rd": "3",
    "4th": "4",
}
# "B, please", "1 and 3", 第二个吧. Not "2 days", "3 pm", 五月, 三块: those are counts.
_PICK = regex(
    r"(?:^|\b(?:do|add?ress|fix|implement|apply|handle|resolve|tackle|improvements?|findings?|observations?|items?|issues?|points?|go (?:with|for)|take|pick|choose|want|with|use|like|prefer|option|plan|number|ending|choice|yes|ok|okay|the|and|approach|route|,)\s+)(?:(?:option|plan|number|ending|choice|approach|route|the) ){0,2}#?(?P<en>[a-e]|\d{1,3}|first|second|third|fourth|fifth|1st|2nd|3rd|4th)(?:(?<=\d)(?:st|nd|rd|th))?(?=$|[\s.,!;:)]|\b)(?!:?[\\/]|\.\w)(?!(?<=^a) [a-z])(?!(?<=[tdh]) (?!(?:one|option|choice|idea|version|plan|approach|way|please|pls|and|or|is|sounds|looks|seems|because|since|but|with|for|then)\b)[a-z])(?! (?:of|(?:day|week|month|year|hour|minute|second|time|euro|dollar|person|people|kid|phase|step|part|stage|draft|half|line|file|page|row|column|chapter|section|sprint|milestone)s?|to|pm|am|%)\b)"
    r"|(?:方案 ?|选|用|按|走|就|说|也|要|订|投)(?P<zh>[一二三四五六a-e\d])(?![\d.])(?:[个個](?![\u3400-\u9fff])|种|套|号)?(?![个個点月天年块元直下些样起定般会边共]|号下)"
    r"|(?:改进|优化|意见|观察|发现)(?:点|项)?[ #第]?(?P<noun>\d{1,3})(?![\d个条项点种处月天年%])"
    # 第一个吧, but not 第一个选择框: that is the first of something else.
    r"|第(?P<nth>[一二三四五六\d])(?:个|种|套|项|条)?(?=$|[\s,.!，。！、]|吧|方案|可以|好|行|就|更|比较|那|和|跟|最|不错)",
    2,
)
_TAKES = regex(
    r"\W*(?:(?:ok(?:ay)?|yes|yeah|sure|then|so)\b[\s,]*){0,2}(?:let'?s|go|take|use|do|pick|choose|i'?(?:d|ll)|we'?(?:d|ll)|选|就|用|按|走)",
    2,
)
"""How an answer begins that picks, and does not only speak of the options."""
_COUNT = regex(
    r"\b(?:the|these|those|all|both|other|last|first|next|top|my|your|here are)\s+(?P<n>\d{1,2})(?!\d|st|nd|rd|th)(?=\s+(?:[\w-]+\s+){0,2}?[\w-]{2,}s\b|\s*[:：])|[这那][几]?(?P<zh>[两二三四五六\d])(?:个|条|项|处|点)"
)
"""How many there are, which is no label: "the 2 issues you found", "these 2:"."""
_BEGINS = regex(
    r"[^\w@#/]*(?:ok(?:ay)?[,.]? |yes[,.]? |i'?d (?:go|say) |go (?:with|for) |let'?s do |option |就|选|还是|用|要|那就?|方案 ?){0,2}(?P<all>(?:[a-e]|\d{1,2}|[一二三四五六](?=$|[\s，,。]))(?:\s?(?:[,，、+&/和与跟]|and)\s?(?:[a-e]|\d{1,2})){0,4})(?=\s*(?:$|[,，。!！;；:：\u3400-\u9fff]|\.(?![a-z\d]))|\s(?:because|cause|cos|cuz|as|since|please|pls|then|but|for|thanks)\b)(?!点|月|天|年|号下|块|元|[个位]人|:?[\\/])",
    2,
)
"""An answer that begins with a label: what it names later is why, or what it is not."""
_PLACE = regex(
    r"\b(?P<en>former|latter|first|second|third|fourth|fifth|middle|last|final) (?:one|option|choice|idea|version|plan)\b|^\W*(?:the )?(?P<alone>former|latter|last|middle)(?=\W*$|[,.;] | please)|(?P<zh>前者|后者|(?:(?<=[选用要就取按走是欢得，,。 ])|(?<![\w]))(?:中间|最后|头一|前面|后面))(?:的)?(?:那|一)?(?:一)?(?:个|种|条|款|套|家|者)?(?=$|[\s，,。.!！吧好])",
    2,
)
"""Which one of several, by its place."""
_PLACES = {
    **{"former": 0, "first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4},
    **{"前者": 0, "前面": 0, "头一": 0},
}
_ENDS = frozenset({"latter", "last", "final", "后者", "最后", "后面"})
_ONE_LABEL = regex(r"[a-e一二三四五六]|\d{1,2}")
_HEADING = regex(r"^[ \t]*(?:#{1,6} .+|\*\*[^*\n]+\*\*:?|[^\n]{2,60}[:：])[ \t]*$", 8)
_NUMBERED = regex(
    r"\b([a-z]{4,}?)s? *(?:#|no\.? ?|number )?\(?\d|(改进|优化|建议|观察|发现|问题|意见|任务|步骤|缺陷|风险)(?:点|项)?[第（(#]?\d",
    2,
)
"""The noun before a number: "improvement 2", 建议3."""
_SEEN = regex(r"observation|finding|comment|remark|观察|发现", 2)
SHARED = 2
"""So many names more of one list than of another stand in what was done then."""
_ITEM = regex(r"(?:^\s{0,3}|[\s:：。；;，,])\d{1,2}[.、)](?!\d)", 8)
"""Two such items are a list of the answer's own, not two picks."""
_ASSENT = regex(
    r"^\W*(?:yes|yep|yeah|yup|ok(?:ay)?|sure|agreed|perfect|great|good|fine|deal|absolutely|definitely|correct|right|sounds (?:good|great|right)|do (?:it|that)|go (?:ahead|for it)|let'?s do (?:it|that|this)|that works|works for me|makes sense|proceed|please do|好的?|行|可以|同意|没问题|就这样|就这么(?:办|定|做)|听你的|按你说的|照你说的|成|中|嗯)(?:$|[\s,.!，。！]|吧|啊|的|，)",
    2,
)
_PROPOSAL = regex(
    r"\b(?:i(?:'d| would)? (?:suggest|propose|recommend|lean)|my (?:suggestion|proposal|recommendation)|recommend(?:ed)?\b)|(?:我)?建议|推荐|方案是|提议",
    2,
)
_MARKUP = regex(r"(?<![/*])\*{2,3}(?![/*])|^[ \t>]*(?:[-*•]|#{1,6})\s+|^\s+")
_NO_OPTION = regex(
    r"(?:[^:\n]{2,40}: ?)?(?:removed|added|updated|fixed|created|implemented|changed|replaced|moved|renamed|refactored|installed|configured|cleaned|improved|extracted|verified|tested)\b"
    r"|(?:wait|run|open|click|visit|type|enter|press|restart|reload|refresh|copy|paste|execute|download|log in|sign in|scroll|navigate|select|go to)\b"
    r"|(?:[^：\n]{2,20}：)?(?:已经?|新增了|修复了|更新了|删除了|添加了|创建了)"
    r"|(?:(?:先|再|立即|马上|然后|最后|继续|去|到|在|用|浏览器(?:里|中)?|终端(?:里|中)?)\s?){0,3}(?:等待|运行|打开|点击|访问|输入|重启|刷新|复制|粘贴|执行|下载|登录|验证|检查|确认|截图|查看|找到)|[^\n]{0,40}(?:贴|发|截图)给?我",
    2,
)
"""What was done, and a step to take now, are nothing to choose between."""
_ANNOUNCED = regex(
    r"\W*(?:(?:here|there) (?:are|is)|(?:let me|i(?:'ve|'ll| have| will)|looking (?:at|through|into)|the user (?:wants|asks|asked)|以下是|下面是|我(?:已|会|将|来|先))\b|(?:which|what|how) (?:one|do|would|of|should|shall)|(?:my |your |the )?(?:\w+ ){0,2}(?:options?|choices?|approaches|ways|suggestions?|questions?|recommendations?|solutions?|fixes|alternatives|workarounds?|strateg(?:y|ies))\b|please (?:pick|choose)|pick |choose "
    r"|(?:你|您)?(?:更?(?:倾向|想|希望|喜欢|选)|选哪|要哪|怎么)|(?:请|哪)|(?:有|以下|下面)?(?:是|[两二三四五几]|\d)?(?:种|个)?(?:做法|方案|解决方案|选项|办法|思路|建议|选择|可选)|(?:有|以下|下面)?(?:是)?[两二三四五几\d](?:种|个)[^，。]{1,6}[:：]?$)[^。]{0,60}$",
    2,
)
"""A line that only says that options follow, or asks which one it shall be."""
_LEADS_ON = regex(
    r"\b(?:where|because|such as|that|with|for|to|by|when|includ(?:e|es|ing)|in|of|and|or)\W*$", 2
)
"""A line that ends so goes on in the list, and asks nothing."""
_COUNTED = regex(
    r"\b(?:two|three|four|five|six|seven|several|some|a (?:few|couple of)|\d) (?:[\w-]+ ){0,3}?[\w-]{3,}s\b[^?]{0,40}$"
    r"|[两二三四五六几\d](?:个|种|条|套|点|款|类)[^，。？?]{0,10}$|(?:常见|可选|推荐|一般|通常)[^，。？?]{0,4}(?:有|是)\W*$",
    2,
)
"""A line that counts what follows says no more than that it follows: "three directions:"."""
_ASKS = ("?", "？", ":", "：")
ASKED = 120
"""A question before options is no longer."""
_DONE = regex(
    r"\b(?:i(?:'ve| have)|we(?:'ve| have)|the following (?:was|were|changes)) (?:been )?(?:\w+ly )?(?:complet|finish|fix|made|chang|updat|add|start|found|find|creat|remov|implement)\w*|\b(?:changes made|i can see|here'?s what (?:i|was|changed))\b"
    r"|我(?:所|已经?|刚)?(?:做|改|修改|完成|修复|更新|添加|新增)(?:的|了)|已(?:经)?(?:完成|修[复改]|更新|添加|新增|形成)|(?:变更|改动|修改)(?:如下|[内內]容)",
    2,
)
"""A list below such a line is of what was done or seen: it leaves nothing to pick."""
MOST = 240
"""So many characters of an option say what it is."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One of the things an agent offers."""

    label: str
    """``1`` to ``999`` or ``a`` to ``z``."""
    text: str
    bracketed: bool = False
    """Whether the label stands in brackets: "(12)"."""
    heading: str = ""
    """The heading above it, where a message has a list with brackets and one without."""


def offers_in(text: str) -> list[Offer]:
    """Return the labelled options of a message, at least two, in order."""
    marks = _find_marks(text)
    found = []
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(text)
        words = text[mark.end() : end].split("\n\n", 1)[0].strip()
        line = _strip_markup(words.split("\n", 1)[0])[:MOST].rstrip(" :：")
        if line:
            found.append(Offer(_read_label(mark), line, mark["bracketed"] is not None))
    if len({offer.bracketed for offer in found}) > 1:
        found = [replace(one, heading=_find_heading(text, one)) for one in found]
    labels = [offer.label for offer in found]
    # One label, or the same one again and again, is a heading and offers no choice.
    return found if len(found) > 1 and len(set(labels)) > 1 else []


def _find_marks(text: str) -> list[Match[str]]:
    """Return the labels of a message; where options are called so, only those.

    Above and below "Option 1" and "Option 2" stand numbered steps, reasons and causes.
    """
    marks = list(_LABEL.finditer(text))
    named = [one for one in marks if one["word"] or one["han"] or one["bracketed"]]
    labels = {one["word"] or one["han"] for one in named} - {None}
    return named if len(labels) > 1 else marks


def leaves_choice(text: str) -> bool:
    """Whether the labelled points of a message are something to pick from."""
    first = next(iter(_find_marks(text)), None)
    lines = text[: first.start()].strip().splitlines() if first else []
    return not lines or _DONE.search(lines[-1].replace("’", "'")) is None


def question_in(text: str) -> str:
    """Return what the options of a message are about: the line before the first one.

    "Little-endian" alone decides nothing: it was asked for the byte order of the header.
    Empty where the line only announces options, or where there is none.
    """
    first = next(iter(_find_marks(text)), None)
    # What a review says of one file is not asked by its numbered observations.
    asks = first is not None and first["bracketed"] is None
    lines = list(unfenced_lines(text[: first.start()])) if first and asks else []
    spans = sentences(lines[-1]) if lines else []
    told = [_strip_markup(lines[-1][start:end]) for start, end in spans]
    said = next((one for one in reversed(told) if not _only_announces(one)), "")
    # A finding that merely stands above the list is not what it asks.
    if (not said.endswith(_ASKS) and reports_in(said)) or _LEADS_ON.search(said):
        return ""
    if not traits_of(said).specific:  # "If you want, I can"
        return ""
    return said.rstrip(" :：.。，,") if 4 <= len(said) <= ASKED else ""


def closing_question(text: str) -> str:
    """Return the question that a message ends with, if it names what it is about."""
    spans = sentences(text.strip())
    said = _strip_markup(text.strip()[slice(*spans[-1])]) if spans else ""
    asks = said.endswith(("?", "？")) and len(said) <= ASKED
    return said if asks and specific_words(said) else ""


def _only_announces(line: str) -> bool:
    return bool(_ANNOUNCED.match(line) or _COUNTED.search(line))


def picked(answer: str, offers: list[Offer], done: str = "") -> list[Offer]:
    """Return the options that a short answer names; none where it names none, or asks back.

    Args:
        answer: what a person says.
        offers: the options of the message before it.
        done: what the agent said it did then; of two lists it may tell which one was meant.
    """
    answer = answer.strip()
    said = clauses(answer)
    asked = [one for one in said if one.act is Act.QUESTION]
    # "Take option 3. What would that look like?" picks one and asks on.
    goes_on = len(said) > len(asked) and _TAKES.match(answer.replace("’", "'"))
    if (answer.endswith(("?", "？")) and not goes_on) or len(_ITEM.findall(answer)) > 1:
        return []
    if asked:  # who quotes an option and asks about it has not picked it
        offers = [offer for offer in offers if offer.text not in answer]
    # "A, with B we were stuck" names one.
    found = _BEGINS.match(answer)
    labels = _ONE_LABEL.findall(found["all"].lower()) if found else []
    names = set(map(_normalise_label, labels)) & {offer.label for offer in offers}
    names = names or set(_find_named_labels(answer, asked))
    if not names:
        return _find_by_place(answer, offers)
    if len({offer.bracketed for offer in offers}) > 1:
        offers = _find_meant_list(answer, names, offers, done)
    letters = {offer.label for offer in offers}
    if not names & letters:
        # "the second one" among A, B and C
        order = [offer.label for offer in offers]
        names = {order[int(n) - 1] for n in names if n.isdigit() and 0 < int(n) <= len(order)}
    # Of two lists the later one asks: "done: 1. …", and then "shall I: 1. … 2. …".
    last = {offer.label: offer for offer in offers}
    chosen = [offer for offer in offers if offer.label in names and last[offer.label] is offer]
    return [offer for offer in chosen if not _NO_OPTION.match(offer.text)]


def _find_meant_list(answer: str, names: set[str], offers: list[Offer], done: str) -> list[Offer]:
    """Return the one list that the numbers of an answer are of; nothing where two fit.

    A review numbers its observations "(3)", and its best improvements "3.".
    """
    lists = [[one for one in offers if one.bracketed is side] for side in (True, False)]
    fit = [one for one in lists if names <= {offer.label for offer in one}]
    if len(fit) < 2:
        return fit[0] if fit else []
    said = [(one[1] or one[2]).lower() for one in _NUMBERED.finditer(answer)]
    told = [
        one
        for one in fit
        if any(noun in offer.heading.lower() for noun in said for offer in one)
        or (one[0].bracketed and any(map(_SEEN.match, said)))
    ]
    if len(told) == 1:
        return told[0]
    words = specific_words(done)
    shared = [_count_shared(one, names, words) for one in fit]
    first, second = shared
    if max(shared) < SHARED or abs(first - second) < SHARED:
        return []
    return fit[0] if first > second else fit[1]


def _count_shared(offers: list[Offer], names: set[str], words: frozenset[str]) -> int:
    texts = [offer.text for offer in offers if offer.label in names]
    return len(specific_words(" ".join(texts)) & words)


def _find_heading(text: str, offer: Offer) -> str:
    """Return the last heading above an option."""
    found = _HEADING.findall(text[: max(text.find(offer.text), 0)])
    return found[-1] if found else ""


def _find_by_place(answer: str, offers: list[Offer]) -> list[Offer]:
    """Return the option that an answer names by its place among the others."""
    found = _PLACE.search(answer)
    if found is None:
        return []
    said = (found["en"] or found["alone"] or found["zh"]).lower()
    middle = len(offers) // 2 if len(offers) % 2 else len(offers)
    place = len(offers) - 1 if said in _ENDS else _PLACES.get(said, middle)
    return offers[place : place + 1]


def _find_named_labels(answer: str, asked: list[Clause]) -> Iterator[str]:
    """Yield the labels that an answer names outside of its questions."""
    counts = {max(one.span("n"), one.span("zh")) for one in _COUNT.finditer(answer.lower())}
    for found in _PICK.finditer(answer.lower()):
        label = max(found.span(name) for name in ("en", "zh", "nth", "noun"))
        if label in counts:
            continue
        if not any(one.start <= found.start() < one.end for one in asked):
            yield _normalise_label(next(filter(None, found.groups()), ""))


def assents(answer: str) -> bool:
    """Whether an answer begins with a yes."""
    return _ASSENT.search(answer.replace("’", "'")) is not None


def proposal_in(text: str) -> str:
    """Return the sentence of a message that recommends something; empty where none does."""
    plain = "\n".join(unfenced_lines(text))
    found = [plain[a:b] for a, b in sentences(plain)]
    told = [
        s for s in found if _PROPOSAL.search(s) and not s.rstrip().endswith(("?", "？", ":", "："))
    ]
    if not told:
        return ""
    # "I recommend option 1" says nothing without the option.
    offers = offers_in(text)
    named = {
        _normalise_label(next(filter(None, one.groups())))
        for one in _PICK.finditer(told[-1].lower())
    }
    meant = [offer.text for offer in offers if offer.label in named]
    return meant[0] if len(meant) == 1 else _strip_markup(told[-1])


def _strip_markup(text: str) -> str:
    return _MARKUP.sub("", text).strip()


def _read_label(mark: object) -> str:
    groups = mark.groupdict()  # type: ignore[attr-defined]  # a match of _LABEL
    return _normalise_label(next(value for value in groups.values() if value))


def _normalise_label(label: str) -> str:
    low = label.lower()
    return _HAN_DIGITS.get(low) or _ORDINALS.get(low) or low
