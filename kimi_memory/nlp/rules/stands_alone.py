"""Whether what was said still says what it means once the talk around it is gone."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.subjects import subject_of

_POINTS = regex(
    # an order: "use that short form", "no such letters", 标题要像这样居中
    r"\b(?:use|do|follow|keep|apply|make|made|show|write|copy|take) (?:\w+ )?(?:that|these|those)\b(?! (?:you|i|we|it|they|are|is|have)\b)"
    r"|\bsuch (?!as\b|a way\b|that\b)[\w-]+|\b(?:like|as) (?:this|that|these|those|(?:above|below|shown|before))\b|\b(?:this|that) way\b"
    r"|(?:像|按照?|照着?|跟|和)(?:着)?[这那](?:样|个|种|些|张)|(?:要|得|应该|必须|都)(?:是)?[这那]样"
    r"|[这那](?:种|类|样的)(?:方式|方法|办法|形式|格式|风格|思维|写法|做法|说法|模式|思路)"
    # what was said before, or what comes next in a game
    r"|\bthe (?:[\w-]+ ){1,3}(?:that )?i (?:(?:just|really|already|\w+ing) )?(?:want(?:ed)?|said|asked|told you|meant|mentioned)(?: for| about)?[.!]*$|\blet'?s (?:go|do|try|have|start|play)\b[^.!?]{0,12}\banother\b"
    # what was meant, and nothing new
    r"|^\W*(?:no,? )?(?:what )?i mean(?:t|s)?\b|^我的?(?:意思)?是[说說]|^我的意思"
    # a taste of what is at hand: 我就喜欢这种安静, "I like the idea"
    r"|有[一几两]?[张个段首幅处][^，。]{0,8}我(?:也|还)?(?:很|挺|最|比较)?喜欢|[这那]个[^，。]{1,6}我(?:很|挺|也|更|还)?(?:喜欢|满意|认可)"
    r"|(?:喜欢|喜爱|热爱|爱上|讨厌|享受|习惯|偏好|倾向于?|欣赏)(?:了|的是|于)?[这那](?![里边儿])"
    r"|\b(?:love|like|prefer|enjoy|hate|dislike|appreciate)s? (?:(?:all|both) (?:of )?)?(?:this|that|these|those|how|(?:your|the) (?:idea|feeling|way|sound|look|concept|approach|suggestion)s?)\b",
    2,
)
"""Words for what was just said or shown."""
_NAMES_HABIT = regex(
    r"(?<![个种条])的?(?:职业|个人|生活)?(?:习惯|偏好|倾向性?|喜好|风格)(?=$|[，。！,.!]|的?(?:延伸|体现|表现)|(?:就|也|更|很)+[^是])|(?:按照?|根据|符合|体现)我的?(?:习惯|偏好|喜好|风格)"
    r"|对我(?:这种|这样)[^，。]{0,16}来说"
    r"|我(?:最|很|更|都|所)?(?:喜欢|偏好|习惯)的(?:元素|类型|风格|东西|样子|感觉|方向|事情?|款式?|那种)(?=$|[，。！,.!])"
    r"|(?<!我)(?<!我们)(?:会|也|能|一定)(?:很|更|都|非常|会)?喜欢\W*$",
)
"""That there is a habit or a taste, and not which: 这样一来，我的偏好就更清楚了."""
_REPORTED = regex(
    r"\b(?!i\b|we\b|you\b)(?:[a-z]+(?<!n't)) (?:always |often |also |once |just )?(?:says?|said|tells?|told me|told us|advise[sd]?|recommend(?:s|ed)?|suggest(?:s|ed)?|reminds?|reminded|warn(?:s|ed)?)\b(?: (?:me|us))?,? (?:that |to |not )"
    r"|(?:[他她]们?|医生|老师|老板|领导|专家|教练|顾问|朋友|同事|我[爸妈哥姐弟妹爷奶])[^，。]{0,6}(?:说|讲|提醒|劝|叮嘱|建议|[叫让]我)|[\u3400-\u9fff](?<!我)(?:也?总是?|也?常常?|也?老是?)说",
    2,
)
"""What somebody else told the speaker to do."""
_EDIT = regex(
    r"^[^，。]{1,14}一下吧?[。！]?$|^(?:请|再|先|那|然后|现在|还有|另外|还是|不是?|就|都|已经?|后来|[，,\s])*(?:把|将|[改换][成为到回]|替换|修改|调整|给出|列出|生成|在[^，。]{1,12}[里中上][，,]|我(?:想|要|希望)[让请叫]?你|你(?:帮我|把))"
)
"""At work who says 把…改为 asks for an edit, and 改成… does not say of what."""
_ASKS = regex(
    r"帮我(?:生成|写|做|改|查|看|找|弄|处理|整理|导出|创建|安装|更新)|[，,。；]请(?:按|照|你|帮|把|将|重新|调整|修改|改|修复|检查|更新)"
)
"""What ends in a request, whatever it states before: …颜色变了，请调整."""
_GIVES = regex(
    r"[:：=]|\b(?:is|are|was|were|has|have|isn't|aren't|turned|weighs?)\b"
    r"|\b[Ww]e(?:'ve| have|'re| are)? (?:(?:now|all|only|currently|just|recently|finally|always) )?(?:(?:decided|agreed|chose|voted) to )?(?:us(?:e|ing)|run(?:ning)?|chose|picked|go(?:ing)? with|(?:switched|moved|migrated|went over|settled|standardi[sz]ed|deploy|host|build) (?:to|on|with|over to))\b"
    r"|我们(?:都|现在|目前|一直|项目|组|团队|这边){0,3}(?:用|使用|采用|换|改|部署|跑)|[是为叫有共达]|(?<![潜实现自存内外正])在|\d"
)


_OF_NOW = regex(
    r"\b(?:right now|this time|for (?:now|the moment)|just this once)\b|\bstop \w+ing and \w+|^\W*(?:now |so |and |ok(?:ay)?,? )*(?:imagine|pretend|picture|suppose)\b|这一?次|暂时|先不[要用]|先别",
    2,
)
"""What is asked for once: 这次不要提交, "imagine that you always …"."""
_HOLDS_ON = regex(
    r"\b(?:always|never|ever|from now on|going forward|in (?:the )?future|every|each|any ?(?:more|time)|by default|whenever|unless|without|must|(?:our|the|my|a|team) (?:rule|policy|convention))\b"
    r"|以后|今后|往后|每[次天周月当个条句]|永远|一律|凡是|任何时候|始终|总是|从现在起|从今|下次|除非|一直|铁律|规则|不[许准得]|绝对?不|必须",
    2,
)
"""Words that say that an order holds on."""
_ALWAYS = regex(
    r"\b(?:always|never|from now on|going forward|in (?:the )?future|whenever|unless|every time|each time|by default|at all times|after (?:each|every)|before (?:each|every))\b"
    r"|\bon (?:weekends|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
    r"|\b(?:forbidden|prohibited|not allowed)\b"
    r"|以后|今后|往后|每次|永远|一律|凡是|从现在起|从今|下次|始终|统一|不[许准](?=[\u3400-\u9fff])|禁止|严禁|(?:周|星期|礼拜)[一二三四五六日天末][^，。]{0,6}(?:不要|别|不许|不准|不能|禁止|不得)",
    2,
)
"""Words that say of the order itself when it holds: always, or each time; or that forbid."""
_FOR_LATER = regex(
    r"(?:方便|便于|为了|好让?|免得|以便|省得)以后|以后(?:你?好|方便|再|会|能|还|就能|可以)|\bto [^.,;]{2,60} in (?:the )?future\W*$",
    2,
)
"""What something is good for later, and no order for later: 装好它，以后好用."""
_NAMES_AGENT = regex(
    r"\byour name(?: is|'s)\b|\b(?:call|address) me (?!when|if|once|back|later|again|at\b|on\b|in\b|after|before|by\b|as soon|now\b|today|tomorrow|tonight|maybe|please\b|about|for\b|to\b|with\b|from\b)[a-z]"
    r"|(?:^|[，,。；！\s])(?:(?:好的?|很棒|对了|记住|以后|今后|那|请)[，,]?){0,3}你(?:就|以后|现在|以后就)?叫(?!我|[他她它]|什么|啥|得|[一外]|醒|车|停|人|价|卖)[^，。！？]{1,12}$|你的名字(?:是|叫|就是|改[成为])"
    r"|(?:^|[，,。；！\s]|以后|可以|请|都|你)(?:就|就可以|直接)?叫我(?!怎|什|去|来|做|干|起|加|别|不|吃|回|帮|写|买|说|把|给|到|上|下|看|等|先|再|们)[^，。！？]{1,12}|给你(?:取|起)(?:的|了)?(?:个)?(?:新)?名"
)
"""How the agent, or its person, is called: 叫我老王, and not 他叫我去开会."""
_SCOLDS = regex(
    r"\b(?:don'?t|do not|never|stop) (?:ever )?(?:mak(?:e|ing)|repeat(?:ing)?|do(?:ing)?) (?:(?:such|these|those|this|that|the|same|any|more|dumb|stupid|silly) ){0,3}(?:mistakes?|errors?)\b"
    r"|(?:别|不要|不许|不准|勿)再?(?:搞错|弄错|出错|犯错|犯(?:[这同一]样)?的?错)",
    2,
)
"""An order to err no more, which names nothing to do: 以后别搞错了."""
_LITTLE = 2.0
"""Words that name something, in what says little."""
_POINTING = regex(
    r"\b(?:it|this|that|these|those|them|one|they|there|here)\b|[它这那]|上述|以上|如下", 2
)
"""Words for what is said or shown elsewhere."""
_HURRIED = regex(
    r"\b(?:now|today|tonight|continue|again|return|redo|retry|resend|this (?:time|one|issue|task)|the (?:next|final|last|first) (?:step|one|result)|yet)\b"
    r"|今天|现在|刚才|刚刚|重新|继续|吧[。！]?$|等我|先把|马上|这次|稍等|再来|赶紧",
    2,
)
"""Words of the hour."""
_BY_AGENT = regex(r"\b(?:use|using|try|run) (?:all |one of )?your\b", 2)
"""What the agent has at hand: "let's use your search skill to find three papers"."""
_OTHERS_CHOICE = regex(
    r"^\W*(?!(?:i|we|you|let|the (?:team|group|board))\b)(?:the |my |her |his )?[a-z][\w'-]*(?: [A-Z][\w'-]*)? (?:has |have |had )?(?:finally |then )?(?:decide[sd]?|chose|chooses)\b"
    r"|^(?:(?![我你咱]|大家|团队|公司|今|昨|最|会上|经|一致|这|那|现|还|就)[^，。]){1,8}(?:最终|最后|终于|就)?决定(?!了?[用选采])",
    2,
)
"""That somebody else decided, in a story or in life."""
_WISHED = regex(
    r"^\W*(?:and |so |but |now |today |also )*(?!(?:i|we|you|let)\b)(?:(?:the|a|an|my|our|his|her|their|some|one of (?:the|our|my)) )?[\w'-]+(?: [\w'-]+)? (?:wants?|wanted|would (?:like|love|prefer)|(?:is|are|was|were) asking|ask(?:s|ed)|expects?|begs?|urges?) (?:for )?(?:us|me|you|it|them|the [\w-]+) to\b"
    r"|^(?:[^，。我你咱]{1,8})(?:想(?:让|叫|请|要)|希望|要求|建议|催着?|劝|让|叫)(?:我们?|咱们?|大家|你们?)",
    2,
)
"""Somebody else's wish: "Tom wants us to change the port", 老张想让我们换端口."""


