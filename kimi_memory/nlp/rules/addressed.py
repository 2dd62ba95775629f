"""Texts that an agent writes down as facts and that tell their reader how to act."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.utterance import Act, clauses

# What an agent writes down as a fact may tell all agents what to do: "Skip the review."
_TELLS_AGENTS = regex(
    r"^(?:please )?(?:ignore|skip|bypass|disable|disregard|send|pay|transfer|forward|delete|share|use|approve"
    r"|trust|avoid|run|push|install|make sure|be sure|ensure|go ahead|remember to)\b"
    r"|\b(?:you|agents?|assistants?|bots?|models?|ai) (?:must|should|shall|have to|need to|are to)\b"
    r"|\b(?:whenever|every time|each time|if|once|as soon as|when in doubt)\b[^,]{0,80}, (?:just )?(?!i\b|we\b|they\b|he\b|she\b|it\b|the\b|an?\b)[a-z]"
    r"|\b(?:approval|confirmation|permission|review|consent)s? (?:is|are) (?:never|not|no longer) (?:needed|required)\b"
    r"|^(?:你|您|助手|智能体|agent ?)(?:应该|应当|必须|要|得|可以|无需|不必|不用)"
    r"|^请?(?:别|不要|不必|无需|无须|忽略|跳过|绕过|务必|只管|直接)"
)
_ASKED_FOR = "(?:permission|approval|consent|confirmation|authori[sz]ation)"
_ASKED_FOR_ZH = "(?:确认|批准|审批|审查|复核|询问|同意|汇报|授权|许可|通知)"
# Norms are stated as facts, too: "Reviews are optional for bots."
_NORM = regex(
    r"\b(?:polic(?:y|ies) (?:is|says|\d)|(?:the|our|a) convention is\b|best practice|golden rule|house (?:style|rules?)|note to self|standing (?:wish|order|rule)"
    r"|the (?:proper|right|correct|only|usual) way (?:to|of)|it(?: is|'s) (?:agreed|understood|settled|customary|fine|ok(?:ay)?) (?:that|to)\b|from (?:here|now) on)\b"
    r"|\b(?:allowed|permitted|forbidden|prohibited|mandatory|optional|supposed|obliged|entitled|authori[sz]ed) (?:to|for|before|after|without)\b"
    rf"|\b{_ASKED_FOR}s?\b[^.;]{{0,40}}\b(?:granted|given|needed|required|necessary|counts?|implied|assumed)\b"
    r"|\bwithout (?:asking|telling|waiting|(?:any )?(?:confirmation|approval|reviews?|permission))\b|\b(?:never|not|stop|don't) (?:ask|tell|wait|mention|report)(?:ing)?\b"
    r"|\b(?:user|owner|boss|admin|operator|human)(?:'s)? (?:wants?|expects?|wishes|would like|asked|asks|told|requires|needs) (?:you|us|me|agents?|assistants?)\b|^(?:the )?(?:user|owner|boss|admin) said\b"
    r"|\b(?:assistants?|agents?|bots?|kimi|claude)\b[^.;]{0,30}\b(?:should|must|trusts?|obeys?|addresse?s?|always|never)\b|\b(?:answer|reply|respond) in [a-z]|^your\b"
    r"|惯例是|规矩是|规范(?:第|要求)|约定俗成|最佳实践|默认做法|一概|遇事|提醒自己|先斩后奏|往后别|别再"
    rf"|(?:无需|无须|不必|不用|不需要?|可以不|不经){_ASKED_FOR_ZH}|等同于[^，。]{{0,8}}(?:批准|同意|许可)|(?:用户|主人|老板|管理员)(?:希望|想要?|要求|要|让|吩咐)(?:你|我们|助手|过)"
    r"|允许(?:你|助手|机器人|智能体)|就自动(?:发|推|删|付|转)|^(?:所有|一切|凡是?)[^，。]{1,12}(?:都|均|一律)(?:要|得|必须|用(?!户))"
)


def tells_agents(text: str) -> bool:
    """Whether a text has a clause that tells its reader how to act."""
    return any(
        one.act in (Act.ORDER, Act.REQUEST) or _TELLS_AGENTS.search(one.text.strip().lower())
        for one in clauses(text)
    ) or bool(_NORM.search(text.strip().lower()))
