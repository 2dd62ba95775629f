"""Chinese forms that name a thing and what is said of it: 青鸾的端口."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from functools import partial

from kimi_memory.nlp.basic.patterns import regex, rule

_PARTS = {
    # Without 的 是 把 我 你 他 她 它 们 咱 说 了: they stand around names, not in them.
    "han": r"(?![的是把我你他她它们咱说了])[\u3400-\u9fff]",
    "name": r"(?<![A-Za-z0-9_-])[A-Za-z][A-Za-z0-9_-]{0,60}(?: [A-Z][A-Za-z0-9_-]{0,60})?|(?:<han>){2,10}",
    "place": r"这边|那边|这里|那里|这儿|那儿|方面",
    "side": r"(?:项目组?|团队|<place>|系统|服务|目前|现在|定)?",
    "when": r"现在?|目前|今|昨|明天|前天|后天|上周|本周|这周|下周|上个?月|这个?月|本月|下个?月|去年|今年|明年|刚|即日|已|早就|以后|以前|之前|往后|日后|原[先本来]?|本来|如|最后|最终|最近|其实|其|暂|依然|仍",
    "verb": r"清[除空掉理]|划掉|抹|擦|无效|默认|是|为|定|改|换|用|从|由|调|变|更|设|确|敲|作|选|失|过|取|挪|删|切|掉|忘|采|走|转|迁|替|升|降|到|在|搬|推|提[前到高升]|延|缩|叫|属|归|弄|搞|记|交给|重|应该?|超过|不足|达|写|放|算|等于|记作|使用|沿用",
    "part": r"先|被|了|打[今明这下]|的|吧|呢|吗|嘛|呀|啊|也|还|都|就|则|没|不|别|无|再|得|要|能|会|可以|我|你|他|她|咱|这|那|被|给|让|有[变点一]|有了|方面|一直|统一[是为用]|始终|倒|说|最(?!新|低|高|大|小|喜|爱|多|少|近|常)",
    "mark": r"[，,。：:；;！!？?、（()） =—-]|$",
    "end": r"(?=<when>|<verb>|<part>|<mark>)",
    "noun": r"(?!<when>)(?:最(?:喜欢|爱|常用)的)?(?:<han>|[A-Za-z]){2,7}?<end>",
    "sep": r"[，,：: ]?",
    "topic": r"关于|说到|至于|对于|提到|讲到|说起|提起|针对|就",
    "begin": r"(?:^|(?<=[，,。：:；;]))",
}


_compile_form = partial(rule, _PARTS)
FORMS = (
    _compile_form(r"(?P<e><name>) ?(?:<place>)的?(?P<a><noun>)"),
    _compile_form(r"(?P<e><name>) ?<side>的(?:新的?|现在的|老|旧)?(?P<a><noun>)"),
    _compile_form(
        r"(?:<topic>)(?P<e><name>)(?:嘛|呢|啊|吧)?<sep>(?:它的|他的|她的|其)?(?P<a><noun>)"
    ),
    _compile_form(r"(?P<e><name>) ?(?:这个)?(?:换了|有了|定了|改了)新的?(?P<a><noun>)"),
    _compile_form(
        r"(?P<e><name>) ?(?:现在|目前|一直|平时|那边)?(?:用|选|采用|配|设|定)的(?P<a><noun>)"
    ),
    _compile_form(r"(?P<e><name>)（(?P<a><noun>)"),
    _compile_form(r"(?P<e><name>)的(?P<a><noun>)(?=。|$)"),
    _compile_form(
        r"<begin>(?P<e><name>)(?:嘛|呢|啊|吧|这个(?=[，,]))[，,]?(?:它的|其)?(?P<a><noun>)"
    ),
    _compile_form(
        r"<begin>(?:新的?|现在的)?(?P<a><noun>)(?:是|改成|换成|定为|改为)[^，。]{1,20}[，,]我?(?:说的|指的|指|讲的)是?(?P<e><name>)(?=。|$)"
    ),
    _compile_form(r"(?P<e><name>)(?:现在|已经?)?没有?(?:这个)?(?P<a><noun>)"),
    _compile_form(
        r"(?P<e><name>)(?:现在|已经?|不再|就)?(?:(?:以(?![后前来上下及内外])|选定|选用|采用|选|用)[^，。]{1,20}?(?:为|作为|当|做)|(?:取消|放弃|换掉|弃用)了?[^，。]{1,20}?[，,])(?P<a><noun>)"
    ),
    _compile_form(r"(?P<e><name>) ?把(?P<a><noun>)"),
    _compile_form(r"<begin>(?P<e><name>)[，,：:](?P<a><noun>)"),
)
VALUED = frozenset(FORMS[-3:-2])
"""Forms whose value stands between the name and the noun."""
LOOSE = frozenset(FORMS[-2:])
"""Forms in which only a known attribute makes a subject."""
OURS = _compile_form(
    r"(?:我们|咱们|本项目|本组|我司|我们团队|我们这儿|我们这边)的(?:新的?|现在的)?(?P<a><noun>)(?!的)"
)
"""What is said to be ours, whatever it is."""
OUR = _compile_form(
    r"(?:^|[，,：:；;]|把|我们(?:团队|这儿|这边|项目)?的?|咱们的?|说的|新的|还是|决定|喜欢的|本项目的|本组的|拿)(?:(?:<when>|往后|今后|后)的?|都|就)*(?P<a><noun>)"
    r"|(?:做|当|作为|当作|用[A-Za-z][A-Za-z0-9 +#.-]{0,20}?|[A-Za-z0-9]为|我)(?P<b><noun>)"
)
MY = _compile_form(r"我(?:家)?(?:所在|常用|用|工作|喜欢|住|开|买|养)?的(?:新)?(?P<a><noun>)(?!的)")
# What may stand right before a name in one run of characters.
_LEAD = regex(
    r"^.*(?:的|是|把|我们?|你们?|他们?|她|它|记着|记得|记住?|记下|忘掉|忘记|忘了|忘|关于|说到|至于|对于|大家|同意|一下|确认"
    r"|收回|撤回|删除|删掉|知道|决定|消息|备忘|更正|今天|起|之前|以前|现在|目前|说|请|别再?|不用|不要|再|着|了|和|跟|给|让"
    r"|在|就|都|也|被|对|到|用|从|由|将|有|选|当|做|为|就是|开始|原来|作为|本来|其实|最好|刚刚?|已经?|提到|聊|问过|查过|过|住|得|确实|不过|除非|更新|纠正|抱歉|接着|管|针对|聊聊)(?=[\u3400-\u9fff]{2})"
)
_BEFORE = regex(r"^(?:今年|去年|明年|本周|这周|上周|下周|给|麻烦|目前)")
_TAIL = regex(
    r"(?:项目组?|团队|那边|这边|那里|这里|目前|现在|定|用|不再|已经?|嘛|呢|啊|吧|这个|那个|系统|服务){1,8}$"
)


def bare_name(run: str) -> str:
    """Return a name without the words it runs together with."""
    name = run
    # Chinese has no spaces: 记得我们的青鸾 loses 记得, 我们, 的, one at a time.
    while (shorter := _LEAD.sub("", name)) != name:
        name = shorter
    return _TAIL.sub("", _BEFORE.sub("", name)) or name


# What follows an attribute that no table knows, where a value is given to it or taken away.
_STATES = _compile_form(
    r"(?:<sep>(?:我们?|咱们?|大家|他们?|她们?|团队)?(?:这边|这儿)?(?:<when>|又|都|也|就|还|是|天|在|经|后|来|应该?|统一|终|一直|被|从[^，。]{1,16}|由[^，。]{1,16}|打今天起|即日起|起){0,8}"
    r"(?:不?再?是|不?再?为|叫|定|改|换|设|调|变|更新?|重|确|敲|用|选|取|迁|升|降|转|搬|挪|推迟|提前|延|取消|作废|删|忘|没有|没了|没|不用|不算|不对|在|要|达|等于|有变|有调整|从|由|可以|不再|别|你|就|这|吧|当|的记忆|失效|过|弄错|记错|信息|已|一直|无效|清|划|打)|<sep>(?:——|[：:=（]))"
)
_SAID = 120
"""So far behind a subject it is looked for what is said of it."""
BEFORE = regex(r"(?:是|为|作为|当|做|叫|忘|删|撤回|收回|记|管|清除?)[^，。；]{0,24}$")
"""What may stand before a subject that ends its sentence: 8080是Atlas的端口."""


def is_stated_after(text: str, end: int) -> bool:
    """Whether a value is given to, or taken from, a subject that ends at a place."""
    return _STATES.match(text[end : end + _SAID]) is not None
