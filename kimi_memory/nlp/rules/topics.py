"""Topics of sentences: the stable names under which knowledge meets later knowledge."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import fold_case, keep_results, language_of, regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules.cues import own_words, split_reason

_DAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|evening|morning"
    r"|周[一二三四五六日天末]|星期[一二三四五六日天]|晚上|早上|半夜"
)
_SHIP = r"deploy\w*|releas(?:e|es|ing)|发版|上线|部署|发布"
# Possessive, so that a long word after "deploy" is read once only.
_SHIPPING = r"deploy[a-z]{0,12}+|releas(?:e|es|ing)|发版|上线|部署|发布"

# From the particular to the general: the first that fits names the topic.
_TABLE: tuple[tuple[str, str], ...] = (
    ("log-format", r"\blog(?:ging)? formats?\b|日志(?:的)?格式"),
    ("branch", r"\b(?:main|default|release) branch\b|主分支|默认分支"),
    (
        "release-day",
        r"\b(?:release|deploy(?:ment)?|ship(?:ping)?) (?:day|date)s?\b|发布日期?|上线日期?|发版日",
    ),
    ("upload-limit", r"\b(?:upload|file size|size) limit\b|上传(?:上限|限制|大小)"),
    ("retention", r"\bretention\b|保留(?:期限|时间|期|天数)"),
    ("rate-limit", r"\brate[ -]limits?\b|限流|速率限制"),
    (
        "deploy-time",
        rf"(?:{_SHIPPING})[^。.]{{0,24}}(?:{_DAY})|(?:{_DAY})[^。.]{{0,16}}(?:{_SHIP})|部署时间"
        rf"|(?:deploy|release) (?:time|day)",
    ),
    (
        "working-hours",
        r"working hours|工作时间|\b(?:work|code|write)\b[^.]{0,24}\b(?:after|before|until"
        r"|mornings?"
        r"|evenings?|nights?|weekends?|\d ?[ap]m)\b"
        r"|点(?:以|之)?(?:后|前)[^。]{0,6}(?:写|工作|干活|有空)"
        r"|(?:晚上|早上|上午|下午|周末)[^。，]{0,8}(?:写代码|工作|干活|有空)",
    ),
    ("answer-style", r"\b(?:answers?|replies|responses|explanations?)\b|回答|回复|解释"),
    ("commit-message", r"commit messages?|提交(?:信息|说明|记录)|commit 信息"),
    ("changelog", r"change ?log|更新日志"),
    ("comments", r"\bcomments?\b|注释"),
    ("documentation", r"\bdocs?\b|\bdocumentation\b|文档"),
    ("build-tool", r"\bwebpack\b|\bvite\b|\brollup\b|\besbuild\b|构建工具|打包工具"),
    ("icons", r"\bicons?\b|图标"),
    ("branch", r"\bbranch(?:es|ing)?\b|分支"),
    ("code-review", r"code reviews?|\breviewed\b|代码(?:评审|审查)"),
    ("notification", r"pop-?ups?|notifications?|\btoasts?\b|\bbanner\b|弹窗|提示条|通知"),
    ("font-size", r"font[ -]sizes?|字号|字体大小"),
    ("theme", r"\b(?:dark|light) (?:theme|mode)\b|\bthemes?\b|主题|深色|浅色|暗色"),
    ("image-format", r"\bwebp\b|\bavif\b|\bjpe?g\b|\bpng\b|图片(?:格式|压缩|统一)|image formats?"),
    ("date-format", r"\b(?:dates|timestamps?)\b|date format|时间戳|日期(?:格式|统一|存)"),
    ("qr-code", r"\bqr[ -]codes?\b|二维码"),
    ("secrets", r"\bsecrets?\b|\bcredentials?\b|api keys?|密钥|密码|凭证"),
    ("bulk-import", r"批量(?:导入|写入)|导入|\bbulk imports?\b"),
    ("migration", r"\bmigrations?\b|\bmigrat(?:e|ing)\b|迁移"),
    ("backup", r"\bback(?:ing)?[ -]?ups?\b|备份"),
    ("scheduled-job", r"\bcron\b|scheduled (?:job|task)s?|定时任务"),
    ("csv-export", r"\bcsv\b|\bexports?\b|导出"),
    (
        "indentation",
        r"\bindent\w*|缩进|\btabs?\b.{0,20}\bspaces?\b|\bspaces?\b.{0,20}\btabs?\b|[个格]空格",
    ),
    (
        "editor",
        r"\beditors?\b|编辑器|\bvs ?code\b|\bneovim\b|\bvim\b|\bemacs\b|\bhelix\b|\bpycharm\b"
        r"|\bsublime\b|\bzed\b",
    ),
    (
        "testing",
        r"\btest(?:s|ing)? (?:framework|tool|runner|library)\b|测试(?:框架|工具)|\btest(?:s|ing)?\b|\bpytest\b|\bvitest\b|\bjest\b|\bunittest\b|测试|用例",
    ),
    (
        "hosting",
        r"\bhost(?:ed|ing)?\b|\bservers?\b|\bhetzner\b|\bvps\b|\baws\b|服务器|托管|云主机|机房",
    ),
    ("cache", r"\bcach(?:e|es|ing)\b|\bredis\b|\bmemcached\b|缓存"),
    ("queue", r"\bqueues?\b|\brabbitmq\b|\bkafka\b|\bcelery\b|消息队列|队列"),
    ("search-engine", r"search engine|\belasticsearch\b|\bmeilisearch\b|搜索引擎|全文检索"),
    ("port", r"\bports?\b(?! (?:it|the|this|to)\b)|端口"),
    (
        "frontend",
        r"\bfront-?end\b|前端|\bvue\b|\breact\b|\bsvelte\b|\buni-?app\b|\btaro\b|\bangular\b"
        r"|\bhtmx\b",
    ),
    (
        "backend",
        r"\bback-?end\b|后端|\bfastapi\b|\bflask\b|\bdjango\b|\bexpress\b|\bspring boot\b"
        r"|\brails\b",
    ),
    ("framework", r"\bframeworks?\b|框架"),
    (
        "database",
        r"\bdatabases?\b|数据库|\bpostgres(?:ql)?\b|\bmysql\b|\bsqlite\b|\bmongo ?db\b"
        r"|\bmariadb\b|\bduckdb\b",
    ),
    (
        "package-manager",
        r"package managers?|包管理|\bpnpm\b|\byarn\b|\bnpm\b|\bpoetry\b|\buv\b|\bpip\b",
    ),
    ("license", r"\blicen[sc]es?\b|许可证|开源协议|\bapache-2|\bmit\b"),
    ("login", r"\blog-?ins?\b|\bauth(?:entication)?\b|\boauth\b|\bjwt\b|登录|认证"),
    ("api-style", r"\brestful\b|\brest api|\bgraphql\b|\bgrpc\b|接口风格"),
    ("ci", r"\bci\b|github actions|jenkins|持续集成|流水线"),
    ("logging", r"\blogging\b|\bloguru\b|\bstructlog\b|日志"),
    ("meeting", r"\bstand-?ups?\b|\bmeetings?\b|例会|周会|站会|开会"),
    (
        "language",
        r"programming language|编程语言|\bpython\b|\brust\b|\bgolang\b|\btypescript\b"
        r"|\bkotlin\b|\bjava\b",
    ),
    ("deploy", rf"(?:{_SHIP})"),
    (
        "name",
        r"\b(?:call|name) (?:it|the (?:app|project|tool|repo))\b|项目(?:名|叫)|(?:命名|起名"
        r"|取名)(?:为|叫)?",
    ),
    ("deadline", r"\bdeadlines?\b|\bdue date\b|截止(?:日期?|时间)|期限|交付日期?"),
    ("owner", r"\b(?:product |project |code )?(?:owner|maintainer|lead)\b|负责人|维护者"),
    ("budget", r"\bbudgets?\b|预算"),
    ("timeout", r"\btime-?outs?\b|超时(?:时间|时长)?"),
    ("region", r"\b(?:cloud )?regions?\b|(?:部署|机房|云|服务器?)(?:的)?区域|可用区|地域"),
    ("version", r"\bversion\b|版本号?"),
    ("domain", r"\bdomain(?: name)?\b|域名"),
    ("drink", r"\bcoffee\b|\btea\b|\bdrink(?:s|ing)?\b|咖啡|奶茶|喝"),
    ("music", r"\bmusic\b|\blisten to\b|听歌|音乐"),
)
_TOPICS = tuple((name, regex(pattern)) for name, pattern in _TABLE)
KNOWN = frozenset(name for name, _ in _TABLE)
"""Topics that hold one choice at a time."""

_SLOT = regex(
    r"\bfor (?:the |our |my |all |every )?([a-z][a-z -]{2,30}?)(?= (?:we|i|because|since"
    r"|so)\b|[,.;!]|$)"
)
_SLOT_ZH = regex(r"用.{1,24}?(?:来做|作为|做|当)(?:我们)?(?:的)?([\u3400-\u9fff]{2,6})")
_ADDRESS = regex(
    r"(?:我们|咱们|我|你|大家|一下|以后|统一|一律|必须|所有|决定|习惯|喜欢|不喜欢|讨厌|一般|通常|一直|先|就|还是|改用|换成|发现"
    r"|实测|教训|这个|那个|这次|每次|不要|一定要?|要|都|也|再|把|用|了|的|是|在|和|跟|对|给|让|被|从|到|里|得|着|很|太|特别)"
)
_HAN_RUN = regex(r"[\u3400-\u9fff]{2,8}|[a-z][a-z0-9.+-]{1,20}")
_LATIN = regex(r"[a-z][a-z0-9'+-]{1,24}")
# Words that carry no topic.
_SMALL = """
    a an the and or but so to of in on at by for from with as is are was were be been am do
    does did we i you he she it they them us me my our your his her its their this that
    these those there here let let's use uses used using go goes going will we'll i'll it's
    i'm we're that's don't not no never always must should can could would have has had just
    really very than then when what which who how prefer like love hate dislike want decided
    decide agreed because out up off about into over only also suggest propose recommend all
    every each any some one two more most much many get got found noticed measured takes
    took work works worked well keep doing lesson learned next time first after before
    things thing way new please instead rather
