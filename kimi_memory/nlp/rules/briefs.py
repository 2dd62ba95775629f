"""Briefs: sentences that say what is being made, and for whom."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import sentences

_THING = (
    r"(?:apps?|applications?|web ?apps?|web ?sites?|sites?|platforms?|tools?|plug-?ins?|extensions?|add-?ons?|librar(?:y|ies)|systems?|(?:chat)?bots?|games?|dashboards?|portals?|cli|engines?|editors?|stores?|shops?|marketplaces?|portfolios?|frameworks?|crawlers?|scrapers?|parsers?|compilers?|mods?|programs?|software"
    r"|projects?|start-?ups?|compan(?:y|ies)|business(?:es)?|brands?|products?|books?|novels?|series|comics?|courses?|assistants?|datasets?|simulators?|trackers?|planners?|calculators?|design systems?|component library|monorepos?|newsletters?|podcasts?|channels?|theses|thesis)"
)
_GOES_ON = r"(?=\W*$|[.,;:!?)]| (?:for|that|which|to|called|named|with|where|who|in|on|using|of|about|from|based|and)\b)"
"""How a sentence goes on that names a thing, and no part or quality of it: "the app icon"."""
_VERB = r"(?:build|creat|develop|mak|design|writ|start|launch|implement|prototyp|complet|finish|work)(?:e|ing|ting)?"
_MAKES = regex(
    rf"\b(?:(?:i|we)(?:'m|'re| am| are)? (?:(?:want(?:ing)?|need|would like|'d like|like|plan(?:ning)?|try(?:ing)?|going|looking|hoping) to |(?:currently |now )?){_VERB}|i(?:'d| would)? (?:like|want|need)(?: you to (?:help me )?(?:build|create|develop|make|design|write))?|(?:help(?: me)?(?: to)?|let'?s|can you|could you|please)(?: define and)? (?:build|create|develop|make|design|write)|tasked with {_VERB}|help me with an idea for|^\W*(?:build|create|develop|design))"
    rf" (?:me |us |on )?(?:an?|my (?:first|own)|our (?:first|own))(?: (?!page\b|file\b|button\b|branch\b|function\b|test\b|folder\b|component\b|list\b|section\b|plan\b|description\b)[\w.+#&/’'-]+){{0,7}} {_THING}\b{_GOES_ON}",
    2,
)
_IS = regex(
    r"\b(?:[Tt]his|[Oo]ur|[Mm]y) (?:project|app|application|repo(?:sitory)?|site|website|tool|platform|system|product|startup|company|business|game|mod|plugin|library|book|story|novel) (?:(?:is|will be) (?:an?|the|called|named|for|about|meant|designed|built|intended|used|supposed|where)|aims?|helps?|lets|allows?|provides?|called|named)\b"
    rf"|\b[Tt]his is an? (?:[\w+.#&/-]+ ){{0,6}}(?:{_THING}|page)\b (?:that|which|for|to|where|built|using|designed|with)\b"
    rf"|\b[A-Z][\w-]{{2,24}}(?: [A-Z][\w-]+){{0,2}} is (?:an?|the|our) (?:[\w+.#&/-]+ ){{0,6}}{_THING}\b (?:that|which|for|to|where|built|using|designed|with)\b"
    rf"|\b(?:I|[Ww]e) (?:have|own|run|founded) an? (?:[\w+.#&/-]+ ){{0,5}}{_THING}\b(?=.{{0,6}}(?:\b(?:called|named|that|which|where|for|in)\b|[.,]|$))|\b[Aa]t [A-Z][\w-]+, we (?:create|make|build|provide|offer|help|design)\b"
    rf"|\b(?:[Tt]he )?(?:goal|purpose|aim|idea|mission|vision) (?:of (?:this|the|our|my) \w+ |in mind with this \w+ )?is to [a-z]",
)
_HAN_THING = r"(?:网站|网页应用|应用|app|小程序|公众号|平台|系统|工具|插件|扩展|游戏|项目|软件|机器人|智能体|框架|引擎|编辑器|商城|店铺?|后台|小说|故事|课程|论文|数据集|下载库|组件库|函数库|脚手架|爬虫|客户端|助手|产品|品牌|公司)"
_ZH = regex(
    rf"(?:我们?(?:现在|目前)?(?:想要?|要|需要|打算|正在|准备|计划|希望|在)|帮我|请(?:你)?(?:帮我)?|给我|(?:^|[，。：:\n])\W{{0,9}}(?:想要?|打算|准备|要)?)(?:通过[^，。]{{1,12}}|[^，。]{{0,3}})?(?:做|开发|写|搭建|实现|设计|架构|构建|创建|打造|制作|建|策划)(?:一[个个款套种部本篇]|个)[^，。；\n]{{0,30}}?{_HAN_THING}(?!的?(?:页面|文件|按钮|接口|目录|部署|图标|文档|教程|首页|UI))"
    rf"|(?:这个|本|我们的?|我的)(?:项目|系统|应用|网站|工具|平台|产品|库|游戏|小程序|公司)(?:是(?:一[个个款套种]|用来|为了?|面向)|用于|主要|旨在|的(?:目标|目的|定位)是)"
    r"|(?:项目|产品|系统)(?:目标|目的|定位|简介|背景)\s*[:：是]",
    2,
)


@keep_results(4096)
def tells_brief(text: str) -> bool:
    """Whether a text says what is being made: "I want to build an app that reads wave tables"."""
    plain = text.replace("’", "'")
    return any(words.search(plain) is not None for words in (_MAKES, _IS, _ZH))


def brief_in(text: str, most: int) -> str:
    """Return the first sentence of a text that says what is being made; empty where none does.

    Args:
        text: a message.
        most: so many of its characters are read.
    """
    head = text[:most]
    told = (head[start:end].strip() for start, end in sentences(head))
    return next((one for one in told if tells_brief(one)), "")
