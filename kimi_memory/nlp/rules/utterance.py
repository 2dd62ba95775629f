"""Utterances: the clauses of a spoken turn, and what each of them does.

A sentence may state something and ask for something in one breath ("I prefer Trello for
this, can you help me set it up?"), so acts are distinguished clause by clause. Each act is
recognised by its form (an auxiliary before its subject, an imperative, a particle), not
by what it is about.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import keep_results, regex, restore_apostrophes
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.rules.constraints import constrains, without_tag


class Act(StrEnum):
    """What a clause does."""

    STATEMENT = "statement"
    QUESTION = "question"
    REQUEST = "request"
    """Something to be done once, now."""
    ORDER = "order"
    """Something to be done from now on."""
    REMARK = "remark"
    """A greeting, thanks, a laugh, a nod: nothing is said of anything."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a turn that does one thing."""

    start: int
    end: int
    text: str
    act: Act


# Clauses end at a comma or a dash only where what follows begins an act of its own.
_BORDER = regex(
    r"(?<![\d\w])?[,;，；]\s*|(?<=[\u3400-\u9fff]) +(?=[\u3400-\u9fff])|\s[–—-]{1,2}\s+|\.{3}\s*|…+\s*|——"
)
# "Never access, print or copy it": verbs with one object in common stay together.
_LISTS_VERBS = regex(
    r"(?i)\b(?:never|not|don['’]t|must|should|shall|cannot|can['’]t|may|to) (?:ever |only |also )?[a-z]{2,20},\s*(?!(?:can|could|would|will|what|how|why|is|are|do|does|did)\b)"
)
_STOP = regex(
    r"(?<=[a-z0-9)\]\"'’%])(?<!\b[a-z]\.[a-z])(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bca)(?<!\bno)[.!?]+\s+(?=[a-z])"
)
_LEAD = r"(?:(?:and|but|so|or|ok(?:ay)?|hm+|hey|hi|oh|ah|well|now|then|also|btw|by the way|right|yes|yeah|yep|no|anyway|actually|please|pls|just|maybe|first|lastly|finally|next|great|perfect|thanks|cool|good|alright)\b[,:!.]?\s++){0,4}"
_WH = r"(?:what|how|why|when|where|who|whom|which|whose)"
_AUX = r"(?:is|are|was|were|am|do|does|did|can|could|should|would|will|shall|may|might|has|have|had|isn't|aren't|wasn't|don't|doesn't|didn't|can't|couldn't|shouldn't|wouldn't|won't|hasn't|haven't)"
_SUBJECT = r"(?:i|you|we|they|he|she|it|this|that|these|those|there|the|my|your|our|his|her|its|their|anyone|anybody|somebody|someone|any|a|an)"
_QUESTION_EN = regex(
    rf"^{_LEAD}(?:"
    rf"{_WH}(?:'s|'re|'d|'ll)?\s+(?:{_AUX}|about|else|if|to|kind|kinds|sort|type|time|size|many|much|long|far|often|soon|big|old|come|the (?:hell|heck)|exactly)\b"
    rf"|{_WH}'s\b|how\s+(?:\w+\s+){{1,2}}(?:is|are|was|were|do|does|did|can|should|would|will)\b"
    rf"|(?:what|which)\s+(?!i\b|we\b|you\b|they\b|he\b|she\b|it\b|the\b|my\b)(?:\w+\s+){{1,3}}{_AUX}\s+{_SUBJECT}\b"
    rf"|{_AUX}\s+{_SUBJECT}\b(?! a (?:good|nice|great))"
    rf"|{_AUX}\s+(?:https?://\S+|`[^`\n]{{1,60}}`|@\S+)\s"
    r"|(?:any|got any)\s+(?:\w+\s+){0,3}(?:ideas?|tips?|advice|suggestions?|recommendations?|thoughts|chance|questions?|news|experience)\b"
    r"|(?:is|was)\s+[\w.=%-]+\s+(?:a |the |really |still )?\w+$"
    r"|(?:is|are|does|did) (?!fine|great|good|nice|not|ok|okay|cool|awesome|what|why|how|best|worth)[\w'-]+ [\w'-]+ "
    r"|.*\b(?:isn't|aren't|doesn't|don't|didn't|wasn't|won't|can't|haven't|hasn't) (?:it|he|she|they|we|you|that)\W*$"
    r"|(?:i )?wonder(?:ing)?\b|(?:i'm |i am )?(?:not sure|unsure|confused|curious)\s+(?:how|what|which|why|whether|if|about)\b"
    rf"|(?:i )?(?:don't|do not) (?:know|understand|get) (?:{_WH}|if)\b|(?:guess|remember) (?:what|when|how)\b"
    r"|(?:anything|what's) (?:new|else)\b"
    rf"|(?:[a-z]+ ){{0,2}}question(?:,? (?!is\b|was\b)(?:{_AUX}|{_WH})\b| ?: ?))"
)
# 什么, 怎么, 那么 and 多么 end in 么 and are no questions by that. 什么都可以 and 怎么也不行 state
# something.
_QUESTION_ZH = regex(
    r"(?:吗|嘛|么|不|没有|没|呢|吧)[?？]|(?<!什)(?<!怎)(?<!那)(?<!这)(?<!多)(?:吗|么)[。!！~～]*$|呢[。!！~～]*$|(?:(?<!就)[对是]|(?:可以|能|应该)[^，。]{0,8})吧[。！!~～]*$"
    r"|怎么(?!都|也)|为什么|为啥|咋(?:办|样|弄|整|说|回事)?|(?<!不管)(?<!无论)如何|多少(?!都|也|有些)|几(?:个|天|点|号|次|岁|块|米|年|月|种|家|层)(?=[^，。]{0,6}[?？]|[^，。]{0,4}(?:合适|够|好))|(?:用|要|选|买|需|差|等|放|得)几[\u3400-\u9fff](?!了|前|后|次)"
    r"|是[^，。是]{1,10}还是[^，。]{1,10}$|哪(?:个|些|里|儿|家|种|款|天|位|一)(?![^，。]{0,4}(?:都|也))|什么时候|(?<!没)(?<!没有)(?<!不)[做用选吃买学看写](?:些|点)?什么$|什么(?:意思|情况|区别|原因|东西|办法|样)|(?:注意|需要|有|要|该|算|是)(?:些|点)?(?:什么|啥)|(?:叫|姓)(?:什么|啥|谁)[^，。]{0,4}[。！]?$"
    r"|(?:要不要|能不能|可不可以|可以不|是不是|有没有|该不该|行不行|好不好|会不会|用不用|值不值|对不对|得不得|够不够|靠不靠谱|是否|还是先)(?![^，。]{0,6}都)|(?:记得|知道)[^，。]{1,20}不$"
)
_CONTINUES = regex(
    rf"(?:(?:who|which|whose|whom|where)\b(?!.*\b(?:{_AUX}) {_SUBJECT}\W*$)|(?:is|are|was|were|does|did|has|have|had)\s(?!{_SUBJECT}\b))"
)
"""How a part of a sentence begins that says more of what stands before it."""
_MARK = regex(r"[?？][”’\"'」』)）\]]*\s*$")

