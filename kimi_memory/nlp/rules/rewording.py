"""Claims in Chinese in one wording: of short words and their longer forms, the short one.

数据库用 PostgreSQL and 数据库使用 PostgreSQL share few of their letters and say the same. A form
is here only where it never says more than the other: 必须 and 可以 tell of duty and leave, so
they stay.
"""

# ruff: noqa: E501  lists of words are read by their groups, not by their width

from __future__ import annotations

from functools import lru_cache

from kimi_memory.nlp.basic.patterns import HAN, normalise, regex, simplify
from kimi_memory.nlp.rules.clause_form import claim_words

_FORMS = """
用:使用,采用,选用,改用的是 在:位于,处于,设在,坐落在 前:之前,以前 后:之后,以后 里:里面,之中,当中,内部 上:上面,之上 下:下面,之下
时:的时候,时候 要:需要,需 排:安排 存:存放,保存 放:放置 改:修改,更改 写:编写,撰写 买:购买 住:居住 做:来做,去做,进行,作为
和:以及,与,跟,及 但:但是,不过 如果:要是,若是,假如 因为:由于 马上:立刻,立即 大约:大概 每天:每日,天天,每一天 每周:每星期,每礼拜,每个星期,每个礼拜
周:星期,礼拜 月底:月末 早上:早晨 电脑:计算机 默认:缺省 全部:所有,全都 给:交给,发给 只:仅,只有,仅仅 老师:教师 医生:大夫
端口:端口号 地址:的地址 叫:叫做,名叫,名字叫,的名字是,名字是 是:为,的是 能:能够 想:想要 已:已经 从:自从 到:到了 爱:喜爱 病:疾病 帮:帮助,帮忙
"""
_SHORT = {
    longer: short
    for entry in _FORMS.split()
    for short, _, forms in [entry.partition(":")]
    for longer in forms.split(",")
}
# The longest first: of 每个星期 no 星期 may be replaced alone.
_LONGER = regex("|".join(sorted(_SHORT, key=lambda form: (-len(form), form))))
_TONE = regex(
    "必须|可以|应该|应当|一定|可能|也许|通常|一般|平时|总是|一直|一律|每次|偶尔|经常|只|现在|目前|曾经|将来|全部|部分|大约|至少|至多|最多|最少|以上|以下"
)
# 每周五把周报发给李雷 and 周报每周五发给李雷 name the same in another order.
_OBJECT = regex(
    r"^(?P<before>[^把，。；,;]{1,16})把(?P<object>[^，。；,;]{1,10}?)(?=(?:发|交|送|寄|放|存|写|改|设|定|传|推|带|拿|给|移|换|调|记|贴|挂|同步|上传|备份|归档|整理))"
)
_HOUR = regex(rf"(?<=\d) (?=[{HAN}])|(?<=[{HAN}]) (?=\d)")


@lru_cache(maxsize=8192)
def reworded(text: str) -> tuple[str, ...]:
    """Return the words of a Chinese claim in one wording; none of a text without hanzi.

    What sets the tone of a claim stands among them in its order, as it does not elsewhere.
    """
    plain = _HOUR.sub("", simplify(normalise(text)))
    if not any("\u3400" <= ch <= "\u9fff" for ch in plain):
        return ()
    plain = _OBJECT.sub(lambda found: found["object"] + found["before"], plain)
    short = _LONGER.sub(lambda found: _SHORT[found[0]], plain)
    words = claim_words(short)
    return (*words, *_TONE.findall(short)) if words else ()