"""
# What comes before a noun without making it another matter.
_MODIFIER = regex(
    r"^(?:(?:primary|preferred|go-to|chosen|standard|project|team|favou?rite|code|text|main|default) )+"
    r"|^(?:首选|项目|团队|最喜欢的?|最爱的?|默认的?|常用的?|主)(?=.{2})"
)
_TAIL = regex(
    r"(?<=[a-z]) (?:number|value|setting|choice|option|engine|system|tool|software|period|server type)$"
    r"|(?<=[\u3400-\u9fff])(?:设置|设定|选项|选择|值|软件)$"
)
_STOP = frozenset(_SMALL.split())


def topic_of(sentence: str) -> str:
    """Return the name of what a sentence is about: a known topic, its slot, or its words.

    The reason a sentence gives does not count: "X, because the database is slow" is
    about X. The same topic in Chinese and in English has the same name.
    """
    claim = own_words(split_reason(sentence)[0])
    known = known_topic(claim)
    if known:
        return known
    slot = _SLOT.search(claim) or _SLOT_ZH.search(claim)
    return name_of(slot[1] if slot else claim)


def known_topic(claim: str) -> str:
    """Return the topic of the table that a claim is about, or nothing."""
    low = fold_case(claim)
    return next((name for name, pattern in _TOPICS if pattern.search(low)), "")


@keep_results(4096)
def named_topic(noun: str) -> str:
    """Return the topic of which a whole noun is the name, or nothing."""
    low = _TAIL.sub("", _MODIFIER.sub("", fold_case(noun)))
    return next((name for name, pattern in _TOPICS if pattern.fullmatch(low)), "")


def has_topic(noun: str) -> bool:
    """Whether a noun ends in the name of a topic, and so is of its sort."""
    low = fold_case(noun)
    return any(found.end() == len(low) for _, pattern in _TOPICS for found in pattern.finditer(low))


def name_of(text: str, words: int = 4) -> str:
    """Return a slug of the words that carry a text's meaning."""
    low = fold_case(text)
    if language_of(text) == "zh":
        found = _HAN_RUN.findall(_ADDRESS.sub(" ", low))[:2]
    else:
        found = list(dict.fromkeys(w for w in _LATIN.findall(low) if w not in _STOP))[:words]
    return slug("-".join(found).replace("'", "").replace(".", "-") or low, 48)