_DO = r"(?:help|write|give|show|tell|list|explain|draft|make|find|check|suggest|recommend|remind|summari[sz]e|translate|compare|rewrite|create|generate|run|look|walk|let me know|ask me|put|add|add?ress|update|fix|implement|try|go(?! with (?!it\b|that\b|this\b))|take|proceed|continue|commit|push|delete|remove|rename|change|move|set|build|test|review|read|open|start|stop|plan|describe|convert|calculate|compute|plot|turn|edit|shorten|double[- ]check|refactor|merge|revert|undo|redo|install|deploy|print|bump|use|include|send|search|think|consider|analy[sz]e|provide|outline|design|split|verify|investigate|figure|see|elaborate|expand|craft|compose|rephrase|reword|produce|choose|repeat|simulate|act (?:as|like)|link me|do(?! (?:i|you|we|they)\b))"
_REQUEST_EN = regex(
    rf"^{_LEAD}(?:(?:can|could|would|will) (?:you|u)\b|(?:i(?:'d| would) (?:like|love|appreciate)|i (?:want|need)) (?:you (?:to )?|some |your |help|advice|a hand)"
    rf"|(?:i|we)(?: also| now| still)? (?:need|want) (?:an?|another|some|\d+) (?:[\w'-]+ ){{0,4}}(?:campaigns?|outlines?|posts?|scripts?|e-?mails?|articles?|prompts?|captions?|taglines?|slogans?|blogs?|summar(?:y|ies)|titles?|headlines?|tweets?|lists?|paragraphs?|poems?|songs?|essays?|letters?|descriptions?|bios?|slides?|pitch(?:es)?|ads?|newsletters?|press releases?|one[- ]pagers?)\b"
    rf"|i(?:'m| am) (?:hoping|looking for|trying to (?:figure|understand|decide))"
    rf"|let'?s (?:see|try|test|start|begin|continue|look|do|go(?! (?:with|for) (?!it\b|that\b|this\b))|plan|fix|talk|move|walk|discuss|review|check)\b"
    rf"|(?:help|walk|show|tell|give|remind|teach|ask|let) me\b|{_DO}\b(?!\s*(?:$|[,.:;!]|of\b|and\b|s\b|(?:\w+ )?(?:is|are|was|were|will|has|have|had|stands?|goes|went|became|changed|moved)\b)))"
)
# 给我妈打电话 is for one's mother; 你每天提醒我 is an order for always.
_REQUEST_ZH = regex(
    r"你(?!每|以后)[^，。每]{0,8}(?:提醒|叫醒|通知|告诉)我|^(?:那|好|嗯|行|对了|另外|顺便|然后|再|先|请|麻烦|要不|还有)*(?:帮(?:我|忙)|麻烦|请(?:你|帮|给|教|问)?|(?:你)?给我(?!妈|爸|老|女|儿|家|们)|你(?:先|再|来|就|可以|能|试试|去)*(?:帮我|讲|说|读|列|写|改|算|看|查|做|解释|推荐|总结|翻译|介绍|分析|对比|整理|评|想)|(?:讲讲|说说|看看|列(?:个|一|出)|写(?:个|一|封|段)|改(?:一下|成|得)|算(?:一下|算)|查(?:一下|查)|整理|总结|翻译|推荐|解释|介绍|分析))"
)

