"""Forms in which a noun of the list is given a value: "our API port is 8080", 房租涨到4800元.

In a form ``w`` is whose it is, ``q`` and ``f`` which of several, ``n`` the noun, ``o`` the value
that is replaced, ``v`` the new one, ``c`` the verb that names, ``e`` the name of an owner.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.slot_list import NOUNS

_NOUN = "|".join(
    re.escape(noun) for noun in sorted((n for n in NOUNS if n.isascii()), key=len, reverse=True)
)
_BE = r"(?:(?:happens|happen) to be|stands? at|is|are|was|will be|has been|have been|be|stays|remains|became|has become)"
_TURN = r"(?:moved?|changed?|switched|set|raised|lowered|increased|reduced|cut|extended|shortened|postponed|pushed|brought forward|bumped|went|gone|rose|fell|dropped|rescheduled|migrated|updated|upgraded|renamed|swapped|replaced|turned|shifted)(?: up| down| over| back| out| forward)?"
ENGLISH = tuple(
    regex(f"^(?:{form})$", re.IGNORECASE)
    for form in (
        # "the main branch is no longer develop, it is trunk", "the port is not 8080 but 9090"
        rf"(?P<w>my|our|the|(?-i:[A-Z])[\w-]+'s)? ?(?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f> (?:for|of) (?:the |our |my )?[\w-]+(?: [\w-]+)?)? (?:is|was|are|were) (?:not|no longer) (?:called |named )?(?P<o>[^,;]{{1,30}}?)(?: any ?(?:more|longer))?(?:[,;] (?:but |and )?(?:it|that|they) (?:is|are)(?: now)?|,? but(?: now)?) (?:called |named )?(?P<v>.+)",
        # "our API port is 8080", "my wife's name is Hannah", "the rent went up from 900 to 950"
        rf"(?P<w>my|our|the|(?-i:[A-Z])[\w-]+'s)? ?(?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f> (?:for|of) (?:the |our |my )?[\w-]+(?: [\w-]+)?)? (?:(?:has|have|had|was|were|is|are|got|will) )?(?:been |be )?(?:{_TURN})(?: from (?P<o>[^,;]{{1,30}}?))? (?:to|at|on|with|by|into) (?P<v>.+)",
        rf"(?P<w>my|our|the|(?-i:[A-Z])[\w-]+'s)? ?(?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f> (?:for|of) (?:the |our |my )?[\w-]+(?: [\w-]+)?)? {_BE} (?P<d>not )?(?:called |named |set |due |running |hosted |located |kept |at |on (?=[\d\W]|(?-i:[A-Z])|(?:mon|tues|wednes|thurs|fri|satur|sun)day|the )|in |by (?!default)|with |for |to )*(?P<v>.+)",
        rf"(?P<w>my|our|the)? ?(?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f>)? (?:runs|lives|lies|sits|costs|uses|listens|takes place|happens|starts|moved|comes)(?: on| at| in| with| to)? (?P<v>.+)",
        rf"(?P<w>my|our|the)? ?(?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f>)? ?[:=] (?P<v>.+)",
        # "we use Postgres for the database", "for the cache we use Redis", "Redis is our cache"
        rf"(?P<w>we|i|let us)? ?(?:have |will |are |am )?(?:decided to |agreed to |agreed on |chose to |going to )?(?:use|uses|using|used|go with|went with|chose|picked|fixed|prefer|keep|take|rely on|run on|depend on|settled on|decided on) (?P<v>.+?) (?:for|as) (?:the |our |my |a |an |all )?(?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f>)",
        rf"(?:for|as) (?:the |our |my |a |an )?(?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN}),? (?P<w>we|i|let us) (?:will |have )?(?:use|go with|chose|picked|prefer|settled on|decided on|take) (?P<v>.+)(?P<f>)",
        rf"(?P<w>we|i|let us) (?:have |will )?(?:switched|moved|migrated|changed|swapped|switch|move|migrate|change|swap)(?: over)? (?:from (?P<o>[^,;]{{1,30}}?) )?to (?P<v>.+?) (?:for|as) (?:the |our |my |a |an )?(?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f>)",
        rf"(?P<w>we|i|let us) (?:have |will )?(?:replaced?|swapped?) (?P<o>[^,;]{{1,30}}?) (?:with|by|for) (?P<v>.+?) (?:for|as) (?:the |our |my |a |an )?(?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f>)",
        rf"(?P<w>we|i|they|let us) (?:have |will )?(?:{_TURN}|fixed|change|move|set|raise|lower|extend|bump|switch|rename) (?P<p>my|our|the) (?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f> (?:for|of) (?:the |our |my )?[\w-]+)?(?: from (?P<o>[^,;]{{1,30}}?))? (?:to|at|on|with) (?P<v>.+)",
        rf"(?P<w>)(?P<v>[\w.+#/-]+(?: [\w.+#-]+)?) is (?P<p>our|my|the) (?P<q>(?:[\w'.-]+ ){{0,2}}?)(?P<n>{_NOUN})(?P<f>)",
        rf"(?P<w>(?-i:[A-Z])[\w-]+) (?:is|was) (?P<q>)(?P<e>(?-i:[A-Z])[\w-]+)'s (?P<n>{_NOUN})(?P<f>)(?P<v>)",
    )
)  # fmt: skip
# "The database is slow", "the meeting was cancelled": a state, and no value to compare.
_NO_VALUE = regex(
    r"^(?:an? (?:problem|mess|bit|lot|joke|issue|must|good|bad|great|nice|big|huge|real|little|total)\b|too |so |very |really |quite |pretty |getting |being |working|running\b|broken|down|up|slow|fast|fine|ok\b|okay|good|bad|great|nice|important|interesting|difficult|hard|easy|missing|wrong|right|ready|done|gone|there|here|what|how|why|when|where|who|going|not\b|also|about|because|if|that\b|this|it\b|empty|full|(?:increased|decreased|raised|lowered|reduced|extended|reached|exceeded|removed|enabled|disabled|gone|lifted|unlimited|added|updated|fixed|finished|completed?|deployed|merged|installed|configured)$|set\b(?! (?:to|at)\b)|dead|alive|allergic|afraid|tired|sick|ill\b|coming|turning|moving|having|trying|looking)|^(?:我们的?|你的?)?(?:错|对|问题|重点|关键|原因|毛病|必须|重要|线上|线下)(?:的|[，,].*)?$|^(?:什么|啥|谁|哪|怎么|多少|几个|[这那]个)",
    re.IGNORECASE,
)

_HAN_NOUN = "|".join(
    re.escape(noun)
    for noun in sorted(
        (n for n in NOUNS if not n.isascii() or n in {"ci", "orm"}), key=len, reverse=True
    )
)
_SOON = r"(?:现在|目前|已经|就|先|还是|一直|统一|最后|最终|都|也|今年|每月|一个月|每个月|的时间|时间|[从打自][^，。]{1,6}?起)*"
_TURN_ZH = r"(?:改成|改为|改到|改用|改走|换成|换到|换用|变成|变为|定为|定在|定到|推迟到|延到|延期到|提前到|调(?:大|高|小|低|长|短)?到|提高到|降低到|调成|调整到|调整为|设为|设成|涨到|升到|降到|加到|减到|搬到|迁到|迁移到|升级到|切到|切换到|延长到|缩短到|改|换|挪到)了?"
_BE_ZH = r"(?:[定选]下?来?的?(?:就)?是|是|为|叫|[用选定]的是|用|选|选了|定了|在|放在|跑在|走|写在|约在|:|：|=|——|—)"
_WHOSE_ZH = r"(?P<w>我们的?|咱们的?|我家的?|我的?|项目的?|[\u3400-\u9fffA-Za-z]{2,6}?的)?"
_ONCE_ZH = "之前|以前|原来|原先|本来|起初|最初|过去|先前"
_NOW_ZH = "(?:现在|后来|如今|目前|现已|今后|以后)(?:已经?)?"
CHINESE = tuple(
    regex(f"^(?:{form})$", re.IGNORECASE)
    for form in (
        rf"(?P<w>我们的?|我的?|项目的?)?(?P<q>[\u3400-\u9fffA-Za-z]{{0,6}}?的?)(?P<n>{_HAN_NOUN}) ?{_SOON}(?:我们|我)?(?:不再|不要|不|别)(?:用|是|选|走|叫|要)?(?P<o>(?![^，,。]{{0,8}}(?:问题|重点|关键|原因|毛病))[^，,。]{{1,16}}?)了?[，,](?:而|{_NOW_ZH})?(?:{_TURN_ZH}|{_BE_ZH})(?P<v>.+)",
        rf"(?:{_ONCE_ZH})?{_WHOSE_ZH}(?P<q>[\u3400-\u9fffA-Za-z]{{0,6}}?的?)(?P<n>{_HAN_NOUN}) ?(?:{_ONCE_ZH})?{_BE_ZH}(?P<o>[^，,。]{{1,16}}?)[，,](?:{_NOW_ZH})(?:{_TURN_ZH}|{_BE_ZH})(?P<v>.+)",
        rf"(?:把|将)?(?P<w>我们的?|咱们的?|我家的?|我的?|项目的?|(?!把|将)[\u3400-\u9fffA-Za-z]{{2,6}}的)?(?P<q>[\u3400-\u9fffA-Za-z]{{0,6}}?的?)(?:新)?(?P<n>{_HAN_NOUN}) ?{_SOON}(?:[从由](?P<o>[^，。]{{1,16}}?))?{_TURN_ZH}{_SOON}(?P<v>.+)",
        rf"(?P<w>我们的?|咱们的?|我家的?|我(?:平时|常)?用的|我的?|项目的?|[\u3400-\u9fffA-Za-z]{{2,6}}的)?(?P<q>[\u3400-\u9fffA-Za-z]{{0,6}}?的?)(?P<n>{_HAN_NOUN}) ?(?:的?名字|(?:(?:这一?[块项边]|这?方面)[，,]?)?(?:我们|我|咱们)?)?{_SOON}(?P<d>不)?(?P<c>{_BE_ZH})(?P<v>.+)",
        rf"(?P<w>我|我们)?(?:把|将)(?P<p>我的?|我们的?)?(?P<q>[\u3400-\u9fffA-Za-z]{{0,6}}?的?)(?P<n>{_HAN_NOUN}) ?(?:[从由](?P<o>[^，。]{{1,16}}?))?{_TURN_ZH}(?P<v>.+)",
        rf"(?P<w>我们的?|我的?)?(?P<q>[\u3400-\u9fff]{{0,4}}?)(?P<n>{_HAN_NOUN}) ?{_SOON}(?:保留|大概|差不多)?(?P<v>\d.*|[一二两三四五六七八九十百千万]+(?:元|块|天|个月|年|秒|分钟).*)",
        rf"(?P<w>我们|我|大家)?{_SOON}(?:用|拿|选|采用)(?P<v>[^，。]{{1,24}}?)(?:来)?(?:做|当|作为|当作)(?P<p>我们的?|我的?)?(?P<q>)(?P<n>{_HAN_NOUN}) ?(?:吧|了)?",
        rf"(?P<w>我们|咱们|我|大家)?{_SOON}(?:写代码|编程|开发)?(?:的?时候?)?(?:使用|采用|用|选)了? ?(?P<v>[A-Za-z][\w.+#-]*(?: [\w.+#-]+)?) ?(?P<q>)(?P<n>{_HAN_NOUN})",
        rf"(?P<v>[A-Za-z\u3400-\u9fff][\w.+# -]{{0,20}}?)(?:现在)?是(?P<w>我们的?|我的?)(?P<q>)(?P<n>{_HAN_NOUN}) ?",
        r"(?P<w>)(?P<v>[\u3400-\u9fff]{2,4}|[A-Z][a-z]+)(?:现在)?是(?P<q>[\u3400-\u9fff]{0,4}?的?)(?P<n>负责人|维护者|组长)",
        rf"(?P<w>我)们?家?里?(?:刚|又|还)?(?:养|有|领养|收养|捡|买|新添)了?(?:一)?[只条个匹头]?(?P<q>)(?:小)?(?P<n>{_HAN_NOUN}) ?[，,]?[它他她]?(?:的)?(?:名字)?(?P<c>叫|叫做|名叫)(?P<v>.+)",
        rf"(?P<w>[\u3400-\u9fff]{{2,4}}?)是(?P<q>)(?P<e>[\u3400-\u9fff]{{2,4}})的(?P<n>{_HAN_NOUN}) ?(?P<v>)",
    )
)  # fmt: skip
"""Forms of Chinese clauses."""


def names_state(*values: str | None) -> bool:
    """Whether a value, new or old, tells how something is: "the database is slow"."""
    return any(value and _NO_VALUE.match(value) for value in values)
