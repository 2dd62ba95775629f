"""Reports: what an agent at work says it found and did, without its running commentary."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from itertools import chain

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.markdown import EMPHASIS, LINK
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import is_remnant, sentences
from kimi_memory.nlp.rules.salience import traits_of

_FENCE = regex(r"^(?P<indent>[ \t]*)(?P<marks>`{3,}+|~{3,}+)(?P<info>[^`]*)$")
_LATE_FENCE = regex(r"[^`]```\s*$")
"""A fence that somebody forgot to put on a line of its own."""
_NESTED = 3
"""A closing fence stands at most so many characters further in than the opening one."""
_ROW = regex(r"^\s*\|")
_HEADING = regex(r"^\s*#{1,6}\s|^\s*\**[^*\n]{1,80}\**[:：]\**\s*$|^\s*(?:---+|\*\*\*+)\s*$")
_MARKUP = regex(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s+(?:\[[ xX]\]\s*)?")
# "Let me check …", "Now I'll …", 接下来…: what an agent is about to do, never what came of it.
_COMMENTARY = regex(
    r"^\W*(?:(?:good|great|ok(?:ay)?|ah|aha|oh|hm+|now|first|next|right|perfect|excellent|alright|so|and|then|understood|got it|sure|but)\b[,.!:— –-]*+\s*+){0,3}"
    r"(?:let me|let's|i'll|i will|i'm going to|i am going to|i need to|i should|i can (?:now )?see|i see\b|now i\b|now the\b|i (?:now )?have (?:everything|all|enough|what|an? )|must be|probably|maybe|perhaps|might be|likely\b|we need to|here(?:'s| is| are)\b|looking at|would you|do you|should i|shall i|want me|is there|if (?:you|that|this|it)\b|once you|tell me|let me know|i can\b|[a-d][.)]\s|you can\b|you may\b|let us|feel free|which\b|what\b|how\b|can you|you're (?:absolutely )?right|sorry|apolog|(?:add|update|fix|create|check|run|remove|write|build|verify|test|implement|replace|refactor|rename|move|wait|use|enter|navigate|open|follow|ensure|consider|read|see|select|choose|click|install|define|provide|include|handle|support|validate|parse|return|submit)\b(?!ed)(?= (?:the|a|an|all|these|those|it|them|this|that|each|any|your|to|having|adding|using|`|(?-i:[a-z]+[A-Z]))))"
    r"|\b(?:wait|hmm),? (?:let me|no|actually)|\bi need to\b|(?:^\W*(?:(?:now|next|then|so|and|here)\b[,:]?\s*+)*|[;,.:—–-] *(?:and |so )?(?:next|now|then),? )i'm (?:(?:now|also|currently|just) )*(?!not\b|seeing\b)[a-z]+ing\b|^\W*(?:next|then|now),? i\b|\b(?:string to replace|old_string) (?:was )?not found\b|^\W*请(?!求)|(?:^|[，。；：,;:])\W{0,4}(?:现在|接着|并|同时)?正在(?:阅读|读取|修改|更新|检查|运行|实现|添加|处理|查看|搜索|分析|重构|创建|编写|执行|测试|验证|删除|替换|改|补|写|看|查|跑)|^\W*现在(?:就|你|您)?(?:需要|可以|请|执行)|^\W*(?:(?:你|您)?还?需要(?:你|您)|备选)|^\W*(?:the )?user (?:wants|says|said|asks|asked|is asking|reports?|mentions?)\b|^\W*todos? (?:list )?(?:update|have|has|is|are|was|were)|^\W*用户(?:说|想|要求|问|希望|提到|反馈|让我)|我(?:现在)?(?:已经?|都)(?:全面|完全|充分|基本|大致)?(?:了解|掌握|收集|获取|看完|读完|理解|清楚|弄清|有了)|有(?:一|几)?个(?:关键|重要)?的?(?:问题|地方)需要(?:你|您)?确认|^\W*(?:接下来|下面|好的|明白|是否|需要我|要不要|请问|如果你|您|思考过程|(?:如果|若)?(?:你)?(?:有)?(?:需要|愿意|想|希望)(?:的话)?[，,]?我|如需|[A-D](?:[.)]\s|[）、：]))"
    r"|(?<=[.!:] )(?:now,? )?(?:let me|let's|i'll|i will|i'm going to)\b"
    r"|^\W*(?:现在|接着|然后|最后|首先|先|再)(?:来|再|去|先)?(?:修复|检查|更新|创建|添加|修改|删除|运行|测试|查看|实现|重构|编译|验证|处理|优化|完善|编写|安装|启动)(?!了|完|好|过|后)"
    r"|让我(?!们?(?:想起|觉得))|(?:^\W*|[，,；;：:。！]\s*)(?:现在|首先|所以|然后|因此|因而|那么|那|但|但是|不过|接着|看来|而且|同时|于是|为此){0,2}(?:我们?(?:还|现在|首先|先|就|也|仍|再){0,2}(?:需要|要(?!求)|得(?!到|出)|必须|应该|将|会|来|先|再|继续|打算|准备|可以看到|看到了?|看看|想)|首先?需要)",
    2,
)
# "Done. The port is 8080": the nod is cut, and lends its weight to what follows.
_NODS = regex(
    r"^\W*(?:(?:mystery solved|(?:i )?found (?:it|the (?:smoking gun|issue|problem|bug|culprit|cause))|this is (?:huge|revealing|a breakthrough|interesting)|aha|bingo|interesting|(?:我)?找到(?:了)?(?:问题|原因)?(?:了)?|done|fixed|perfect|great|good(?: catch| question| point)?|excellent|understood|confirmed|all (?:clean|set|done|good)|clean|right|yes|no|got it|sure|absolutely|implementation complete|好的?|完成|搞定|已完成)(?:\s*[.!,:。！，]|\s+[—–-](?=\s))\s*)+",
    2,
)
_FINE = regex(r"^\W*(?:\(?\d+\)?\W*)?✅")
_CALL = regex(r"^\s*(?:\[[A-Za-z]\w{1,30}: |</?(?:tool|function|details|summary)\b)")  # [Bash: ls]
_PRAISE = regex(
    r"^\W*(?:\(?\d+\)?\W*)?(?:good|nice|great|correct|clear|clean|solid|excellent|well|proper|fine|looks good)\b",
    2,
)
"""A review that finds nothing wrong with a line finds nothing."""
_PRINTED = regex(
    r"^[<>=]{7}|^\[[-~/>]\]\s|^\W*\d+\s*(?:→|│|\|)|^[+-]{1,3}\s|[{};]\s*$|^\s*(?:\$|>|%)\s"
)
"""A line of a program, of a difference or of what a tool printed."""
_DID = regex(
    r"^\W*(?:`[^`]{1,80}`\W*)?(?:all \w+ \w+ )?(?:i(?:'ve| have)? |we(?:'ve| have)? |the \w+ (?:has|have|was|were|is|are|now) |also |now )?(?:just |now |already |been )*"
    r"(?:add|creat|fix|updat|remov|delet|renam|mov|extract|refactor|replac|rewr|rewrote|reorder|implement|chang|split|hoist|revert|merg|bump|upgrad|migrat|convert|insert|drop|disabl|enabl|configur|install|deploy|wrote|writ|made|built|moved|switch|set up|pass|simplif|consolidat|document|log|correct|resolv|clean|introduc|wrap|inlin|deprecat|restor|reus|keep|kept|found|identif|discover|verif|confirm|test|measur)(?:ed|d|s|es|ied|ing|t|ten|n)?\b"
    r"|(?:已|已经)(?:经)?(?:添加|新增|修复|更新|删除|移除|重命名|修改|改|实现|创建|完成|迁移|替换|提取|合并|回滚)|(?:改|加|修|换|删|移|拆|合)(?:成|为|到|了|好)",
    2,
)
_CAUSE = regex(
    r"\b(?:the (?:issue|problem|root cause|cause|reason|bug|culprit|fix|key insight|catch|trick|solution|answer|difference|verdict)\b|because|due to|since the|caused by|turns out|which (?:means|is why|explains)|so that|instead of|intentional|intended|only (?:runs|used|works|when|applies)|never|always|no longer|already|needs?|must|requires?|falls? back|defaults? to|conflicts? with|fails?|failed|broke|missing|expected|by design|not (?:supported|used|needed|actually|enough))\b"
    r"|原因|问题(?:在于|是|出在)|因为|由于|导致|所以|而不是|不再|必须|需要|默认|不支持|失败|缺",
    2,
)
_LABEL = regex(
    r"^\W*(?:root cause|cause|reason|why|problem|fix|solution|result|findings?|conclusion|note|still open|open|remaining|to-?do|not done|next|原因|结论|问题|修复|遗留|待办|注意)\W{0,3}[:：]",
    2,
)
"""What a line is, said in front of it."""
_DOING = regex(r"^\W*(?:now )?(?:re)?[a-z]+ing\b", 2)
_NOW = regex(r"^\W*now\b", 2)
_STEP = 70
"""So short a unit that begins with what is being done is a step, no finding."""
# `a.b`, snake_case, camelCase, src/app.py, --flag, #17
_IDENTIFIER = regex(
    r"`[^`\n]{1,120}`|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+\b|\b[\w./-]+\.[a-z]{1,4}\b|(?<!\w)--[a-z][\w-]+|#\d+"
)
_FIGURE = regex(r"\d")
SHORTEST, LONGEST, WIDEST = 16, 420, 200
"""Characters of a sentence, and most of a heading or of a row of a table."""
_GUESS = regex(
    r"\b(?:likely|probably|maybe|perhaps|might|may be|could be|possibly|i suspect|seems?)\b|可能|大概|也许|应该是|估计|疑似|看起来像",
    2,
)
"""What the agent only supposes is often found to be otherwise a message later."""
GUESSED = 0.8
_DISCOVERY = regex(
    r"\b(?:root cause|the (?:cause|culprit|reason) (?:is|was)|turns? out|the (?:real|actual|true|underlying|core) (?:\w+ )?(?:issue|problem|cause|reason|bug|culprit|fix)|(?:is|was) (?:a|an|the) (?:\w+ ){0,2}bug|found (?:it|the (?:\w+ ){0,2}(?:issue|problem|bug|cause|culprit))|only (?:works|happens|occurs)|never (?:worked|called|used|set|reached|runs?))\b"
    r"|根本原因|根因|真正的?(?:原因|问题)|原来(?!的)|(?:问题|原因)(?:在于|出在|是)|才发现",
    2,
)
"""What the agent came to know, which the next session would look for anew."""
_CONCLUSION = regex(
    r"^\W*(?:so |and |but )?(?:(?:in (?:short|summary|conclusion|brief|a nutshell)|to (?:sum(?: it)? up|summari[sz]e|conclude)|(?:the )?(?:bottom line|short answer|key (?:point|takeaway|insight|finding)|main (?:reason|cause|point|problem)|takeaway|conclusion|verdict|tl;?dr|summary|upshot)(?: (?:is|was|here is))?(?: that)?)\s*[:：,，—–-]+\s*|(?:the )?(?:bottom line|key (?:point|insight|takeaway)|main (?:reason|cause)|conclusion|verdict|upshot) (?:is|was)\b)"
    r"|^\W*(?:所以|因此)?[，,]?(?:总结(?:一下|来说)?|总之|总的来说|综上(?:所述)?|一句话(?:总结|概括|来说)?|简而言之|简单(?:来)?说|结论(?:是|就是)?|归根结底|说到底|核心(?:原因|问题|结论)(?:是|在于|就是)?|关键(?:点)?(?:是|在于|就是))\s*[:：,，]",
    2,
)
"""How an answer sums up: what follows is what all of it comes to."""
_BOLD_SENTENCE = regex(
    r"\*\*([^*\n]{24,300})\*\*(?=\W*$|\s*[A-Z\u3400-\u9fff])|\*\*([\u3400-\u9fff][^*\n]{11,200})\*\*"
)
"""A sentence in bold is what the agent wants to be read."""
_AS_EXPECTED = regex(
    r"^\W*(?:(?:all|the|unit|full|existing|and|existing) )*(?:\d+ )?(?:tests?|suite|build|lint\w*|type-?check\w*|compil\w+|`[^`]{2,40}`(?: \(?tests?\)?)?)\b[^.;]{0,50}\b(?:pass(?:ed|es|ing)?|green|succe\w+|clean|clear)\b"
    r"|^\W*(?:tests?|build|lint)\w*\s?[:：][^.;]{0,60}\b(?:pass\w*|green|ok|clean)\b"
    r"|^\W*(?:i(?:'ve| have)? )?(?:re-?installed|installed the|deployed the|captured|took|grabbed|committed|pushed|re-?ran|restarted|re-?built|verified)\b|\b(?:already|now) (?:exists?|up[- ]to[- ]date)\b|^\W*(?:all|everything|the|these)(?: (?:\w+ ){0,2}(?:changes?|files?|edits?|work|code))? looks? (?:correct|good|fine|right|clean|consistent|in order)\b|^\W*(?:修改|改动|更新|任务|全部)(?:已)?(?:全部)?完成[。！]?$"
    r"|(?:测试|用例)(?:全部|均|都|已)?(?:通过|绿)|(?:构建|编译|打包)(?:成功|通过)|^\W*(?:已)?(?:提交|推送|重启|重新运行)",
    2,
)
"""That a step went as it should tells the next session little."""
DISCOVERED, EXPECTED, CONCLUDED, STRESSED = 0.9, 1.0, 1.4, 1.2
_UNDONE = regex(
    r"\b(?:not (?:yet|done|implemented|tested|verified|fixed)|still (?:needs?|fails?|open|missing|broken|to do)|remaining|to-?dos?|pending|unresolved|left open)\b"
    r"|还没|尚未|未(?:实现|完成|验证|解决|处理|提交)|待(?:办(?!事项|列表|清单)|完成|验证|处理|确认)|仍(?:是|然|未|需)",
    2,
)
"""What is still to be done."""
_HOW_TO = regex(
    r"^\W*(?:to )?(?:run|start|launch|try|use|usage|install|open|visit|access)(?: (?:it|the \w+|with))?\s?[:：]|^\W*(?:启动|运行|访问|使用|用法|安装|打开|执行)(?:方式|方法|命令|地址|步骤)?\s?[:：]",
    2,
)
"""How to use what was made: it stands in the project's own pages."""
_TELLS_YOU = regex(
    r"^\W*(?:(?:so|then|also|now|next|finally|and)\b,? )*you(?:'ll| will| would)? (?:(?:also|still|now|then|just|only|first) )*(?:must|should|need(?: to)?|have to|want to|could|might)\b(?! (?:be |have )?(?:seeing|aware))|^\W*(?:然后|接着|另外|同时)?(?:你|您)(?:还|也|只|先|再|现在|可能)*(?:需要|应该|必须|得|要(?!求)|可以)|^\W*(?:还)?(?:需要|请)先?(?:提交|推送|手动|重新|确认|检查|重启|运行|执行)",
    2,
)
"""What the person is told to do."""
_LISTING = frozenset(("file", "files", "path", "line", "lines", "match", "matches", "content"))
"""The columns of what a search or a read printed."""
_PLACES = frozenset(("file", "files", "path", "文件", "路径"))
"""The first column of a list of files that were changed."""
_LINKS = frozenset(("url", "link", "链接", "网址"))
"""A column of what a search of the web found."""
ADVISED, ROW = 1.5, 0.4
"""What a sentence loses that only advises the person, and a row of a table."""