_MAKE = r"(?:add|adjust|build|bump|change|clean|convert|create|decrease|delete|deploy|disable|drop|enable|extend|fix|generate|get rid|hide|implement|include|increase|install|integrate|make|merge|move|put|rebuild|reduce|refactor|remove|rename|replace|restore|revert|rewrite|set|simplify|split|swap|switch|turn|update|upgrade|use|wire|write)"
_ASKED_TO_DO = regex(
    rf"^{_LEAD}(?:(?:can|could|would|will) (?:you|u|we)|should we not|why (?:don't|not) (?:we|you)) (?:also |just |maybe |please |then |instead |now ){{0,2}}{_MAKE}\b"
    r"|^(?:那|请|我们)?(?:能不能|可不可以|可以|能否|是否可以|可否)(?:你|再|先|也|直接|顺便|帮我|给我){0,3}(?:把|将|加|改|换|做|删|写|添加|增加|实现|去掉|合并|拆|移)"
)
"""A question by its form that asks an agent at work to do something."""
_PHRASE = regex(
    rf"^{_LEAD}(?:for|with|in|on|at|under|inside|regarding|concerning|about|as for|instead of|as to|next to|above|below)\s(?!example\b|instance\b)[^,;]{{2,120}}[,;]\s*"
)
_VERB = regex(
    rf"\b(?:{_AUX}|i|i'm|i've|we|we're|they|he|she|it|it's|there|who|which|that|if|when|because|got|get|want|need|have)\b"
)
"""What a phrase lacks that says something by itself."""

