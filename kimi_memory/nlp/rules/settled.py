"""What a clause settles, and what it leaves open."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.rules.lasting import tells_defect
from kimi_memory.nlp.rules.salience import traits_of

_OPEN = regex(
    r"\b(?:to-?dos?\b|still (?:need|have (?:to|no|\d+)\b|have [^,.;]{2,40}\bto\b|must|torn|open|undecided|to do|waiting)|undecided|remaining|left to do|follow[- ]up|next steps?|not (?:yet )?(?:done|decided|booked|sorted|finished)|haven't (?:decided|booked|done|started)|need to (?:talk|decide|check|ask|book|call|find))\b"
    r"|待办|还没(?:定|想好|办|做|买|订|约|决定)|还(?:要|得|需要)(?:办|做|买|去|问|找|等)|没定下来|之后再(?:定|说)|下一步",
    2,
)
_SETTLED = regex(
    r"\b(?:(?<!me )(?<!us )(?<!to )(?<!help )(?<!when i )(?<!when we )decid(?:e|ed|es|ing)\b(?! (?:if|whether|what|which|how)\b)|(?:we|i|it|is|are|has|have|had|'s|'ve) (?:\w+ )?settled|settled (?:on|for|that)|agreed|go(?:ing)? with|went with|stick(?:ing)? (?:with|to)|instead of|no longer|after all|(?:we|i)(?:'ve| have)? (?:chose|chosen|picked)|switch(?:ed|ing)? (?:to|from|over|back)|let's (?:just )?(?:use|go|keep(?! \w+ing\b)|stay|drop|skip|call|name|not|leave)|we(?:'ll| will| are going to|'re going to) (?:use|go|keep|drop|make)|cancel\w*|postpon\w*|we (?:don't|do not) want)\b"
    r"|决定(?!不了|因素|性)|(?<![搞约稳说肯一必须得要该])定了(?!吗|没)|定在|就用|就选|选[a-z一二三]|我们?(?:就|还是|最后|最终)?选了|不用了|取消|推迟|就这么办|就这样(?=[，。吧办做定])|还是.{1,12}吧"
    # 把这里改成下单 asks for a change of a word or two.
    r"|^(?!\W*(?:请|帮我|再|先|那)?(?:把|将)).{0,60}?(?:改成|改为|改到|换成)",
    2,
)
"""What settles something in talk about work, where most of it asks for a change."""
_SWITCH = regex(
    _SETTLED.pattern
    + r"|\b(?:(?<!to )choose|(?:choosing|chose|chosen)(?! (?:them|it|this|that|him|her)\b)|switch\w*|instead|not .{1,30} any ?more|let's(?! (?:all|both|hope|roll|figure|wait|change (?:tack|the subject|topic)|be|never|celebrate|have|look|try|make|create|write|draft|rewrite|refine|fine-?tune|edit|revise|improve|expand|run|work|discuss|explore|review|continue|proceed|dive|break|list|brainstorm|figure|think|analy[sz]e|compare|test|check)\b| (?:keep|stay|continue) (?:\w+ing|each|in|strong|positive|up|going)\b)|we(?:'ll| will| are going to|'re going to) do|revert\w*|drop(?:ped)?|(?:(?<=^)|(?<=[.;!,] )|(?<=ok )|(?<=so ))forget (?:the|about|my|our|what)|(?<=\bwe )cut|(?<=\bi )cut|(?<=\bthey )cut|(?<=\bto )cut)\b|改成|改为|改到|换成",
    2,
)
"""What settles something where people talk."""
_WONDERS = regex(
    r"\b(?:confus\w+|unsure|not sure|torn|(?:do not|don['’]t|didn['’]t|can['’]t|cannot) (?:know|decide|choose)|undecided|wonder\w*|hesita\w+|how to (?:choose|decide|pick)|let['’]?s (?:just )?(?:chat|talk|start|begin|play|say|hope|face|be))\b"
    r"|\b(?:(?:been |was |were |still )?(?:thinking (?:about|of|over)|considering|debating)|thought about|looking (?:at|into|for))\b|在(?:考虑|想(?!办法))|想(?:着|过)?要不"
    r"|不知道|不确定|没(?:想好|决定|定)|拿不定|纠结|犹豫|该不该|要不要|怎么(?:选|决定)",
    2,
)
"""Who wonders has settled nothing, and "let's chat" settles nothing."""

_REFUSES = regex(
    r"^\W*(?:(?:hm+|wait|ok(?:ay)?|um+|oh|so|well|stop|please|sorry|but|hey|guys?)\b[,.! …]*){0,3}"
    r"(?:(?:no|nope|nah)\b(?=[,.!…]|$| (?:i|we|you|that|this|it|not|don't|the)\b)(?!,? (?:problem|worries|need|questions?|idea|thanks?)\b)|(?:please )?(?:revert|undo|roll ?back|discard|reject(?:ed|ing)?|cancel)\b(?= (?:it|this|that|these|those|them|all|the|your|my|to|back|everything)\b|\W*$)|(?:i|we) (?:really )?(?:don't|do not|didn't|did not|never) (?:want|like|need|ask(?:ed)?)\b|(?:that|this|it)(?:'s| is| was) (?:(?:so|just|completely|totally|simply) )*(?:not (?:right|what|how|it|ok(?:ay)?|correct|good|true|the|a|an|my|our|needed|necessary|acceptable)|wrong|a (?:bad|terrible))\b|not (?:what|like (?:that|this)|quite)\b|(?:why (?:did|are|would|have) you|you (?:should(?:n't| not)|were not supposed)|what did you do)\b|(?:take|put|change|set|bring) (?:it|that|this|them|the \w+) back\b|(?:remove|delete|drop|throw away) (?:that|it|this|what you)\b|go back to\b)"
    r"|^\W*(?:(?:等等|等一下|嗯|呃|哎|喂|那个)[，,。…]*)*(?:不(?:对|是(?:这样|的|这个|我)|行(?!不)|要这[样么个]|用这|需要这|好(?=[，。！]|$))|撤[销回]|回[退滚](?!不)|(?:改|换|恢复|退|调|还原)回|还原(?!度)|恢复(?:原|到|成|之前)|错了|别这[样么]|没必要这|我(?:不想要|不喜欢|不要|没让|没说)|谁让你|你(?:为什么|怎么)(?:要|把|改|删|又|自己)|不是让你)",
    2,
)
"""How a turn begins that takes back what an agent has just made."""
_FIRST = 200
"""Of a longer turn so many characters are its beginning."""

_FAILS_STILL = regex(
    r"\b(?:still|again)\b[^.!?;\n]{0,40}?\b(?:not|n't|fail(?:s|ed|ing)?|broken|wrong|errors?|crash\w*|hangs?|missing|see(?:ing)?|get(?:ting)?|getting|happen\w*|there|the same|\d{3})\b"
    r"|\b(?:errors?|fail(?:s|ed)?|crash\w*|[45]\d\d)\b[^.!?;\n]{0,20}\bagain\b"
    r"|\b(?:did(?:n't| not)|does(?:n't| not)) (?:help|work|fix|change|solve|do (?:it|anything)|seem to (?:work|help|do))\b|\b(?:not|isn't|never) (?:fixed|solved|resolved|working)\b|\b(?:same|identical) (?:error|issue|problem|result|thing|bug)\b|\bno (?:change|difference|effect|luck)\b"
    r"|(?:还是|依然|依旧|仍然?|又)(?:不(?:行|能|对|可以|好|起作用|生效|显示|工作)|没(?:有)?(?:用|效|效果|变|解决|反应|生效|显示|修复)|报错|出错|失败|有(?:问题|错|bug)|一样|这样|会?(?:出现|报)|\s?\d{3}\b)"
    r"|(?:不起作用|没(?:有)?(?:起作用|生效|解决|变化|效果|反应|修[好复])|不生效|同样的(?:错误|问题|报错))",
    2,
)
"""How a turn begins that says that what an agent has just mended is as broken as before."""


_TASK = regex(
    r"^\W*(?:(?:ok(?:ay)?|yes|yeah|sure|please|let'?s|now|then|just|can you|could you|go ahead and|i(?:'d| would) like (?:you )?to|we should|and|so|also|first)\b[\s,]*){0,4}"
    r"(?:add?ress|fix|handle|resolve|tackle|implement|apply|do|make|update|correct|clean|start|begin|work on|proceed|continue|add|write|remove|refactor|investigate|check|look (?:at|into)|solve|run|review|skip|ignore)\b"
    r"|^\W*(?:(?:好的?|那|请|帮我|你|先|就|再|把|来)[，,\s]*){0,4}(?:修复?|处理|解决|改(?![用成为到])|做|实现|优化|完成|执行|开始|继续|添加|检查)",
    2,
)
"""How an answer begins that sets an agent to work on what it named: "address 3"."""

_WORK = regex(
    r"^\W*(?:start(?:ing)? |begin |continue |go on )?(?:to )?(?:fix|implement|develop|design|creat|build|writ|deploy|run|test|check|review|continu|proceed|investigat|debug|refactor|document|generat|complet|finish|verify|tackl)(?:e|ing|y)?(?![\w-])(?! (?:only|without|instead|on|in|with|by)\b)"
    r"|^\W*(?:先|再|继续|开始|直接|從|从这|从上)?(?:把[^，。]{1,40}(?:写|寫|做|改|跑|补|补齐|完)[成出好完]?|(?:修复|修正|实现|編寫|编写|撰写|[写寫](?=[一个個出成完好测脚腳文])|创建|生成|运行|跑|測試|测试|检查|排查|重跑|继续|完成|完善|部署)(?!到|在|方案|方式))",
    2,
)
"""How an option begins that is a piece of work, and no way to do it."""


def is_task(answer: str) -> bool:
    """Whether an answer to an agent's list says what to work on, and not which way to go."""
    return _TASK.search(answer) is not None


