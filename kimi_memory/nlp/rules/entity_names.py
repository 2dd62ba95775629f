"""Names of things and people, distinguished from other words in their place."""

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import fold_case, regex
from kimi_memory.nlp.dates.vocabulary import MONTH_NAMES, WEEKDAY_NAMES
from kimi_memory.nlp.rules.attribute_nouns import is_lexical

_NO_NAME = frozenset(
    [
        "let",
        "it",
        "that",
        "what",
        "he",
        "she",
        "there",
        "here",
        "who",
        "how",
        "i",
        "we",
        "you",
        "they",
        "this",
        "the",
        "our",
        "my",
        "its",
        "for",
        "about",
        "on",
        "in",
        "as",
        "please",
        "update",
        "correction",
        "note",
        "remember",
        "today",
        "yesterday",
        "tomorrow",
        *WEEKDAY_NAMES,
        *MONTH_NAMES,
        "sept",
        "everyone",
        "everybody",
        "somebody",
        "nobody",
        "heads",
        "fyi",
        "by",
        "just",
        "keep",
        "change",
        "where",
        "when",
        "why",
        "which",
        "one",
        "sorry",
        "no",
        "yes",
        "effective",
        "instead",
        "scratch",
        "as",
        "regarding",
        "speaking",
        "back",
        "with",
        "if",
        "after",
        "before",
        "since",
        "until",
        "although",
        "though",
        "while",
        "because",
        "so",
        "and",
        "but",
        "or",
        "then",
        "now",
        "thanks",
        "thank",
        "ok",
        "okay",
        "hi",
        "hello",
        "well",
        "never",
        "don't",
        "do",
        "make",
        "go",
        "is",
        "are",
        "was",
        "were",
        "not",
        "going",
        "starting",
        "otherwise",
        "also",
        "maybe",
        "perhaps",
    ]
)
_VERBS = frozenset(
    [
        "unlearn",
        "clear",
        "forget",
        "drop",
        "delete",
        "erase",
        "remove",
        "scrap",
        "strike",
        "note",
        "remember",
        "set",
        "put",
        "change",
        "move",
        "switch",
        "update",
        "about",
        "regarding",
        "consider",
        "ignore",
        "disregard",
        "discard",
        "keep",
        "since",
        "for",
        "on",
        "in",
        "as",
        "by",
        "the",
        "our",
        "make",
        "never",
        "instead",
        "scratch",
        "add",
        "with",
        "go",
        "run",
        "use",
        "when",
        "if",
        "after",
        "back",
        "so",
        "and",
        "but",
        "that",
    ]
)
_HAN_NO_NAME = regex(
    r"^(?:这|那|哪|什么|怎么|自己|大家|别人|团队$|小组$|公司$|部门$|我们|咱们|代码|问题|项目|系统|页面|函数|测试|数据|文件|程序|今天|昨天|明天|天气|用户"
    r"|接口|服务|模块|方法|时候|里面|上面|下面|后面|前面|所有|每|一个|两个|新|旧|原来|现在|以前|最后|主要|其他|不同|相同"
    r"|喜欢|最喜欢|重要|需要|可能|具体|真正|整个|我|你|他|她|它)"
)
# A run with one of these is part of a sentence: 云数据库这个月的额度.
_HAN_CLAUSE = regex(
    r"[这那哪每几]|另外|多少|[年月周天日时]$|之[前后]|以[前后]|^(?:讨论|商量|决定|经过|一致|最终|写|习惯|平时|目前|最近)"
    r"|(?:下来|完|好|过|起来|吧|嘛|相同|同样|一样|一致|类似)$|一下"
    r"|(?:周|星期|礼拜)[一二三四五六日天末]|早上|上午|中午|下午|晚上|凌晨|半夜"
)
_LONGEST = 8
_PERSON_ZH = regex(
    "^(?:(?:老|小|阿|大)?[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文庞樊兰殷施陶洪翟安颜倪严牛温芦季俞章鲁葛伍韦申尤毕聂丛焦向柳邢路岳齐梅莫庄辛管祝左涂谷祁时舒耿牟卜詹关苗凌费纪靳盛童欧甄项曲成游裴席卫查屈鲍位覃霍翁隋植甘景薄单包司柏宁柯阮桂闵阳解强丛冉][\u3400-\u9fff]{1,2}|(?:欧阳|司马|上官|诸葛|皇甫|夏侯|尉迟|慕容)[\u3400-\u9fff]{1,2}"
    r"|(?:老|小|阿)[\u3400-\u9fff]{1,2}|([\u3400-\u9fff])\1|[\u3400-\u9fff]{1,3}(?:总|哥|姐|叔|姨|爷|奶奶?|经理|老师|医生|工|主任|教授|律师|师傅|阿姨|先生|女士))$"
)
"""How Chinese people are named or addressed: 何川, 老罗, 朵朵, 周先生."""


def without_verb(run: str) -> str:
    """Return a name without the verb that a sentence may begin with."""
    first, _, rest = run.partition(" ")
    return rest if rest and fold_case(first) in _VERBS else run


def is_name(name: str, *, zh: bool) -> bool:
    """Whether a run of words, or of Chinese characters, may name something."""
    if zh and not name.isascii():
        return 2 <= len(name) <= _LONGEST and not (
            _HAN_NO_NAME.search(name) or _HAN_CLAUSE.search(name) or is_lexical(name)
        )
    return len(name) >= 2 and fold_case(name).split()[0].split("'")[0] not in _NO_NAME


def is_person_zh(name: str) -> bool:
    """Whether Chinese characters may name or address a person; other scripts always may."""
    return name.isascii() or _PERSON_ZH.match(name) is not None