_HELD = r"(?:underst(?:and|ant)|see|get|have|need|want|like|love|care|feel|believe|agree|remember|recall|recogni[sz]e|expect|seem|work|exist|matter|belong|mean|own|hear|find)"
# "Don't worry", "don't see why", "never mind" are no orders. "Always" in the middle needs an agent's verb.
_ORDER_EN = regex(
    rf"^{_LEAD}(?:(?:always|never(?! mind)|by default|at all times|for (?:all )?future),? (?!to\b|have\b|here\b|there\b|up for\b|happy\b|good\b|nice\b|great\b|full\b|fun\b|been\b|had\b|was\b|were\b|got\b|seen\b|heard\b|really\b|knew\b|thought\b|i(?!'d like you| want you)\b|we\b|he\b|she\b|they\b|it\b|there\b|my\b)[a-z]"
    rf"|(?:please )?(?:don'?t|do not) (?:ever |even )?(?![a-z]+ (?:it|this|that|them|him|her)\b(?!.*\b(?:again|ever|any ?more|any)\b))(?!worry\b|know\b|think\b|forget to\b|be\b|mind\b|get me wrong|let\b|wait\b|miss\b|give up|stop\b|hesitate\b|underestimate\b|quit\b|{_HELD}\b)[a-z]+\b"
    rf"|no (?:more )?(?!{_SUBJECT}\b)[a-z][a-z -]{{2,30}},? (?:please|ever|anymore|any more)\b"
    rf"|i(?:'d| would)? (?:want|like|need|prefer|expect) you to (?:always|never)\b)"
    r"|\bi(?:'d| would)? (?:want|like|need|prefer|expect) [^,;.]{2,60} always(?=\s*[:,])"
    rf"|(?:[,;:(] ?|\b(?:and|so|please|should|must|you) |\b(?:must|should)\b[^.!?]{{1,80}} )(?:always|never) {_DO}\b|\balways [a-z]+ [^.!?]{{1,60}}, never [a-z]|,? always\W*$|\bmake (?:that|this|it) (?:a|the|your) (?:habit|rule|default)\b"
    r"|^(?!(?:i|we|he|she|they|it|you|there|and|forever)\b).*, always\W*$"
    # "When I ask about X, include Y": an order that waits for its case.
    rf"|^{_LEAD}(?:if|when) (?:i|we)(?: ever)? (?:ask|say|tell|request|mention|send|paste|share|give|show|write|type|talk|discuss|upload|bring)\b[^;.]{{2,80}}, (?:then |please |just ){{0,2}}(?:always|never|don'?t|do not|{_DO})\b(?! of\b)"
    rf"|^{_LEAD}(?:git )?{_DO}\b[^.!?;]{{0,80}}\b(?:after|before|with|at the end of|at the start of) (?:each|every) (?:\w+ ){{0,2}}(?:(?:sub-?)?tasks?|steps?|changes?|commits?|edits?|sessions?|features?|fix(?:es)?|phases?|answers?|repl(?:y|ies)|implementations?|iterations?)\b"
    # "Flag nuts in everything you suggest", "keep your answers short", "stop apologising"
    rf"|\b(?:any|every|all)(?:thing)?\b[^,;.]{{0,40}}\byou(?:'ll)? (?:suggest|write|give|send|recommend|make|create|produce|generate|show|propose|draft)\b(?!.*\b(?:will|would|is|are|was|were|has|have|do|does)\b)"
    rf"|^{_LEAD}(?:keep|make) (?:your|the|all(?: your)?) (?:answers?|repl(?:y|ies)|responses?|explanations?|messages?|summar(?:y|ies)|tone)\b|^{_LEAD}(?:stop|quit) (?!being\b|by\b|over\b)[a-z]+ing\b"
    # "Unless I say so" holds until then; "for Go stuff: …" whenever it is about Go.
    rf"|^{_LEAD}(?:please )?(?:don'?t|do not|never|wait|hold off|stop|keep|leave|no|only|just|{_DO})\b[^.!?]{{0,160}}\b(?:unless|until|before) (?:i|we)(?: have|'ve)? (?:explicitly |specifically )?(?:say|said|ask|tell|told|request|approv|confirm|agree)\w*|^{_LEAD}(?:if|when(?:ever)?) (?:anything|something|you)(?: is| are|'s|'re) (?:ever )?(?:unclear|unsure|not sure|not clear|in doubt|uncertain|ambiguous|missing)\b[^.!?]{{0,60}}\b(?:ask|tell|stop|check with)\b|^{_LEAD}for (?:[\w+#.-]+ ){{1,3}}(?:stuff|questions?|things|topics|help|tasks)[,:]? (?:please |just )*(?:{_DO}|give|keep|use|don't|do not)\b"
    rf"|\byou (?:don't|do not) (?:need|have) to \b[^,;.]{{2,60}}\b(?:every|each|any ?more|all the time)\b|^{_LEAD}no need to \b[^,;.]{{2,60}}\b(?:every|each|any ?more|all the time)\b"
)
_FROM_NOW = regex(r"\b(?:from now on|from here on|going forward|henceforth|in (?:the )?future)\b,?")
_EACH_TIME = regex(r"\b(?:every time|each time|whenever)\b,?|^\W*any ?time\b,?")
_SUBORDINATES = (
    *("that", "which", "who", "because", "coz", "since", "so", "when", "if", "where", "while"),
)
_JOINT = regex(rf"[,;:.!?()]|\b(?:but|please|then|otherwise|or else|{'|'.join(_SUBORDINATES)})\b")
"""Where a part of a sentence begins that may have its own verb."""
_DIRECTS = regex(
    rf"^\W*{_LEAD}(?:(?:always|never|don'?t|do not|make|keep|stop|{_DO})\b|(?:i(?: want|'d like| would like| expect| prefer|'d prefer)(?! to (?!see\b|know\b|review\b|check\b|approve\b|confirm\b|hear\b|be\b))|you (?:should|must|(?:need|have|are) to)\b|(?:i think )?we (?:should|must)\b|let's|can you|could you|will you|would you)\b)"
)
"""A part that tells the agent what to do."""
_OWNED = regex(rf"^\W*{_LEAD}(?:my|his|her|their)\b")
"""A part that begins so tells of somebody."""
_LEAD_ONLY = regex(rf"^\W*{_LEAD}")
_CASE = regex(r"\W*(?:when|whenever|if) (?:i|we|you)\b")
_OURS = regex(
    rf"^\W*{_LEAD}(?:we|we'll|we will|we gonna|we are going to)\b(?! (?:may|might|could|would|can)\b)"
)
"""What a team does from now on."""
_THEN_DO = regex(
    rf"^ ?(?:i|we|you) \w+(?: and \w+)?\b.*\b(?:please|always|never|don'?t|do not|make sure|{_DO})\b"
)
"""A case without a comma: "every time you finish a task run the tests"."""
_SIGNS = " \t\n-–—*\"'"
# "so that we need no restart in the future": why, or what may come, not how to act.
_NOT_EVER = regex(
    r"\b(?:so(?: that)?,? (?:we|i|it|they|you|that|the)|in case|such that|because|to (?:make sure|ensure|avoid)|in order to|if (?:we|i)|might|may|could|would|maybe|probably|we(?:'ll| will)|it(?:'ll| will))\b"
    r"[^.;!?]{0,160}\b(?:going forward|in (?:the )?future)\b|\b(?:yet|for now|right now|this time|at this point|for the moment|until|just now)(?:,? please)?\W*$"
)
_ORDER_ASKED = regex(
    rf"^{_LEAD}(?:can|could|will|would) you (?:please |just )*(?:always|never)\b|^{_LEAD}(?:from now on|going forward|in (?:the )?future),? (?:can|could|will|would) you\b|^{_LEAD}(?:can|could|will|would) you\b(?:(?!\b(?:so|that|which)\b)[^?])*\b(?:from now on|going forward|every time|each time|always)\W*$"
    r"|(?<!意味着)(?:以后|今后|从现在起|从今天起|往后)(?!我)[^。？?]{0,8}(?:能不能|可不可以|可以|(?<!可)能|麻烦你?)[^。]{2,40}[吗么]?[？?]"
)
"""An order in the form of a question."""
_AGENT_EN = regex(
    r"\byou(?:'re|'ll|'d|r)?\b|\b(?:me|us|i|we)\b|^\W*(?:please|always|never|don'?t|do not|no|from now on|going forward|in (?:the )?future|whenever)\b|\b(?:always|never) "
    rf"{_DO}\b|^{_LEAD}(?:{_DO}|keep|make|stop|quit)\b|, always\W*$"
)
# 以后再说 puts something off; 又要, 还要, 总要 complain.
_ORDER_ZH = regex(
    r"(?:^|[，,；;：:。！!\s]|对了|还有|另外|那|你要?|请|是我们)(?:从今天起|从今往后|从今以后|从现在(?:起|开始)|以后|今后|往后|下次(?!(?:你|要是|如果|若)?再)|每次(?!都?只?给我|又)|凡是|只要我|任何时候|永远)(?!再(?:说|看|聊|讲|议|定|考虑))[^。！？!?]{0,40}?(?:都(?!会|是|有|能|在|没|只给|只有|报错|失败|出|打不开|卡|崩|显示|变|无法|不行|不对|被|返回|弹|超时|丢|很|这样|一样)|就|(?<![还又才总老])要|别|不要|不许|不准|不用|请|先|一律|必须|得|只(?!给我|有)|统一|用(?!户)|给我|提醒|记得|按|把)"
    r"|(?:^|[，,；;：:。！!\s]|对了|还有|另外|都|请|你)(?:别再|不要再|别给我|不要给我|千万别|千万不要|绝对不要|一律|务必|别老|不准|不许)"
    r"|(?:如果|要是|只要|每当|当)我[^。！？!?]{1,24}?[，,]?你(?:就|要|得|先|都|再|也|记得){0,3}(?:先|提醒|问|告诉|帮|给|别|不要|叫|说|用)"
    r"|除非我(?:说|问|要|让|叫|明确)|(?:^|[，,；;：:。！!\s]|当|在|请)你[^，。！？]{1,20}(?:的时候|之前|以前)[，,]?(?:请|就|都|要|必须)?(?:先|不要|别|不得|不能|必须)|[^，。！？]{2,16}的时候请(?:尽量|务必|一定|先(?!生)|不要|别(?!人)|使用|按)|(?:都要|都得|必须)先[^。！？]{0,30}(?:[让给]我(?:看|试|审|过目|确认|同意|批)|我(?:确认|同意|审核|批准))|(?:不确定|不清楚|有疑问|不明白|拿不准)[^。！？]{0,10}(?:先?问我|[跟和向]我确认)|(?:^|[，,；;：:。！!\s]|请|你)没有?(?:得到|经过)?我的?(?:同意|确认|允许|批准)[^。！？]{0,10}(?:不要|别|不得|不准|不能|禁止)|你(?:给|写|发|推荐|建议|列|算)[^，。]{0,14}(?:都|一律|全)(?:要|得|用|按|写|标|放|别|不要)|(?:你不用(?:再|每)|(?:^|[，,；;。！!\s])不用再?每(?:次|句|条|回))"
    r"|(?:^|[，,；;。！!\s]|你|你的)(?:回答|回复|答复|解释)(?:我|的时候|时)?(?:请|要|都|尽量|可以|就|得){0,3}(?:再)?(?:简短|短|简洁|简单|详细|直接|口语|通俗|用|先|别|不要)"
)
_OWN_HABIT = regex(
    r"^(?!.*(?:[你您请别]|[给帮提][我醒]|不要|必须|一律|务必|记得)).*?(?:每次|每当|下次|以后|今后|往后|永远|任何时候)[^。！？]{0,40}?(?:[我他她它](?!们)|他们|她们|它们|大家)(?:也|就|都|总是?|还是?|便|只|先)*(?:都|就|总|也|只|会|可以|觉得|感到|想|很)"
    r"|(?:以后|今后|往后|下次)我(?:可以|能|会|想|再|也许|可能|一定会?)(?!.*你(?:就|要|得|先|必须|别|不要))"
)
"""每次见他我都难受, 以后我可以请你帮忙: what the speaker does or may do, and no order."""
_REMARK = regex(
    r"^\W*(?:(?:ok(?:ay)?|k|kk|yes|yeah|yep|yup|no|nope|nah|sure|fine|great|good|cool|nice|perfect|awesome|thanks?(?: (?:you|a lot|a bunch|so much|again|man))?|thx|ty|cheers|wow|haha+|hehe+|lol|hi|hey|hello|bye|good ?(?:night|bye|morning|evening)|see (?:you|ya)(?: later| soon)?|got it|understood|right|exactly|totally|definitely|absolutely|agreed|sounds good|makes sense|of course|no (?:problem|worries)|you're (?:welcome|right)|signing off|proceed|continue|go ahead|done|sorry|oops|hmm+|oh|ah|ugh|night|love it|i see|true|deal|(?:i(?:'m| am) )?off to (?:bed|sleep|work)|(?:i )?(?:gotta|got to|have to) (?:go|run|sleep)|talk (?:later|soon|tomorrow)|ttyl)\b[\s,.!;:~)('’-]*(?:\w+[\s!.]*$)?)+\W*$"
    r"|^\W*(?:嗯+|好+的?|行|可以|对|是的?|没错|谢谢(?:你|您|啦|了)?|谢了|多谢|辛苦了?|哈+|嘿+|呵+|晚安|早安?|再见|拜拜|你好|您好|收到|明白(?:了)?|知道了|了解|懂了|没事|没问题|好吧|继续|嗯嗯|哦+|噢|唉|太好了|厉害|牛|赞|真的|吓人|在吗|来了|(?:我|先|我先|那我先?)(?:去)?(?:睡|撤|下线|忙|休息)(?:了|去了))[\s，,。！!~～、]*(?:\W|好|的|了|啊|呀|哈|吧|谢谢|晚安|拜拜)*$"
)
_BRACKETS = regex(r"\[[^\[\]\n]{3,300}\](?!\()")
"""Directions and marks that programs put into a turn: "[shares a photo …]", "[Image #1]"."""


