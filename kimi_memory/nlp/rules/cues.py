"""Phrases that tell what a sentence does: decide, prefer, doubt, joke, or ask, and for what.

Every pattern is a plain alternation with bounded gaps, so that a long line costs no
more than its length. Sentences are matched in lower case.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from kimi_memory.nlp.basic.patterns import fold_case, rare, regex, simplify
from kimi_memory.nlp.rules import hypotheticals
from kimi_memory.nlp.rules.lasting import GOING_ON

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width


_SAID = (
    "recommended|suggested|advised|mentioned|said|told|explained|gave|given|listed|provided"
    "|described|proposed|shared|wrote|written|named|offered|drafted|generated|created"
    "|calculated|translated|summari[sz]ed|answered|replied|came up with|pointed out"
)
_SAY = (
    "recommend|suggest|advise|mention|say|tell|explain|give|list|provide|describe|propose|share"
    "|write|name|offer|draft|generate|create|calculate|translate|summari[sz]e|answer|reply"
    "|come up with|point out"
)
_ASSISTANT = "the (?:assistant|ai|chatbot|bot|model)"
# Only of the past: "can you recommend …?" asks for something new.
_REPLY = regex(
    rf"\b(?:you|{_ASSISTANT})(?:['’](?:d|ve))? (?:(?:had|have|also|just|once|previously|earlier"
    rf"|originally|first|last|kindly|specifically) ){{0,2}}(?:{_SAID})\b"
    rf"|\bdid (?:you|{_ASSISTANT}) (?:\w+ ){{0,1}}(?:{_SAY})\b"
    rf"|\b(?:had|have|has) (?:you|{_ASSISTANT}) (?:\w+ ){{0,1}}(?:{_SAID})\b"
    r"|\byour (?:\w+ )?(?:recommendation|suggestion|advice|answer|reply|response|explanation)s?\b"
    r"|(?:你|您|助手|助理)(?:之前|上次|当时|那时|曾经|曾|刚才|以前|先前|前面|给我|跟我|对我|向我|为我|给)*"
    r"(?:推荐|建议|说|提|告诉|解释|列|给|介绍|回答|讲|写|提供|分享)[^，。？?,!！]{0,4}?[过了的]"
    r"|(?:之前|上次|当时|那时|刚才|以前|先前)(?:你|您|助手|助理)(?:给我|跟我|对我|向我|为我|给)?"
    r"(?:推荐|建议|说|提|告诉|解释|列|介绍|回答|讲|写|提供|分享)"
    r"|(?:你|您|助手|助理)的(?:建议|推荐|回答|答复|回复|解释)",
    re.IGNORECASE,
)
# "Can you remind me …", 请问, 我想问一下: such words are in every question and would be looked for
# as if they were its subject.
_INTRODUCTION = regex(
    r"\b(?:(?:can|could|would|will) you )?(?:please )?(?:remind|tell) me\b(?: again)?"
    r"(?: (?:of|about))?|\bdo you (?:still )?(?:remember|recall)\b"
    r"|\bi(?:['’]m| am| was|['’]ve been| have been) (?:just )?(?:wondering|curious"
    r"|trying to (?:remember|recall)|thinking back|(?:going|looking) (?:back|through|over))"
    r"(?: (?:at|to|on|about|if|through|over))*"
    r"|\bi(?: wanted| want|['’]d like| would like) to (?:follow up|check|know|ask)\b"
    r"(?: (?:on|about|if))*"
    r"|\b(?:(?:in|from|during|on|to) )?(?:our|my) (?:previous|last|earlier|past)"
    r" (?:conversation|chat|discussion|session)s?\b(?: (?:about|on|where|regarding))?"
    r"|请问|(?:你|您)?(?:还记得|记不记得|是否记得)"
    r"|(?:(?:能不能|能否|可否|可以|能|请)(?:你|您)?|^|(?<=[，。,!！]))(?:再)?(?:提醒|告诉)(?:一下)?我(?:一下)?"
    r"|我想(?:知道|问一下|问问|问|确认一下|回顾一下)"
    r"|在?(?:我们|咱们)(?:之前|上次|以前|先前)的?(?:对话|聊天|谈话|讨论|交流)(?:中|里|时)?",
    re.IGNORECASE,
)

# "Which database does Maya use?" asks for the database; "I always use four spaces" is no answer.
_CARRIER = regex(
    r"(\b(?:what|which) (?:(?!(?:do|does|did|is|are|was|were|has|have)\b)[\w'’-]+ ){1,4}?"
    r"(?:do|does|did|is|are|has|have) (?:[\w'’-]+ ){1,3}?)(?:use|using|have|got|go with|work with)"
    r"(?=\W*$| (?:now|today|currently|at|for|these days)\b)",
    re.IGNORECASE,
)


def asks_for_reply(text: str) -> bool:
    """Whether a question asks what an assistant said, not what the person who asks did."""
    return _REPLY.search(simplify(text)) is not None


def without_introduction(text: str) -> str:
    """Return a question without what only introduces or carries it: "can you remind me", 请问."""
    return _CARRIER.sub(r"\1 ", _INTRODUCTION.sub(" ", simplify(text)))


_PREVIOUS = regex(
    r"\b(?:previous(?:ly)?|former(?:ly)?|originally|used to|prior (?:to|value|choice|state)"
    r"|(?:changed?|switch(?:ed)?|mov(?:ed?|ing)|migrat(?:ed?|ing)) (?:away )?from"
    r"|before (?:that|this|then|it|(?:the|our|my|we|i|they|he|she)\b[^?.!]{0,20}"
    r"\b(?:chang|switch|mov|migrat|replac)\w*)|(?:was|were|did|had)\b[^?.!]{1,40} before"
    r"|the old (?:one|value|state|address|number|name|plan|version|choice|setting|price|date))\b"
    r"|原来|原先|以前|之前|先前|从前|曾经|旧(?:的|值|状态|地址|方案|号码|名字|版本|价格|日期)"
    r"|从(?:什么|哪)[^，。？?]{0,8}[改换变转]|[改换变](?:之前|以前|前)|上一(?:个|版|次的)(?:值|状态|版本|方案|选择)?",
    re.IGNORECASE,
)


def asks_for_previous(text: str) -> bool:
    """Whether a question asks for what held before something changed."""
    return _PREVIOUS.search(without_introduction(text)) is not None


_SEVERAL = regex(
    r"^(?:in what ways|what are|what were|who are|who were|list|summari[sz]e)\b"
    r"|\bhow (?:many|often)\b|\bhow (?:has|have)\b|\bboth\b|\bin common\b"
    r"|\b(?:summary|overview) of\b|\bthe (?:order|sequence) in which\b|\bin what order\b"
    r"|哪些|哪几|分别|分別|几次|幾次|多少次|几个|幾個|列出|所有|[请請].{0,4}(?:总结|總結|概括)|^(?:总结|總結|概括)|先后顺序|先後順序"
    r"|都(?:[^，。？?,]{0,6})(?:什么|什麼|哪|谁|誰)",
    re.IGNORECASE,
)
_OVER_TIME = regex(
    r"\bin (?:which|what) (?:order|sequence)\b|\bthe (?:order|sequence) (?:in which|of)\b"
    r"|\bchronolog\w+|\btime ?line\b|\bover (?:time|the (?:weeks|months|years|course))\b"
    r"|\bfrom (?:start|beginning) to (?:end|finish|now)\b|\bstep by step so far\b"
    r"|\b(?:summari[sz]e|recap|retrace|review|walk me through)\b[^.?!]{0,40}\b(?:how|everything|all)\b"
    r"|\bhow (?:did|has|have|had) (?:\S+ ){1,6}?(?:chang|evolv|develop|progress|grow|gr[eo]w|unfold)\w*"
    r"|(?:按|依照|根据)(?:照)?(?:时间|先后|日期)(?:的)?(?:顺序|先后)?|时间线|先后顺序|(?:以|按)什么顺序"
    r"|来龙去脉|从头到尾|从开始到现在|一路(?:上|走来)|(?:怎么|如何|怎样)一步步|(?:怎么|如何|怎样)(?:变化|演变|发展)"
    r"|(?:变化|演变|发展|进展)(?:的)?过程|(?:总结|概括|回顾|梳理)[^。？?]{0,12}(?:怎么|如何|过程|经过|全部|所有|整个)",
    re.IGNORECASE,
)
# What has somebody done, in the main clause: one of "the studio that he has opened" is one.
_DONE = regex(
    r"^(?:(?:in|from|on|at|to|for|with) )?(?:what|which|where|who|whom)"
    r"(?: [\w'’+-]+){0,4}? (?:has|have) (?!been\b|to\b)(?P<rest>.*)",
    re.IGNORECASE,
)
_HABIT = regex(
    r"^what (?:do|does)(?: (?!(?:want|plan|hope|need|feel|tell|say|to)\b)[\w'’&-]+){1,4}?"
    r" (?:do|like|love|enjoy|prefer|hate|dislike)\b",
    re.IGNORECASE,
)
_CLAUSE = regex(r"\b(?:that|who|which|when|where|while)\b", re.IGNORECASE)
_KIND = regex(r"^(?:what|which) (?:kind|type|sort)s? of\b", re.IGNORECASE)
_PLURAL = regex(
    r"^(?:(?:in|from|on|at|to) )?(?:what|which)(?: [\w-]+){0,2}? (?P<noun>[a-z]{3,}s)\b(?!['’])",
    re.IGNORECASE,
)
# "Which class", "what status", "which series": an s that makes no plural.
_SINGULAR = regex(r"(?:ss|us|is)$|^(?:does|was|has|always|perhaps|besides|news|series|process)$")


def asks_for_several(text: str) -> bool:
    """Whether an answer has parts that may stand far apart."""
    question = text.strip()
    if _SEVERAL.search(question) or _KIND.search(question) or asks_over_time(question):
        return True
    if _HABIT.search(question) or _asks_what_was_done(question):
        return True
    found = _PLURAL.match(question)
    return found is not None and not _SINGULAR.search(found["noun"].lower())


def asks_over_time(text: str) -> bool:
    """Whether an answer runs over a whole conversation or life: in which order, how it changed."""
    return _OVER_TIME.search(simplify(text)) is not None


def _asks_what_was_done(question: str) -> bool:
    found = _DONE.match(question)
    # From the fourth character on: the question word itself may be "who" or "which".
    return found is not None and not _CLAUSE.search(question[4 : found.start("rest")])


_ASKS_BESIDE = regex(
    r"[，,](?:所以|因此)?我?(?:也|就|还|现在|这次|今天)?(?:特别|很)?[想希]望?再?(?:和你|跟你|听|知道|问|了解|请|让你|看看|评估|确认|验证|咨询|从更)[^。！？]{0,80}[。！]*$"
    r"|, (?:and |so )?(?:i(?:'d| would)? (?:like|love|want) (?:to (?:hear|know|ask|get|evaluate|understand|see|learn|check)|you to|your)|please (?:feel free|let me|tell|give|recommend|suggest)) [^.!?]{0,160}[.!]*$",
    2,
)
"""What a statement asks of its reader at its end: "I live in Ghent, so I'd like to know …"."""
_LEAST = 8
"""A statement before it has so many characters."""


def without_request(sentence: str) -> str:
    """Return a sentence without what it asks for behind what it states."""
    found = _ASKS_BESIDE.search(sentence, _LEAST)
    return sentence[: found.start()] if found else sentence


_QUOTED = regex(r"[“「『\"][^“”「」『』\"\n]{12,}[”」』\"]")


def _join_patterns(*parts: str) -> re.Pattern[str]:
    return rare("|".join(f"(?:{part})" for part in parts))


class Bar(StrEnum):
    """Why a sentence is not worth keeping."""

    SECRET = "secret"  # noqa: S105  the name of a reason, not a password
    QUESTION = "question"
    JOKE = "joke"
    HEARSAY = "hearsay"
    HEDGE = "hedge"
    HYPOTHETICAL = "hypothetical"
    FLEETING = "fleeting"
    FINISHED = "finished"
    PLAN = "plan"
    PAST = "past"


SECRET = _join_patterns(
    r"⟦redacted",
    r"(?:password|passwd|passphrase|pin code|api key|access key|secret key)s? ?(?:is|was|="
    r"|:)",
    r"(?:密码|口令|密钥|验证码|身份证号?|银行卡号?|令牌) ?(?:是|为|=|:|：)",
    r"\bkey (?:is|=|是)|\bkey ?是",
    r"\b(?:sk|pk|ghp|gho|xox[abp]|akia)[-_][a-z0-9_-]{8}",
    r"(?<!\d)1[3-9]\d{9}(?!\d)",
    r"\+\d{1,3}[ -]?\d{2,4}[ -]?\d{3}",
    r"[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]{2}",
    r"\d{15}",
)
# People leave the mark out in chats, so the form of a question counts as well.
QUESTION = _join_patterns(
    r"[?？][”」\"')）]?$",
    r"(?:吗|呢|么|对吧|是吧|好不好|行不行|要不要|是不是|能不能|可不可以)[。！!~]?$",
    r"(?:吗|对吧|是吧)[\s，,；]|是不是(?:少|多|有|在|要|可以|应该|因为|没|不)",
    r"^(?:要不要|是不是|能不能|可不可以|该不该|为什么|怎么)",
    r"^(?:should|could|would|can|shall|will|do|does|did|is|are|what|why|how|when|where|who"
    r"|which)"
    r" (?:we|you|i|it|they|the|this|that|there|about|if)\b(?!.{0,80}[.!]$)",
    r"^(?:can|could|would|will) you\b",
    r"\bi wonder\b|\bwondering\b",
)
JOKE = _join_patterns(
    r"\b(?:haha\w*|hehe|lol|lmao|rofl|jk)\b",
    r"\b(?:just|i'm|i am|only) (?:kidding|joking)\b",
    r"哈哈|嘿嘿|笑死|开个?玩笑|逗你玩|[😂🤣😜😹]",
)
HEARSAY = _join_patterns(
    r"\b(?!i\b)[a-z]+ (?:says?|said|told|tells|claims?|claimed|insists?)\b",
    r"\baccording to\b|\bapparently\b|\bi (?:read|heard|saw) (?:that|somewhere|a|an|the|in"
    r"|on)\b",
    r"\b(?:post|article|blog|tutorial|readme|docs?|guide|email|book|thread) i (?:read|saw"
    r"|found)\b",
    r"(?:[妈爸他她们姐妹哥弟人事友板师户公婆妇爷奶姨舅叔]|媳妇|太太|[儿女]子?|女儿|孩子)(?:们)?(?:都|也|总|老)?(?:说|讲|认为|觉得|建议)",
    r"(?:帖子|文章|网上|文档|教程|博客|新闻|邮件|官网|书)(?:里|上|中)?[^，。]{0,8}(?:说|写|讲|提到|建议)",
    r"据说|听说|传言|网传|有人说",
    r"ignore (?:all |any )?(?:the )?(?:previous|prior|above|earlier)",
    r"忽略(?:之前|以上|前面|先前)",
)
HEDGE = _join_patterns(
    r"\b(?:maybe|perhaps|possibly|probably|might|presumably|supposedly|hopefully|wish)\b",
    r"\bi (?:think|guess|suppose|suspect|imagine|believe|hope|assume|doubt)\b",
    r"\bnot (?:so |really |quite |entirely )?sure\b|\bno idea\b|\bwho knows\b|\bunsure\b",
    r"\bsome ?day\b|\bcould be\b|\bseems?\b|\bwould be (?:nice|cool|good|great|fun)\b",
    r"\bthinking (?:of|about)\b|\bconsidering\b|\bcould (?:add|also|try)\b|\bsort of\b"
    r"|\bkind of\b",
    r"可能|也许|或许|大概|说不定|说不准|没准|好像|似乎|估计|恐怕|不确定|不一定|没想好|没准儿",
    r"应该(?:是|会|能)|我猜|我想是|再说吧|再看吧|以后再|回头再|考虑一下|考虑考虑|(?<![主只需不])要不(?!断|停)|将来(?:要|会|再)",
    r"有空再|等等看|看情况|到时候再|希望",
)
HYPOTHETICAL = _join_patterns(
    r"^(?:and |but |so |well,? )?if\b|[,;] if\b|\b(?:even|only|what|as) if\b|\bif (?:we|i"
    r"|you|it|they)\b",
    r"\bsuppose\b|\bimagine\b|\bin theory\b|\bwere to\b|\bwould have\b|\bassuming\b"
    r"|\bunless\b",
    r"如果|除非|(?<![主只需])要是|假如|假设|假使|万一|倘若|的话|理论上|换作|要么",
)
FLEETING = _join_patterns(
    r"\b(?:right now|at the moment|just now|for now|for the moment|hang on|hold on|brb"
    r"|one sec)\b",
    r"\b(?:tonight|today|this (?:morning|afternoon|evening|time|week)|tomorrow|yesterday)\b",
    r"\bback in (?:a |an |\d)|\bin (?:a|\d+) (?:minute|min|sec|second|hour)"
    r"|\bthis one time\b",
    r"\b(?:it's|it is) (?:raining|snowing|sunny|hot|cold|late)\b|\btemporar(?:y|ily)\b",
    r"\b(?:is|are|am|feels?) (?:(?:all|still|already|so|quite|a (?:bit|little)) )*"
    r"(?:packed|sore|tired|sleepy|exhausted|hungry|soaked|asleep|awake)\b"
    r"|\b(?:is|are) (?:all )?in the (?:car|taxi|kitchen|shower|queue|lobby|next room)\b",
    r"今天(?!起)|今晚|今早|明天|昨天|昨晚|刚才|刚刚|马上|一会儿?|等我|稍等|这会儿|暂时|临时|这次先|待会",
    r"分钟后|小时后|正在|现在(?:正|下|在(?![^，。]{1,12}(?:上班|工作|任职|生活|定居)))|先这样|等一下|本周|这周|下周|回头见|眼下|目前",
)
FINISHED = _join_patterns(
    r"\b(?:is|are|was|got|all|now) (?:done|finished|complete[d]?|fixed|merged|deployed"
    r"|live)\b",
    r"\b(?:i|we|i've|we've|i have|we have) (?:just |already |now |also )?"
    r"(?:finished|fixed|pushed|merged|committed|completed|added|updated|removed"
    r"|implemented|renamed)\b",
    r"^(?:done|finished|fixed|merged|completed)\b",
    r"(?:写|做|改|修|搞|弄|测|建|配|传|发|合并|更新|处理|提交|部署|迁移)(?:完|好|定)了|搞定|完成了|已完成",
    r"已经[^，。]{0,8}(?:完|好|过)了|上线成功|已经[^，。]{0,6}(?:完成|修复|合并|提交|上线)",
)
# Not "let's use it", not 你决定吧; 固定, 约定 and 锁定 hold 定 and decide nothing.
DECISION = _join_patterns(
    r"\blet'?s (?:just )?(?:use|go with|stick with|stick to|call it|name it|adopt|choose"
    r"|pick(?! up\b)|settle on"
    r"|host|store|standardi[sz]e|switch|stay with|keep using|drop)\b(?! (?:it|this|that"
    r"|these|those|them|option|whatever|whichever|together|later|tomorrow|tonight|when|once"
    r"|what|which|where|who|how|between|something|someone|an? (?:time|date|day))\b)",
    r"\bwe(?:'ll| will|'re going to| are going to|'re) (?:be )?(?:us(?:e|ing)(?! (?:it|this|that"
    r"|the following)\b)|go with|going with|stick with"
    r"|host|store|switch|switching|standardi[sz]e|adopt|drop|dropping|moving to)\b",
    r"\b(?:we|i)(?:'ve| have)? (?:finally )?(?:decided|agreed|settled|opted)\b"
    r"(?: (?:today|yesterday|tonight|this \w+))? (?:to|on|for|that|against)\b",
    r"\bwe(?:'ve| have)? (?:chose|chosen|picked) (?!up\b)[a-z0-9]",
    r"\b(?:i'll|i will|i'm|we're) (?:go(?:ing)? with|stick(?:ing)? with)\b|\bdecision ?:"
    r"|\bwe're going with\b",
    r"\bfor (?!some)(?:(?!when |if )[a-z-]+,? ){1,4}(?:we|i) (?:(?:will |'ll )?use|chose|pick)\b"
    r"|\bwe use .{2,40} for\b",
    r"\bthe (?:default|final choice|choice) (?:is|will be)\b",
    r"\bended up (?:choosing|using|going with)\b|\bour (?:[a-z]+ )?"
    r"(?:release day|deploy day|default|standard|convention|policy|stack|database|framework"
    r"|main branch|budget) is\b",
    r"不(?:做|搞|上|支持)[^，。]{1,12}了[，,](?:只|就|改|先)",
    r"(?<!你)决定(?:了|用|把|以|改|采|选|不|在|放|先|将|是)|(?<!你)决定[：:]"
    r"|我们[^，。]{0,4}(?:敲定|选定|采用|选用|选了|选择)|拍板(?:了|定|用)|(?:商量|说|讲)好了[，,]|(?:那就|还是|统一|最终|最后|以后|全部)用",
    r"(?:决定|统一|改|最终)(?:采用|选用)|(?<![固稳约设锁])定(?:在|为|下来|成)|统一(?:成|放|走|改|压|存)|默认(?:就|都)?(?:用|是|走)",
    r"(?:^|[，；：]|我们|咱们|就|先|统一|改|决定|还是)用(?!它|这|那)[^，。]{1,20}(?:来做|做|当)(?!了|过|完|出|好|成|作)",
    r"(?:数据库|框架|前端|后端|测试|语言|缓存|队列|日志|部署|服务器|接口|协议|图标|样式|格式|存储|认证|登录|编辑器"
    r"|缩进|字体|字号|主题|图片|日期|脚本|支付|监控|文档|注释|变量名)"
    r"(?:这块|方面|这边|我们|咱们|就|先|还是|都|统一|最后|也){0,3}(?:用|选|走|放在|跑在)",
)
REVERSAL = _join_patterns(
    r"\bchanged? (?:my|our) minds?\b|\bon second thoughts?\b|\bscrap that\b",
    r"\b(?:we|let's|we'll|we're|we've)(?: have| will| are)? (?:now )?"
    r"(?:switch(?:ed|ing)?|mov(?:e|ed|ing)|migrat(?:e|ed|ing)) (?:from|over|away|to"
    r"|back)\b",
    r"\bi(?:'ll|'m|'ve| have| will)? (?:now )?switch(?:ed|ing)? (?:from|over|to|back)\b",
    r"\b(?:we|i) (?:no longer|don't|do not) (?:use|want|need)\b[^,.]{2,40}\bany ?more\b",
    r"\b(?:we|i) no longer (?:use|work|live|like|prefer)\b|\bin favou?r of\b",
    r"\b(?:we|i)(?:'ve|'ll| have| will)? (?:replaced?|ditch(?:ed)?|abandon(?:ed)?"
    r"|dropped(?! (?:in|by|off|out|you|them|it)\b))\b",
    r"\b(?:move|moves|moved|change|changes|shift|shifts) (?:from|to) .{2,40}\binstead of\b",
    r"改用|改成|改为|改到|改走|换成|换到|换用|不用.{1,20}了|不再(?:用|是|住|喜欢)|改主意|改变主意|推翻(?:之前|原来)",
    r"(?:以前|之前|原来|本来)(?:说|是|用|定|都)?.{1,16}(?:现在|可|但|改)",
)
INSTEAD = _join_patterns(
    r"\binstead of\b|\brather than\b|\bnot .{2,30} any ?more\b", r"而不是|不要再用|取代|代替"
)
_RULE_VERBS = (
    r"(?:deploy|commit|push|merge|use|run|test|write|ship|store|put|log|delete|edit|add"
    r"|release|hardcode"
    r"|hard-code|skip|review|rebase|squash|back up|format|check in|publish|force|include"
    r"|mock|bump|tag|pin)"
)
# "Always" and "never" before a verb of work only: "you never listen" is no rule.
RULE = _join_patterns(
    r"\b(?:going forward|from now on),? [a-z]"
    r"|\bplease (?:always|never) [a-z]|^(?:please )?(?:don't|do not) use (?!it|this|that|the\b)",
    r"\bplease (?:write|answer|reply|document|name|keep)\b[^.]{2,40} in (?:british |american )?"
    r"(?:english|chinese|german|french|spanish|japanese)\b",
    r"请(?:都|一律|统一)?用[^，。]{1,8}(?:写|回答|回复|命名|注释)|以后(?:所有|都(?!这么)|一律|统一|全部)",
    rf"(?:^|[:,;] ?|\band |\bplease |\brule is |\bto )(?:never|always) {_RULE_VERBS}\b",
    rf"\b(?:we|they|you|it)(?: must| should)? (?:never|always) (?:go into|go in"
    rf"|{_RULE_VERBS})\b",
    r"(?<!it )(?<!that )\bmust (?:not |never |always )?(?:stay in|go (?:in|through)|use"
    r"|pass|live in|never|include|come with|be (?:reviewed|signed"
    r"|tested|written|kept|stored|named|in))\b",
    r"\bno (?:deploys?|deployments?|releases?|merges?|meetings?|force[- ]push\w*"
    r"|pushes) (?:on|after|before|to)\b",
    r"\bunder no circumstances\b|\bis (?:strictly )?(?:forbidden|not allowed)\b|\b(?:rule"
    r"|policy) ?(?:is|:)",
    r"\bdon'?t (?:ever )?(?:deploy|release|ship|merge|push) (?:on|after|to|straight)\b",
    r"\b(?:commit messages?|branch names?|comments|variable names|secrets|credentials"
    r"|dates) "
    r"(?:are|must|should|stay|always)\b",
    r"(?:周[一二三四五六日天末]|星期[一二三四五六日天]|节假日|半夜|深夜|下班后|晚上)[^，。]{0,6}"
    r"(?:不要|不能|不准|不许|别|禁止|不)(?:再)?(?:发版|上线|部署|发布|合并|改)",
    r"(?<!我)必须(?!的|承认|走了|[^，。！]{0,4}[啊呀哒])|一律|禁止|严禁|(?<![拿说定])不准(?![确时备])|不许|绝对不|绝不能|务必|凡是|永远不(?:要|能)",
    r"千万(?:别|不要)|任何时候都|每次[^，。]{1,12}(?:都要|之?前都|必)|从今以后|规矩是|规则是",
)
# "I hate it when …" is a mood; 我妈喜欢 and 我喜欢你 are about somebody else.
PREFERENCE = _join_patterns(
    r"\bi'd rather (?:you|have|use|not|keep|work)\b|\bi like my [a-z]+ [a-z]+"
    r"|^no (?!it |that |this |i |we |you )[a-z -]{3,30},? please\b",
    r"^(?:请)?(?:别|不要)(?:再)?用(?!这|那|它|他|她)[^，。]{1,12}(?:[，。]|$)|我每(?:天|周.?|晚)[^，。]{0,6}固定",
    r"\bi(?:'d| would)? (?:really |much |generally |strongly |still |usually "
    r"|always )?prefer\b",
    r"\bi (?:always|usually|normally|only|mostly|never) (?:use|write|work|code|indent"
    r"|commit|read|run|name"
    r"|format|review|drink|eat|listen)\b",
    r"\bi (?:really )?(?:hate|dislike|can't stand|cannot stand|don't like|do not like)\b"
    r"(?! (?:that|it|this|when|how|to (?:say|admit|ask)))",
    r"\bmy (?:favou?rite|preferred|usual|go-to) (?:[a-z-]+ ){1,3}(?:is|are)\b"
    r"|\bmy (?:editor|shell|terminal|keyboard|browser) is\b",
    r"\bi(?:'m| am) (?:a fan of|used to (?:using|writing|working)|allergic to pop)",
    r"我(?![妈爸女男老哥姐弟妹朋同])(?:们)?[^，。、你他她]{0,8}(?:不喜欢|喜欢(?!你|她|他|上)|偏好|偏爱|讨厌|习惯|受不了|更愿意|一直用|只用|爱用|倾向于?)(?!上了?你|吗)",
    r"我[^，。]{0,2}(?:一般|通常|只在|基本上?)[^，。]{0,14}(?:才|写|用|工作|干活|有空|开会)",
)
FAILURE = _join_patterns(
    r"\b(?:fail(?:s|ed|ure)?|broke|crash(?:ed|es)?|corrupt(?:ed)?|outage|went down"
    r"|timed out|leaked"
    r"|deadlock(?:ed)?|sent twice|went out twice|bad news|data loss|wiped|lost \d+)\b",
    r"失败|崩了|崩溃|挂了|报错|丢了|丢失|出事|出问题|出故障|卡死|超时|扫不出|打不开|误删|宕机|死锁|发了两遍|乱码",
)
CAUSE = _join_patterns(
    r"\bbecause\b|\bdue to\b|\bcaused by\b|\b(?:root )?cause (?:is|was)\b"
    r"|\bthe reason (?:is|was)\b"
    r"|\bturn(?:s|ed) out\b|, since\b",
    r"因为|由于|原因是|原因找到|导致|根源|罪魁祸首|是.{2,20}造成的|毕竟",
)
REASON_OPENS = _join_patterns(
    r"^(?:that's |it's |this is |mainly |simply )?because\b|^the reason\b"
    r"|^(?:main )?reason:",
    r"^(?:主要)?(?:是)?因为|^理由|^原因|^毕竟|^由于",
)
REASON_INSIDE = regex(
    r"(?:[,，;；] ?(?:mainly |simply )?|\b|是)(?:because|since (?=[a-z])|因为|毕竟|由于)[:：]? ?"
)
LESSON = _join_patterns(
    r"\blessons?(?: learned| learnt)?\b ?(?:is|was|:|here|for|-|–)|\bthe takeaway (?:is|was)\b"
    r"|\btakeaway:"
    r"|\bnever again\b",
    r"教训|吃一堑|长记性|长个?记性|反思[：:]|经验是|血泪",
)
WEAK_LESSON = _join_patterns(
    r"^(?:[a-z]{2,6}[,.!] )?next time,? (?:we|i|use|run|check|test|do|make|back|start|add"
    r"|let's|write)\b",
    r"\b(?:we|i) should(?:'ve| have) (?:checked|tested|run|used|written|backed|asked|read"
    r"|added|made)\b",
    r"\bin hindsight\b|\b(?:i|we)(?:'ve| have)? learned (?:that|to|not|never)\b",
    r"下次(?:要|得|先|记得|必须|一定|别|不)|以后(?:要|得|必须|记得|一定|再也不|不能|千万)|早知道",
)
SUCCESS = _join_patterns(
    r"\bwork(?:ed|s) (?:really |very |so |quite |out |surprisingly )?(?:well|great|nicely"
    r"|perfectly|wonders)\b",
    r"\bpaid off\b|\b(?:is|was) what worked\b|\bdid the trick\b|\bsaved (?:us|me) (?:hours"
    r"|days|a lot)\b",
    r"(?:很|特别|非常|真|挺|太)(?:管用|好用|有效|顺手|好使)|效果(?:很|特别|非常|真|挺)?(?:好|不错)|奏效|行得通",
)
REUSE = _join_patterns(
    r"\bkeep (?:doing|using)\b|\bagain\b|\bnext time\b|\bevery\b|\bfrom now on\b"
    r"|\bapproach\b|\btrick\b"
    r"|\bpattern\b|\bpractice\b|\bhabit\b|\bthat way\b|\btechnique\b|\bmethod\b"
    r"|\bworkflow\b",
    r"以后|下次|继续|每次|都这么|做法|办法|方法|节奏|习惯|模式|套路|流程|下个项目",
)
FINDING = _join_patterns(
    r"\bi(?:'ve| have)? (?:found out|noticed|discovered|figured out|realized|realised"
    r"|measured) that\b",
    r"\bi (?:found (?:out|that)|measured)\b|(?:^|[,;:–-] ?)(?:it )?turn(?:s|ed) out\b"
    r"|\bwe (?:found (?:out|that)|measured)\b"
    r"|\bbenchmark(?:s|ed)? (?:show|say|gave|of|:)|\bthe (?:numbers|statistics|logs"
    r"|figures) show\b",
    r"我(?:们)?(?:还)?发现(?!你|他|她)|(?:后来|最后|才|测试中)发现(?=[^，。]{3,})|实测|测下来|测出来|统计(?:下来|显示|了)|数据显示|原来(?:是|不)|结果显示",
)
MEASURED = _join_patterns(
    r"\bmeasured\b|\btakes?\b|\btook\b|\baverag(?:e|es|ed|ing)\b|\bdropped\b|\bfaster\b"
    r"|\bslower\b"
    r"|\bmoved all\b|\bbenchmark",
    r"实测|测下来|测得|用时|耗时|平均|降到|降低|快了|慢了|提升到|减少了",
)
FIGURE = regex(
    r"(?<![\w.#/])\d[\d,.]* ?(?:ms|milliseconds?|seconds?|s\b|minutes?|hours?|mb\b|gb\b"
    r"|kb\b|%|x\b|times\b"
    r"|fps|qps|percent|毫秒|秒|分钟|小时|兆|倍|条|次|字节|%|人)"
)
PROPOSAL = _join_patterns(
    r"\bi(?:'d| would)? (?:suggest|propose|recommend)\b|\bmy (?:suggestion|proposal"
    r"|recommendation) is\b",
    r"我建议|我的建议是|我提议|建议(?:我们|咱们|统一|用|把|采用)|我推荐|方案是",
)
_OFFER = regex(
    r"^(?:i(?:'d| would)? (?:suggest|propose|recommend) (?:that )?|我(?:建议|提议|推荐)[：:，,]?)",
    re.IGNORECASE,
)
ASSENT = _join_patterns(
    r"^(?:ok|okay|yes|yep|yeah|sure|agreed|perfect|great|fine|deal|absolutely|definitely"
    r"|right|good)\b"
    r"[,.! ]*(?:$|let's do|do (?:it|that)|go ahead|sounds|idea|works|that works|agreed"
    r"|please|go for)",
    r"^(?:sounds (?:good|great|right|perfect)|good idea|great idea|do it|go ahead"
    r"|let's do (?:it|that)"
    r"|works for me|go for it|makes sense,? (?:do|let's|go))",
    r"^(?:嗯|哦|行|好)?[，,]?(?:好的?|行|可以|没问题|同意|赞成|成|中)[，,！!。 ]*"
    r"(?:$|就|那就|按|听|照|这么|没问题|同意)",
    r"^(?:嗯[，,])?(?:就这样|就这么(?:办|定|做)|听你的|按你说的|照你说的|没问题)",
)
DISSENT = _join_patterns(
    r"\bbut\b|\bexcept\b|\bhowever\b|\bnot\b|\bwait\b", r"但|不过|除了|等等|先别|不行|不要"
)
EMPHASIS = _join_patterns(
    r"\b(?:important|never|always|must|remember|crucial|critical|essential|absolutely"
    r"|no exceptions)\b",
    r"重要|关键|务必|一定|千万|记住|必须|绝对|绝不|一律|切记",
)
FILLER = regex(
    r"^(?:(?:嗯+|哦|噢|啊|唉|诶|哇|对了|那个|好吧|好的?|行|另外|顺便(?:说一?下|提一?句)?|其实"
    r"|还有(?:一条规矩)?|总之|话说|想好了"
    r"|漂亮|太好了|不过|复盘|演练完了|原因(?:找到|查到|查清)了?|教训(?:是|记下来)?"
    r"|吃一堑长一智|结论|经验是|记住)[，,！!。：:、 ]+"
    r"|(?:well|ok|okay|so|oh|ah|um|uh|hmm?|right|actually|anyway|btw|by the way|also|and"
    r"|ugh|yes|yeah"
    r"|sure|oops|found it|it did|guess what|thanks|thank you|sure thing|wow|look|hey|but"
    r"|great|good|one more rule|one more thing|another thing|lesson learned)"
    r"(?:[,!.:…–-]+ +)|\d{1,2}[.、](?!\d)\s*)",
    re.IGNORECASE,
)
ADVICE = _join_patterns(
    r"\b(?:could|should|may want to|you can|recommend)\b",
    r"建议|可以|不妨|不如|推荐|你(?:们)?(?:需要|应该|先|也|就|的)|您",
)
"""Advice to somebody else decides nothing."""
NEGATION = _join_patterns(
    r"\b(?:not|never|no|none|without|cannot|stop|avoid|nor)\b|n't\b",
    r"不(?!过|仅|但|同|错|断|止|管|少)|没(?!问题|错|事)|别(?!的|人|名)|禁止|严禁|勿|非(?!常)",
)

_BARS: tuple[tuple[Bar, re.Pattern[str]], ...] = (
    (Bar.SECRET, SECRET),
    (Bar.QUESTION, QUESTION),
    (Bar.JOKE, JOKE),
    (Bar.HEARSAY, HEARSAY),
    (Bar.HEDGE, HEDGE),
    (Bar.HYPOTHETICAL, HYPOTHETICAL),
    (Bar.FLEETING, FLEETING),
    (Bar.FLEETING, GOING_ON),
    (Bar.FINISHED, FINISHED),
    (Bar.PLAN, hypotheticals.PLAN),
    (Bar.PLAN, hypotheticals.REFUSAL),
    (Bar.HEARSAY, hypotheticals.OTHERS),
)


@lru_cache(maxsize=4096)
def bars_of(sentence: str) -> frozenset[Bar]:
    """Return every reason not to keep a sentence; the caller knows which apply."""
    low = hypotheticals.DECIDED_ON.sub("", hypotheticals.ANYONE.sub("", fold_case(sentence), 1))
    bars = {bar for bar, pattern in _BARS if pattern.search(low)}
    return frozenset(bars | {Bar.PAST} if hypotheticals.is_past(low) else bars)


def own_words(sentence: str) -> str:
    """Return a folded sentence with longer quotations blanked: they are others' words."""
    return _QUOTED.sub(lambda found: " " * len(found[0]), fold_case(sentence))


