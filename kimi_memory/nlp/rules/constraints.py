"""Orders that have no form of an order: what must not be, and how an agent is to work.

"The archive must not exceed 40 MB", 首页加载不能超过两秒 bind the agent as an order does;
"wait for my approval", "one file at a time" say how the work goes on from now on, and so does
what says whose part is what: "you are to ask me", "your job is to doubt it", 拿主意是我的事.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex

LONGEST = 200
"""A longer clause tells a story."""
_WHO = r"(?:i|you|we|he|she|they|who|there|this|that|what|which)"
_BOUND = r"(?:stay|remain|be kept|fit|keep)"
_LIMIT = r"(?:exceed|(?:be|get|become|run|take|cost|grow) (?:any )?(?:longer|more|bigger|larger|higher|later|older|fewer|less|smaller|slower) than|go (?:over|above|below|beyond|past))"
# "It must be broken" supposes; "I must not forget" is of the person.
_MUST_EN = regex(
    rf"^(?:(?:and|but|so|also|note|important|remember)\b[,:]? ?)*(?!{_WHO}\b)[^,;.!?:]{{2,90}}?\b"
    rf"(?:must (?:not|never|always)(?! have\b)|mustn't(?! have\b)|(?:must|(?:need|ha)(?:s|ve)? to|should always) {_BOUND} (?:under|below|within|above|over|at|in|on|the same|as|between|compatible|private|offline|unchanged|intact|readable|backwards?|available)"
    rf"|(?:can't|(?:may|can|shall|should|must)(?:n't| not|not)) (?:ever )?{_LIMIT}|(?:must|has to|have to|needs to|need to) be (?:at most|at least|no (?:more|longer|later|bigger|larger) than|under|below) (?=[\w$€£]))\b"
)
_MUST_ZH = regex(
    r"^(?![^，。；]{0,3}[我你您他她])[^，。；！？?]{2,40}?(?:(?:不得|不能|不可|不许|不应)(?:超过|多于|大于|高于|低于|少于|晚于|早于|长于|外传|外泄|依赖)(?![我你您他她])|(?:必须|务必|一定要|需要|要|得)(?:始终|一直)?(?:保持在|控制在|限制在|压在|留在)|(?:必须|务必)(?:始终|一直|永远)?(?:保持|兼容|离线|支持))"
)
_APPROVAL = (
    r"my (?:\w+ )?(?:approval|permission|go-?ahead|confirmation|consent|sign-?off|ok(?:ay)?)\b"
)
_LEAD = r"^\W*(?:(?:and|but|so|then|ok(?:ay)?|also|please|important|remember|again|first|now)\b[\W_]*){0,3}"
_WORK_EN = regex(
    rf"{_LEAD}(?:(?:you (?:must|should|need to|have to|are to) |always )?(?:wait for|get|ask (?:me )?for) {_APPROVAL}|before [^,.;]{{4,60}}, (?:please |always |you (?:must|should|need to) )*[^.;]{{2,90}}\b(?:wait for|get|ask (?:me )?for) {_APPROVAL}|(?:do|make|change|commit|push|merge|delete|touch|start)\b[^.;]{{0,40}} without {_APPROVAL}"
    r"|(?:(?:let's|we (?:must|should|need to|have to)|you (?:must|should|need to)|please|only|just) (?:\w+ ){0,3}?|(?:focus on|fix|do|take|go|ask|handle|change|work on|solve) (?:only )?)?(?:one|1) (?:issue|thing|step|task|problem|question|change|file|fix|bug|topic) at a time\b"
    r"|(?:limit|restrict|confine) (?:your|all|any|the) (?:\w+ ){0,2}?(?:fix(?:es)?|changes?|edits?|work|answers?|repl(?:y|ies)|suggestions?|refactors?) to\b"
    r"|you (?:don't|do not) need (?:the|an?|any) [\w .-]{2,40} to (?!be\b)[a-z]+)"
)
_WORK_ZH = regex(
    r"一次(?:只|就)(?:改|做|修|问|说|讲|处理|解决|动)[一1](?:个|件|处|步|项)|[一1](?:个|件|步|条)[一1](?:个|件|步|条)地?来|(?:等|经过?|得到)我(?:的)?(?:同意|确认|批准|点头|许可)(?:了|后|之后|再|才)|(?:只|就)(?:能|许|准)?(?:在|改|动)[^，。]{1,24}(?:里|内)(?:改|动)|(?:改动|修改|修复)(?:只|仅|请)?限(?:于|制在|定在)"
)
_CONDUCT = r"(?:ask|tell|warn|remind|alert|inform|notify|consult|advise|question|challenge|doubt|flag|catch|spot|point out|make sure|ensure|protect|guard|watch|keep|stay|wait|listen|follow|obey|stick to|check|double-check|verify|confirm|act|behave|speak|answer|reply|respond|support|assist|guide|coach|teach|propose|suggest|discuss|report)"
"""How somebody acts, in contrast to a thing that is made once: "fix the page"."""
_ME = r"(?:ask|tell|warn|consult|inform|notify|alert|check with|confirm with|run it by|show) (?:it |them )?(?:me|us)"
_LIMITED = r"(?:[^.!?]{2,90}(?:,? (?:and )?(?:not|never|nothing (?:else|more)|rather than|instead of) |\b(?:only|unless|before (?:you|i|we|any|each|every|\w+ing)|whenever|each|every|any|without)\b))"
"""What sets a bound to somebody's part: "…, not to praise it", "… before you change anything"."""
# "You are to be congratulated", "your job is now to fix the page" give nobody a lasting part.
_PART_EN = regex(
    rf"{_LEAD}(?:(?:you are|you're|youre|ur|u are) (?:all )?(?:(?:not|never|only|always|just) (?:supposed |meant |expected |here )?to|(?:supposed |meant |expected |here )?to (?:(?:always|never|only|not|first) )?(?={_CONDUCT}\b|\w+{_LIMITED}))(?! be \w+ed\b| blame\b)(?! late\b)"
    rf"|(?:(?:it|that)(?:'s| is|s)? )(?:not )?your (?:job|role|duty|task|responsibility|place|part) to (?={_CONDUCT}\b|\w+ (?:what|which|whether|how|when|if)\b|\w+{_LIMITED})"
    rf"|your (?:only |main |sole |whole |real )?(?:role|duty|responsibility|job|task|part) (?:here |in this (?:\w+ )?)?is (?:not |only |just |always )?to (?:(?:not|only|always|never) )?(?={_CONDUCT}\b|\w+{_LIMITED})|your (?:role|duty|responsibility) is (?:that of|to act as|the)\b"
    rf"|i expect you to (?={_CONDUCT}\b|\w+{_LIMITED})|(?:i (?:need|want) you to|you (?:must|should|need to|have to|ought to|had better)) (?:(?:always|first) )?{_ME}\b[^.!?]{{0,60}}\b(?:before|first|whenever|when|if|any|instead|rather than|not)\b"
    r"|(?:don't|do not|never|stop) (?:ever )?(?:mak(?:e|ing)|tak(?:e|ing)) (?:any |such |the |these |your own |my |big |design )?decisions? (?:for (?:me|us)|on (?:my|our) behalf|on your own|yourself|without (?:me|us|asking))"
    r"|(?:i(?:'ll| will)? (?:make|take) (?:all )?(?:the |these |those )?decisions|(?:the )?decisions? (?:is|are) (?:mine|ours|up to (?:me|us)))\b"
    r"|not (?:to )?(?:make|take) (?:any )?decisions?\b)"
)
_PART_ZH = regex(
    r"^(?:[^，。！？]{0,4}[，,])?(?:记住|注意|再说一遍|请)?[，,：:]?(?:"
    r"你的(?:任务|职责|工作|角色|责任|身份|定位)(?:就是|仅是|只是|是|在于)(?!什么|啥|哪|否)(?:(?:只|仅|先|帮我|替我|给我)*(?:提醒|检查|审查|审稿|审核|校对|挑错|找错|把关|监督|指出|提出|质疑|确保|保证|回答|建议|陪|辅助|协助)|只(?!有|剩)|仅|严格的|[^。！？]{1,30}[，,](?:而不是|不是|不要|不用|别|不许|不准))"
    r"|你只(?:负责|管(?!放心|去|来|说|问|吃|玩|开口|享受))(?!了)|你(?:应该|应当|得|必须|要做的(?:就)?是|需要)?先(?:问|告诉|通知|征求|请示)(?:过|一下)?我(?!们?[的爸妈])[^。！？]{0,20}(?:再|才|之后|不要|别)"
    r"|你是来[^，。！？]{1,12}的[，,]不是(?:来|让你)|(?:决定|主意|拍板|取舍)(?:都|权)?(?:由我(?:来)?(?:做|定|拿)|我来(?:做|定|拿)|在我)|(?:由我(?:来)?(?:决定|拍板|拿主意|做主)|(?:拿主意|做决定|拍板|决定权?)是我的(?:事|活))[，,。！]?(?!吗)"
    r"|(?:不要|别|不许|不准|禁止|不得|不能)(?:再|总是|老是|老|随便)?(?:替|代|帮)我(?:们)?(?:做(?:任何)?决定|做主|拿主意|决定|拍板)|(?:不要|别|不许|不准|禁止|不得)(?:再|总是|老是|老|随便)?(?:自作主张|擅自|私自|自己(?:做(?:任何)?决定|做主|拿主意|决定)))"
)
_WE_DO = r"(?:we|you|they|it|all|each|every|everything|nothing|no|never|always|only|the (?:\w+ ){1,4}?(?:is|are|must|should|has|have|needs?|stays?|goes)|there (?:is|are|must|should))\b"
# "I remind you that I have a meeting" is of the speaker's day.
_AGAIN_EN = regex(
    rf"{_LEAD}(?:(?:let me|i(?:'ll| will| must| have to| need to| want to| would like to)?|may i|just|a) )*(?:remind(?:ing)? you|reminder|to remind you|i repeat|as a reminder)\b(?! me\b)(?:(?: (?:of|about))? ?(?:(?:the|our|my) (?:\w+ ){{0,2}}?(?:rule|directive|principle|guideline|agreement|convention|policy|instruction|requirement)s?\b[ ,:]*)?(?:that |: ?|, ?|- ?|is |again )*{_WE_DO}| (?:of|about) (?:the|our|my) (?:\w+ ){{0,2}}?(?:rule|directive|principle|guideline|agreement|convention|policy|instruction)s?\b)"
)
_AGAIN_ZH = regex(
    r"^(?:[^，。！？]{0,6}[，,])?(?:我|再)?(?:再次?|又|最后)?(?:提醒(?:你|一下|一遍|下)+|强调(?:一下|一遍|下)?|重申(?:一下|一遍)?|重复(?:一下|一遍)?|再(?:说|讲)一(?:遍|次))[^，。！？]{0,10}[，,：:]?(?:我们|你|所有|一切|每|任何|永远|都|只|必须|不要|不能|不许|别|绝不|统一|一律)(?!(?:的|们)?(?:在|去|有没有|记得吗))"
)
"""A rule that somebody is reminded of was given before, and holds."""
_STANDING_EN = regex(
    rf"{_LEAD}you (?:may|must|shall|are) (?:never|not ever)\b(?! (?:know|guess|alone|too|be too)\b)"
    rf"|{_LEAD}(?:i (?:don't|do not) want (?:you to \w+ )?(?:any )?(?:more )?|no more )[^.!?]{{2,60}}? unless i (?:ask|say|tell|request|want)\b"
    rf"|{_LEAD}every (?:single )?(?:morning|evening|night|day|week|month|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b[^.!?]{{0,30}}? (?:remind|send|tell|give|show|ask) me\b"
    rf"|{_LEAD}before (?:you )?\w+ing [^,.;]{{2,60}},? (?:please |always )+(?:check|ask|read|look at|confirm|consult|verify)\b"
    rf"|{_LEAD}(?:work|proceed|continue|go on|carry on|act)\b[^.;]{{0,20}} without (?:the need )?(?:to ask|of asking|for asking|asking)\b"
)
"""Leave that is never given, and what is to be done each day or before each thing."""
_STANDING_ZH = regex(
    r"(?:不要|别|不许|不准|不能|禁止)(?:再)?(?:自己|随便|随意|乱|擅自|私自|偷偷)(?:地|去|就|来)?(?:瞎|乱)?(?:猜|改|动|删|杀|停|kill|提交|推|发|执行|运行|重启|安装|装|决定|发挥|编|加|创建)"
    r"|(?:改|动|做|写|删|提交|推送|执行|运行|发布|上线|重启|安装)(?:[^，。；！？]{0,6})(?:之)?前[，,]?[^，。；！？]{0,6}(?:先|要先|必须先)(?:告诉|问|询问|给|跟|和|让|找)我"
    r"|(?:等|经)?我(?:同意|确认|看过|点头|批准|审过)(?:了|过|之?后)*[，,]?(?:你)?(?:再|才)(?:能|可以)?(?:改|动|做|写|提交|执行|推|发|继续|合并)"
    r"|(?:^|[，,；;。！\s])[^，,；;。！？\s我你他她]{1,12}(?:一律|统一)(?:放|用|写|按|采用|使用|叫|标|发|存|以|改[成为])(?![了过户到进])"
    r"|(?:铁律|规矩|规则|原则|红线)(?:再)?(?:加|新增|增加|补充)(?:上)?[一1]条"
)
# "After each step I get an error", 每次提交后都报错 tell how things are.
_PIECE = r"(?:each|every) (?:\w+ ){0,2}(?:(?:sub-?)?task|step|change|commit|edit|session|feature|fix|phase|answer|reply|implementation|iteration|conversation)"
_DUTY = r"(?:update|run|re-?run|commit|push|summari[sz]e|document|record|log|test|check|verify|review|report|show|tell|ask|write|add|append|save|read|re-?read|list|stop|wait|create|sync|make sure|ensure|don'?t|do not|always|never|please)"
_EACH_EN = regex(rf"{_LEAD}(?:after|before|at the (?:end|start|beginning) of) {_PIECE},? {_DUTY}\b")
_PIECE_ZH = r"(?:对话|会话|任务|修改|改动|改|提交|完成|编辑|回答|回复|执行|步骤?|阶段|开发|更新|发布|部署|功能|代码)"
_DUTY_ZH = r"(?:你|请|就|都|要|再|自动|同时|主动|先){0,3}(?:更新|同步|记录|提交|汇报|总结|检查|运行|执行|跑|测试|验证|备份|推送|保存|写|告诉|通知|问|确认|列出|生成|读|阅读|查看)"
_EACH_ZH = regex(
    rf"(?:^|[，,；;：:。！!\s]|请|你)(?:每[次个轮当][^，。！？\n]{{0,8}}?{_PIECE_ZH}[^，。！？\n]{{0,6}}?(?:后|前|完)|每(?:完成|做完|改完|写完|处理完|修完)[^，。！？\n]{{1,12}})[，,]?{_DUTY_ZH}"
)
"""What is to be done with each piece of work."""
_TAG = regex(
    r"[,，]? ?(?:\b(?:ok(?:ay)?|alright|yeah|k|pls|please|deal)|好吗|行吗|好不好|行不行|可以吗|好么|行么)\s?[?？]+$"
)