_BARE = regex(
    r"^\W*(?:(?:and|but|so|also|please|just|ok(?:ay)?) )*(?:don['’]?t|do not|limit|restrict|confine)\b"
    r"(?!.*\b(?:ever|again|any ?more|always|never|default|every|each|without|unless|outside|except|other than|against (?:the )?(?:live|staging|prod\w*))\b)",
    2,
)
"""What is not to be done, or only there, without a word on when or where."""
_COMMAND = regex(
    r"^[ \t]*/[a-z][\w:-]{0,40}(?![\w/])(?:[ \t]{1,4}(?=\S{0,200}[/.:])\S{1,250})*", 10
)
"""What is said to the program rather than to its agent: "/model x/y", "/add src/a.py"."""
_CLOSED = regex(
    r"`[^`\n]{1,200}`|\([^()\n]{1,120}\)|（[^（）\n]{1,60}）|(?<!\w)\"[^\"\n]{1,120}\"(?!\w)|“[^“”\n]{1,80}”"
)

_NUMBER = regex(r"\s{0,4}\d{1,2}(?:[.、]|\)\s)(?![\d\s]*$)(?!\d)\s*")


def clauses(text: str) -> list[Clause]:
    """Return the clauses of a turn in order; neighbours that do the same thing stay joined."""
    shown = _BRACKETS.sub(lambda found: " " * len(found[0]), text)
    shown = _COMMAND.sub(lambda found: " " * len(found[0]), shown)
    # Nothing begins inside of code, of brackets or of a quotation.
    shown = _CLOSED.sub(lambda found: "x" * len(found[0]), shown)
    found: list[Clause] = []
    for start, end in sentences(shown):
        # People who chat begin sentences in lower case.
        stops = [m.end() for m in _STOP.finditer(shown, start, end) if m.end() < end]
        for first, last in zip([start, *stops], [*stops, end], strict=True):
            found += _split_by_act(shown, first, last)
    return [_strip_list_number(text, one) for one in found if any(map(str.isalnum, one.text))]