NEEDS_LEAD = _join_patterns(
    r"^\W*(?i:instead|otherwise|these|those|that|this|it|they|he|she)\b",
    r"^(?:算了|那个|这个|它)|^(?:最好)?(?:能|可以|能够)[^，。？！]{2,40}的[。！]?$",
)
"""A sentence that begins so says nothing without the one before it."""


def clean(sentence: str) -> str:
    """Return a sentence without the words people warm up with, and what it asks beside."""
    text = without_request(sentence.strip())
    for _ in range(3):
        shorter = FILLER.sub("", text, count=1).lstrip()
        if len(shorter) < 4 or shorter == text:
            break
        text = shorter
    return text[:1].upper() + text[1:] if text[:1].isascii() and text != sentence else text


def offered(sentence: str) -> str:
    """Return what a proposal proposes."""
    rest = _OFFER.sub("", clean(sentence).replace("’", "'"), count=1)
    return rest[:1].upper() + rest[1:] if rest[:1].isascii() else rest


def split_reason(sentence: str) -> tuple[str, str]:
    """Return a sentence's claim and, where it says because, its reason."""
    found = REASON_INSIDE.search(fold_case(sentence))
    # "Because it is fast" is all reason, without a claim before it.
    if found is None or found.start() < 3:
        return sentence, ""
    return sentence[: found.start()].rstrip(" ,，"), sentence[found.end() :].rstrip(" .。！!")