_ENGLISH = (_MUST_EN, _WORK_EN, _PART_EN, _AGAIN_EN, _STANDING_EN, _EACH_EN)
_CHINESE = (_MUST_ZH, _WORK_ZH, _PART_ZH, _AGAIN_ZH, _STANDING_ZH, _EACH_ZH)


def without_tag(clause: str) -> str:
    """Return an order without the question that only softens it: "…, ok?", ……好吗？"""
    return _TAG.sub("", clause, count=1)


def constrains(clause: str) -> bool:
    """Whether a clause, in lower case, says what must always or never be, or how work goes on."""
    if len(clause) > LONGEST:
        return False
    patterns = _ENGLISH if clause.isascii() else (*_CHINESE, *_ENGLISH)
    return any(words.search(clause) for words in patterns)


_FORBIDS = regex(
    r"\b(?:never(?! mind)|must(?: not|n't)|under no circumstances|(?:is|are) (?:not allowed|forbidden|off limits)|no exceptions|don'?t ever)\b"
    r"|禁止|严禁|绝不|绝对不|(?<![拿说])不准(?![确时备])|不许|不得(?!不|已|了)|永远不|永远别|千万(?:别|不)",
    2,
)
"""What must not happen, without exception."""


def forbids(text: str) -> bool:
    """Whether an order says what must not be done in any case."""
    return _FORBIDS.search(text.replace("’", "'")) is not None