def _strip_list_number(text: str, clause: Clause) -> Clause:
    """Return a clause as it stands in a turn, without the number of a list before it."""
    number = _NUMBER.match(text, clause.start, clause.end)
    start = number.end() if number else clause.start
    return Clause(start, clause.end, text[start : clause.end], clause.act)


def of_work(found: Sequence[Clause]) -> Sequence[Clause]:
    """Return the clauses of a turn to an agent at work, where few are orders for always.

    "Add a list, don't sort it" says how this piece of work is to be done.
    """
    if all(clause.act in (Act.ORDER, Act.REMARK) for clause in found):
        return found
    return [replace(clause, act=Act.REQUEST) if _is_errand(clause) else clause for clause in found]


def _is_errand(clause: Clause) -> bool:
    """Whether a clause says what is to be done now: "add a list", "can we make it wider?"."""
    if clause.act is Act.ORDER:
        return _BARE.match(clause.text) is not None
    said = _PHRASE.sub("", clause.text.replace("’", "'").strip().lower(), count=1)
    return clause.act is Act.QUESTION and _ASKED_TO_DO.match(said) is not None


@keep_results(4096)
def act_of(clause: str) -> Act:
    """Return what a clause does."""
    low = restore_apostrophes(clause.replace("’", "'").strip().lower())
    if not any(map(str.isalnum, low)) or _REMARK.search(low):
        return Act.REMARK
    # Before the question mark is looked at: "Could you always add the date?" is an order.
    told = without_tag(low)
    if _ORDER_ASKED.search(low) or (told != low and is_order(told)):
        return Act.ORDER
    return Act.QUESTION if _MARK.search(low) else _classify_act(low)