def points_at_talk(text: str) -> bool:
    """Whether an order or a taste means something that only the talk around it shows."""
    return _POINTS.search(text.replace("’", "'")) is not None


def only_names_habit(text: str) -> bool:
    """Whether a text says that somebody has a habit or a taste, and not which one."""
    return _NAMES_HABIT.search(text) is not None


def asks_for_edit(text: str) -> bool:
    """Whether a Chinese text begins as a request for an edit: 把标题改成蓝色, 改成蓝色."""
    return _EDIT.search(text) is not None


def asks_for_help(text: str) -> bool:
    """Whether a Chinese text asks for something behind what it states: 上面的代码帮我生成下."""
    return _ASKS.search(text) is not None


def is_reported(text: str) -> bool:
    """Whether a text tells what somebody else says one should do."""
    return _REPORTED.search(text.replace("’", "'")) is not None


def is_of_now(text: str) -> bool:
    """Whether an order is said for this once."""
    return _OF_NOW.search(text) is not None


def holds_on(text: str) -> bool:
    """Whether an order says that it holds beyond the work at hand."""
    return _HOLDS_ON.search(text) is not None


def says_always(text: str) -> bool:
    """Whether an order says of itself that it holds always, or each time."""
    return _ALWAYS.search(text) is not None and not _FOR_LATER.search(text)


