"""Orders that have no form of an order: what must not be, and how an agent is to work.

"The archive must not exceed 40 MB", 首页加载不能超过两秒 bind the agent as an order does;
"wait for my approval", "one file at a time" say how the work goes on from now on.
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
_TAG = regex(
    r"[,，]? ?(?:\b(?:ok(?:ay)?|alright|yeah|k|pls|please|deal)|好吗|行吗|好不好|行不行|可以吗|好么|行么)\s?[?？]+$"
)


def without_tag(clause: str) -> str:
    """Return an order without the question that only softens it: "…, ok?", ……好吗？"""
    return _TAG.sub("", clause, count=1)


def constrains(clause: str) -> bool:
    """Whether a clause, in lower case, says what must always or never be, or how work goes on."""
    if len(clause) > LONGEST:
        return False
    patterns = (
        (_MUST_EN, _WORK_EN) if clause.isascii() else (_MUST_ZH, _WORK_ZH, _MUST_EN, _WORK_EN)
    )
    return any(words.search(clause) for words in patterns)