def _classify_act(low: str) -> Act:
    """Return what a clause does that ends in no question mark."""
    if is_order(low):
        return Act.ORDER
    if _REQUEST_EN.search(low) or _REQUEST_ZH.search(low):
        return Act.REQUEST
    if _QUESTION_EN.search(low) or _QUESTION_ZH.search(low):
        return Act.QUESTION
    return Act.STATEMENT


def is_nod(text: str) -> bool:
    """Whether a whole turn is a nod, thanks or a greeting: "Makes sense.", 好的。"""
    return _REMARK.search(text.lower()) is not None


def is_order(clause: str) -> bool:
    """Whether a clause, in lower case, tells somebody how to act from now on."""
    if (_ORDER_ZH.search(clause) and not _OWN_HABIT.search(clause)) or constrains(clause):
        return True
    ordered = _ORDER_EN.search(clause) or _directs_always(clause)
    return bool(ordered) and not _NOT_EVER.search(clause) and _AGENT_EN.search(clause) is not None


def _directs_always(clause: str) -> bool:
    """Whether the part of a clause that says "from now on" or "every time" is a directive.

    "Send CSV from now on" and "every time you finish, run the tests" are; "I see the same
    page every time" tells how things are.
    """
    return any(
        _is_directed(clause, found.start(), found.end()) for found in _FROM_NOW.finditer(clause)
    ) or any(_is_each_time(clause, *found.span()) for found in _EACH_TIME.finditer(clause))