def names_agent(text: str) -> bool:
    """Whether a text says how the agent, or its person, is called."""
    return _NAMES_AGENT.search(text.casefold()) is not None


def scolds(text: str) -> bool:
    """Whether a text orders to make no mistakes, and says little else."""
    rest, found = _SCOLDS.subn("", text.replace("’", "'"))
    if not found:
        return False
    left = traits_of(rest)
    return left.specific <= _LITTLE and not left.figure and slot_of(rest) is None


def count_pointers(text: str) -> int:
    """Return how many words point at something that is said or shown elsewhere."""
    return len(_POINTING.findall(text))


def speaks_of_moment(text: str) -> bool:
    """Whether a text has words of the hour in which it is said: "again", 今天."""
    return _HURRIED.search(text) is not None


def uses_agent(text: str) -> bool:
    """Whether a choice is of something the agent has, for an errand: "let's use your skill"."""
    return _BY_AGENT.search(text) is not None


def is_others_choice(text: str) -> bool:
    """Whether a decision is one that somebody else made: "Ada decides to leave"."""
    return _OTHERS_CHOICE.search(text.replace("’", "'")) is not None


def tells_wish(text: str) -> bool:
    """Whether a text tells what somebody else wants of the speaker: nothing is changed by it."""
    return _WISHED.search(text.replace("’", "'")) is not None


def joins_value(text: str) -> bool:
    """Whether a text has a word or a figure that joins a value to what it is of."""
    return _GIVES.search(text) is not None or "成" in text


def gives_own_value(text: str) -> bool:
    """Whether a sentence says of something of the speaker's what it is: "my phone is a Pixel".

    "There was a long call with my sister" names her and says nothing of her.
    """
    if slot_of(text) is not None:
        return True
    subject = subject_of(text)
    if subject is None or not subject.owner:
        return False
    if subject.value:
        return True
    named = text.casefold().find(subject.words.split("  ")[0].casefold().strip())
    return named >= 0 and named <= _NEAR and _GIVES.search(text, named) is not None


_NEAR = 12
"""A sentence is about what it names among its first characters."""