def is_work(option: str) -> bool:
    """Whether an option that was offered only says what to work on next: "Fix the test suite"."""
    return _WORK.search(option) is not None


def settles(text: str, *, at_work: bool) -> bool:
    """Whether a clause settles something, and does not only wonder or tell what fails.

    Args:
        text: the clause.
        at_work: whether it is said to an agent at work, where most asks for a change.
    """
    words = _SETTLED if at_work else _SWITCH
    if words.search(text) is None or wonders(text) or tells_defect(text):
        return False
    return not traits_of(text).doubt


def wonders(text: str) -> bool:
    """Whether somebody has not made up their mind."""
    return _WONDERS.search(text) is not None


def refuses(text: str) -> bool:
    """Whether a turn begins by refusing what was just done or offered.

    "No worries" and "don't forget the tests" refuse nothing.
    """
    return _REFUSES.match(text.replace("’", "'")) is not None


def fails_still(text: str) -> bool:
    """Whether the first sentence of a turn says that what was just mended does not work."""
    first = next((text[start:end] for start, end in sentences(text[:_FIRST])), "")
    return _FAILS_STILL.search(first.replace("’", "'")) is not None


@keep_results(4096)
def leaves_open(text: str) -> bool:
    """Whether a clause says what is still to be done or decided."""
    return _OPEN.search(text) is not None