_NUMBER = regex(r"^\W*(?:step |phase |问题|原因)?\d{1,2}\W+", 2)
_BOLD = regex(r"^\s*(?:[-*•]\s+|\d{1,2}[.)、]\s*)?\*\*[^*\n]{2,60}\*\*\s*[:：—–-]")
"""A point that the agent named: "**Direct URL** — the proxy is not needed"."""
_ITEM = regex(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s+")
_INTRO = regex(r"[:：]\W*$")
_TITLED = regex(r"\s*(?:#|\*\*)")
"""What is made to look like a heading; a sentence that ends in a colon leads to what follows."""
_GENERIC = regex(
    r"^\W*(?:(?:\w+ ){0,2}(?:summary|changes?|overview|details?|notes?|files?|steps?|results?|created|modified|added|updated|removed|fixed|tests?|review|plan|implementation|verification)\b[\w\s]{0,20}|总结|概述|变更|修改|说明)\W*$",
    2,
)
"""A heading that says nothing of its own."""


class _Section(Enum):
    """What the lines below a heading are about."""

    CAUSE = auto()
    """What was wrong, and why: each line is a finding."""
    ADVICE = auto()
    """What the person may do next, or how to use what was made."""
    OTHER = auto()


_SECTIONS = (
    (
        _Section.ADVICE,
        regex(
            r"\b(?:next|to-?do|how to|usage|what (?:you|to)|you (?:should|need|can)|recommend\w*|suggest\w*|options?|if you|commands?|try|verify it|example)\b"
            r"|下一步|接下来|后续|建议|备选|怎么(?:用|跑|做|改)|如何|用法|使用方法|你(?:需要|可以|要)|运行方式|示例|可选",
            2,
        ),
    ),
    (
        _Section.CAUSE,
        regex(
            r"\b(?:causes?|why|wrong|broke(?:n)?|bugs?|problems?|issues?|diagnos\w+|findings?|found|results?|conclusions?|verdict|reasons?|happen(?:ed|s|ing)|mismatch|explanation|limitations?|caveats?)\b"
            r"|原因|问题|根因|结论|结果|发现|为什么|分析|对比|差异|限制|故障",
            2,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Report:
    """One thing that an agent says it found or did.

    Attributes:
        text: its words, or those of a heading and of what stands below it.
        worth: how much it tells.
        above: the heading or the lead of a list that it stands below; may be empty.
        to_do: whether it is what comes next, or is not done yet.
    """

    text: str
    worth: float
    above: str = ""
    to_do: bool = False


def reports_in(text: str) -> list[Report]:
    """Return what a message reports, in order; code, headings and chatter are left out."""
    return list(_Message().reports(text))


class _Message:
    """Reads one message, line by line, and knows what stands above a line."""

    def __init__(self) -> None:
        self._above = ""
        self._section = _Section.OTHER
        self._columns: list[str] = []

    def reports(self, text: str) -> Iterator[Report]:
        for line in unfenced_lines(text):
            if _ROW.match(line):
                cells = line.strip().strip("|").split("|")
                yield from self._read_row([_strip_markup(cell) for cell in cells])
                continue
            self._columns = []
            plain = _strip_markup(line)
            if plain and not _FINE.match(plain):
                yield from self._read_line(line, plain)

    def _read_row(self, cells: list[str]) -> Iterator[Report]:
        """Yield a row that compares or measures something, below the names of its columns."""
        if not self._columns:
            self._columns = cells
            return
        words = " | ".join(cells).strip("| ")
        # Where the agent looked is nothing that it found, nor is which files it wrote.
        names = [column.strip("`* ").lower() for column in self._columns]
        if _LISTING.issuperset(names) or names[0] in _PLACES or not _LINKS.isdisjoint(names):
            return
        tells = any(_FIGURE.search(cell) or _IDENTIFIER.search(cell) for cell in cells[1:])
        if self._section is _Section.ADVICE or not tells or not SHORTEST <= len(words) <= WIDEST:
            return
        above = " | ".join(self._columns).strip("| ")
        worth = _score_unit(words, done=False, named=True) - ROW
        if worth > 0:
            yield Report(words, worth, above if len(above) <= WIDEST // 2 else "")

    def _read_line(self, line: str, plain: str) -> Iterator[Report]:
        heading = _HEADING.match(line) is not None
        if heading or (_INTRO.search(plain) and not _comments(plain)):
            head = _NODS.sub("", plain, count=1).rstrip(" :：*")
            leads = _INTRO.search(plain) is not None and not _TITLED.match(line)
            if claim := _find_claim(head, leads=leads):
                yield claim
            if heading or _section_of(head) is _Section.CAUSE:
                self._section = _section_of(head)
            named = _IDENTIFIER.search(head) or (_DID.search(head) and _FIGURE.search(head))
            if heading or named:
                kept = named and not _GENERIC.match(head) and len(head) <= WIDEST
                self._above = head if kept else ""
                return
        item = _ITEM.match(line) is not None
        if not item:
            self._above = ""
        yield from _find_reports(line, self._above, self._section, item=item)


def _section_of(head: str) -> _Section:
    return next((kind for kind, words in _SECTIONS if words.search(head)), _Section.OTHER)


def _find_claim(head: str, *, leads: bool) -> Report | None:
    """Return what a heading says by itself: "Root cause: the proxy drops the header".

    Args:
        head: the heading.
        leads: whether it is a sentence that leads to a list, which says the rest of it.
    """
    claim = _NUMBER.sub("", head)
    labelled = _LABEL.match(claim) is not None
    says = labelled or (not leads and _CAUSE.search(claim) and traits_of(claim).words >= 4)
    if not says or not SHORTEST <= len(claim) <= WIDEST or _comments(claim):
        return None
    return Report(claim, _score_unit(claim, done=False) + 1.0 * labelled)


def _comments(text: str) -> bool:
    """Whether a text says what the agent is doing or about to do, or talks to the person."""
    return _COMMENTARY.search(text.replace("’", "'")) is not None


def _find_reports(line: str, above: str, section: _Section, *, item: bool) -> Iterator[Report]:
    why = section is _Section.CAUSE
    bold = _BOLD.match(line) is not None
    stressed = " ".join(filter(None, chain.from_iterable(_BOLD_SENTENCE.findall(line))))
    for unit, done in _split_sentences(line):
        worth = _score_unit(unit, done=done, named=bold, why=why)
        concludes = _CONCLUSION.match(unit) is not None
        advises = not concludes and (section is _Section.ADVICE or _is_advice(unit))
        if _is_stressed(unit, stressed) and not (advises or _comments(unit)):
            worth = max(worth, 1.0) + STRESSED
        bold = False
        listed = item and _DID.search(above) and not (_comments(unit) or _is_open(unit))
        if worth <= 0 and listed:
            worth = 0.3 * min(3, len(identifiers_in(unit))) + 0.3
        advised = section is _Section.ADVICE and not concludes
        to_do = advised or _UNDONE.search(unit) is not None
        worth -= ADVISED * advises
        if worth > 0:
            yield Report(unit, worth + (0.5 if above else 0), above, to_do)


def _is_stressed(unit: str, stressed: str) -> bool:
    """Whether a sentence stands in bold, or the point of it does."""
    if not stressed or _is_open(unit):
        return False
    return unit.rstrip("。.!！") in stressed or stressed in unit


def _is_open(unit: str) -> bool:
    """Whether a sentence asks, or leads to what stands below it."""
    return unit.endswith(("?", "？", ":", "："))


def _is_advice(unit: str) -> bool:
    """Whether a sentence says what the person is to do, or how to use what was made."""
    return bool(_HOW_TO.match(unit) or _TELLS_YOU.match(unit.replace("’", "'")))


def identifiers_in(text: str) -> set[str]:
    """Return the names of files, functions, options and the like in a text."""
    return set(_IDENTIFIER.findall(text))


def unfenced_lines(text: str) -> Iterator[str]:
    """Yield the lines of a message that hold something and are no code and no call of a tool.

    A quoted page holds fences of its own: one with a language, or far inside, opens another.
    """
    open_fences: list[tuple[str, int]] = []
    for line in text.split("\n"):
        if fence := _FENCE.match(line):
            marks, indent = fence["marks"], len(fence["indent"])
            if not open_fences or fence["info"].strip() or indent > open_fences[-1][1] + _NESTED:
                open_fences.append((marks, indent))
            elif marks.startswith(open_fences[-1][0]):
                open_fences.pop()
        elif open_fences and _LATE_FENCE.search(line):
            open_fences.pop()
        elif not open_fences and line.strip() and not _CALL.match(line):
            yield line


def _strip_markup(line: str) -> str:
    return LINK.sub(r"\1", EMPHASIS.sub("", _MARKUP.sub("", line.lstrip("# ")))).strip()


def _split_sentences(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of a line, and whether "Done." or the like stands before each."""
    plain = _strip_markup(line)
    done = False
    for start, end in sentences(plain):
        unit = _NODS.sub("", plain[start:end], count=1).strip()
        done = done or len(unit) < end - start
        if SHORTEST <= len(unit) <= LONGEST:
            yield unit, done
            done = False


def _score_unit(unit: str, *, done: bool, named: bool = False, why: bool = False) -> float:
    chatter = _comments(unit) or _PRAISE.search(unit) or _PRINTED.search(unit)
    if chatter or _is_open(unit) or is_remnant(unit):
        return 0.0
    # "Running the tests" is a step on the way. A longer unit mostly says what came of it.
    if _DOING.match(unit) and len(unit) <= (_STEP if not _NOW.match(unit) else LONGEST):
        return 0.0
    did = done or _DID.search(unit) is not None
    cause = any(words.search(unit) for words in (_CAUSE, _LABEL, _UNDONE))
    names = min(3, len(identifiers_in(unit)))
    figure = _FIGURE.search(unit) is not None
    concludes = _CONCLUSION.match(unit) is not None
    if not (did or cause or concludes or ((named or why) and (names or figure))):
        return 0.0
    traits = traits_of(unit)
    worth = (
        CONCLUDED * concludes
        + 1.0 * did
        + 1.0 * cause
        + 0.5 * named
        + 0.7 * why
        + 0.6 * names
        + 0.3 * figure
    )
    guessed = not concludes and _GUESS.search(unit) is not None
    worth += 0.1 * min(8.0, traits.specific) - GUESSED * guessed
    worth += DISCOVERED * (_DISCOVERY.search(unit) is not None)
    return worth - EXPECTED * (_AS_EXPECTED.search(unit) is not None)