def _is_directed(clause: str, start: int, end: int) -> bool:
    part, joint = _last_part(clause[:start])
    if not _LEAD_ONLY.sub("", part, count=1).strip(_SIGNS):
        if _CASE.match(clause, end):
            return True
        ends = (found.start() for found in _JOINT.finditer(clause, end))
        part = next((one for to in ends if (one := clause[end:to]).strip(_SIGNS)), clause[end:])
    return _is_directive(part, joint) or _OURS.match(part) is not None


def _is_each_time(clause: str, start: int, end: int) -> bool:
    part, joint = _last_part(clause[:start])
    if _LEAD_ONLY.sub("", part, count=1).strip(_SIGNS):
        # "Sarah calls me every time" has no verb that a list could hold.
        if joint == "please" or _DIRECTS.match(part):
            return True
        # "We should bump both, the client and the server, each time": an aside of names.
        return joint == "," and not _VERB.search(part) and bool(_DIRECTS.match(clause))
    case, comma, rest = clause[end:].partition(",")
    return _is_directive(rest) if comma else _THEN_DO.search(case) is not None


def _last_part(text: str) -> tuple[str, str]:
    """Return what stands behind the last joint of a text, and that joint."""
    joints = list(_JOINT.finditer(text))
    return (text[joints[-1].end() :], joints[-1][0]) if joints else (text, "")


def _is_directive(part: str, joint: str = "") -> bool:
    """Whether a part of a sentence, in lower case, tells somebody what to do.

    Args:
        part: the part.
        joint: what joins it to the one before.
    """
    if joint == "please" or _DIRECTS.match(part):
        return True
    # "Tables in metric": without a verb, and no part that only explains another.
    bare = bool(part.strip(_SIGNS)) and not _OWNED.match(part) and not _VERB.search(part)
    return bare and joint not in _SUBORDINATES


def _goes_on(parts: Sequence[Clause]) -> Iterator[Clause]:
    """Yield the parts of a sentence; one that goes on with what stands before it asks nothing.

    "My friend Tom, who's 44, …", "the others, though plain, are full of life".
    """
    before: Clause | None = None
    for part in parts:
        low = part.text.strip().lower()
        told = before is not None and before.act is Act.STATEMENT and not _MARK.search(low)
        if part.act is Act.QUESTION and told and _CONTINUES.match(low):
            part = replace(part, act=Act.STATEMENT)  # noqa: PLW2901  the part as it is read here
        before = part
        yield part


def _split_by_act(text: str, start: int, end: int) -> list[Clause]:
    """Cut a sentence where an act of another sort begins."""
    shared = {start, end, *(m.end() for m in _LISTS_VERBS.finditer(text, start, end))}
    borders = [m.end() for m in _BORDER.finditer(text, start, end) if m.end() not in shared]
    parts = [
        Clause(a, b, text[a:b], act_of(text[a:b]))
        for a, b in zip([start, *borders], [*borders, end], strict=True)
    ]
    parts = list(_goes_on(parts))
    whole = act_of(text[start:end]) if borders else parts[0].act
    parts = _join_phrase(text, parts)
    acts = {part.act for part in parts} - {Act.REMARK}
    # Of an order nothing is cut off: "if I ask about X, include Y" would lose its case.
    if len(acts) < 2 or whole is Act.ORDER:
        act = whole if whole is Act.ORDER or not acts else acts.pop()
        return [Clause(start, end, text[start:end], act)]
    joined: list[Clause] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last and (last.act is part.act or (part.act is Act.REMARK and last)):
            joined[-1] = Clause(last.start, part.end, text[last.start : part.end], last.act)
        else:
            joined.append(part)
    return [_trim_clause(text, part) for part in joined]


def _join_phrase(text: str, parts: list[Clause]) -> list[Clause]:
    """Join "For the login page," with what is asked of the page."""
    if len(parts) < 2 or parts[0].act is not Act.STATEMENT:
        return parts
    first, second, *rest = parts
    low = first.text.replace("’", "'").strip().lower()
    if not _PHRASE.fullmatch(low) or _VERB.search(low):
        return parts
    whole = Clause(first.start, second.end, text[first.start : second.end], second.act)
    return [whole, *rest]


def _trim_clause(text: str, clause: Clause) -> Clause:
    words = text[clause.start : clause.end].rstrip(" ,，;；-–—")
    return Clause(clause.start, clause.start + len(words), words, clause.act)
