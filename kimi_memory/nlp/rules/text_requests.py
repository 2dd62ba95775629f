"""Requests to work on a text: summarise, translate, proofread, explain, answer it.

What follows such a request was mostly written by somebody else. Patterns stand for ways
to ask: a verb that is done to texts, something that points at a text, or a colon. With a colon,
sentences introduce somebody else's words as well: "Here's what she wrote: …". Any other speaker
than the person makes what follows a text of somebody else, and so does a place where the person
only found or copied it.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from enum import Enum

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import fold_case, rare, regex

_REACH = 400
"""More of a sentence is not read: a request comes first."""
# A colon before a text; not the one of 12:30 or https://.
_COLON = regex(r"[:：](?![/\d])|(?<!\d)[:：](?=\d)")

_NOUNS = (
    r"(?:texts?|articles?|e-?mails?|mails?|letters?|messages?|paragraphs?|passages?|excerpts?|essays?|posts?|threads?|tweets?"
    r"|sentences?|abstracts?|contracts?|agreements?|transcripts?|chats?|conversations?|documents?|papers?|reports?|notices?"
    r"|announcements?|newsletters?|press releases?|reviews?|comments?|stor(?:y|ies)|poems?|speech(?:es)?|web ?pages?|readmes?"
    r"|changelogs?|manuals?|terms|polic(?:y|ies)|clauses?|drafts?|logs?|stack ?traces?|tracebacks?|error messages?|snippets?"
    r"|memos?|minutes|testimonials?|screenshots?|captions?|subtitles?|voice ?mails?|prompts?|bios?|arguments?|positions?|opinions?|answers?|recordings?|essays?|diar(?:y|ies)|meeting notes|blogs?|lyrics|recipes?|invoices?|quotes?|quotations?|content|lines|words|statements?)"
)
_IT = r"(?:this|these|it|that|the following)"
_CHANGE_EN = (
    r"(?:summari[sz]e|sum up|tl;?dr|translate|proof-?read|paraphrase|rephrase|reword|re-?write|polish|condense|transcribe"
    r"|spell-?check|copy-?edit|grammar-?check|critique(?= (?:this|the|it|my|these|that|an?|our)\b| ?[:：])|annotate|reply to|respond to|write (?:back|an? (?:reply|response|answer|summary|abstract|translation))"
    r"|draft an? (?:polite |short |brief |formal |quick )?(?:reply|response|answer)|(?:give|send|write|get|make) (?:me )?(?:an? |the )?(?:\w+ ){0,2}(?:summary|gist|translation|tl;?dr|digest|key points|main points|outline|paraphrase)"
    r"|(?:check|fix|correct|improve) (?:the )?(?:grammar|spelling|wording|typos|style|punctuation|english)"
    # Ways to say it without a verb of writing: what is done can only be done to a text.
    rf"|make {_IT} (?:sound|read|more|less|flow|rhyme|formal|polite|concise|professional|casual|punchy|friendl(?:y|ier)|shorter|longer|nicer|softer|clearer|simpler|punchier|snappier|warmer|crisper|tighter|kinder|politer|catchier|smoother)\b"
    rf"|turn (?:{_IT}|(?:this|these|the|my) (?:[\w-]{{1,20}} ){{0,2}}?{_NOUNS}) into|(?:cut|boil|break|trim|water|dumb) {_IT} down|(?:tighten|spruce|punch|jazz|touch) {_IT} up|(?:tighten|spruce|punch|jazz|touch) up {_IT}|flesh {_IT} out"
    rf"|(?:put|phrase|say|word) {_IT} (?:in|into|as) (?:an? |your own |my own |other |plain |simple |proper |everyday )?(?:table|bullets?|bullet points|list|words?|english|german|french|spanish|chinese|terms|language)"
    rf"|give {_IT} an? (?:[\w-]{{1,20}} ){{0,2}}(?:once-over|look|read|polish|title|headline|edit|review|rewrite|summary)|run an? [\w -]{{1,20}} on {_IT}"
    rf"|help me (?:to )?(?:understand|make sense of|reply to|answer|respond to|phrase|word|digest) {_IT}|tell me (?:what|whether|if|how|who|why) {_IT}"
    rf"|(?:write|make|compose|create|craft|draft) (?:me )?an? (?:[\w-]{{1,20}} ){{0,3}}?(?:headline|title|haiku|poem|tweet|comeback|reply|answer|response|rebuttal|caption|slogan|summary|blurb|song|limerick|hook|abstract|outline|quiz|tl;?dr) (?:out )?(?:to|of|from|for|about|on) {_IT}\b|fill in the (?:blanks|gaps)|fact[- ]?check"
    r"|(?:continue|finish|complete|extend) (?:this|the|my) (?:[\w-]{1,20} ){0,2}?(?:story|poem|text|essay|article|letter|paragraph|sentence|dialogue|conversation)"
    r"|eli ?\d{1,2}\b|(?:argue|debate) (?:against|for) (?:this|these|the following|it)\b|(?:rebut|refute|counter|debunk|roast|steelman|punctuate|conjugate|caption|subtitle|dub|rhyme|parody|anonymi[sz]e|type out|type (?:this|these|it) (?:out|up))\b|(?:label|tag|mark|score|rate|rank|grade|classify) (?:each|every|all)\b|make the following\b|grade (?:my|his|her|their) (?:[\w-]{1,20}'s? )|explain (?:it )?like i'm (?:five|5)|(?:key |main )?takeaways(?= ?\?| (?:of|from) (?:this|these|the following))|(?:sentiment|tone) (?:of|analysis|check)|title for)"
)
_WORK_EN = (
    r"(?:edit|correct|fix|improve|expand|shorten|simplify|format|reformat|convert|classify|categori[sz]e|extract|pull out|outline|grade"
    r"|score|rate|evaluate|assess|analy[sz]e|interpret|decode|parse|review|check|verify|explain|describe|comment on|answer|read|look (?:at|over|through)"
    r"|(?:take|have) a (?:\w+ )?look(?: at| over| through)?|go (?:over|through)|identify|compare|highlight|digest|clean up|tidy up|process|feedback on|thoughts on|opinion (?:on|of))"
)
_ASKING_EN = (
    r"(?:(?:hey|hi|hello|ok(?:ay)?|now|then|next|first|also|so|and|please|pls|plz|kindly|just|quickly|briefly|carefully)[ ,]+)*"
    r"(?:(?:please |kindly )?(?:can|could|would|will) (?:you|u|someone)(?: please| kindly| just| quickly)? |help me (?:to )?|help (?:to )?"
    r"|i(?:'d| would)? (?:want|need|like|love) (?:you to |for you to |an? |some |your )?|(?:your|the) (?:task|job) is to |let's |any |what's your |give me (?:your |some )?)?(?:please |kindly )?"
)
_CHANGES_EN = regex(rf"(?:^|[,;.!—–→-] ?|\b(?:please|and|then) ){_ASKING_EN}{_CHANGE_EN}\b")
_WORKS_EN = regex(rf"(?:^|[,;.!—–→-] ?|\b(?:please|and|then) ){_ASKING_EN}{_WORK_EN}\b")
_ASKS_EN = regex(
    r"\bwhat (?:does|do|did|is|are|was) (?:this|these|the (?:following|text|article|e?mail|message|author|writer))\b.{0,60}(?:mean|say|about|trying|tell)"
    r"|\bwhat(?:'s| is) (?:wrong with this|the (?:gist|point|tone|meaning|main (?:point|idea)) of)\b|\bwhat do you (?:think|make) of (?:this|the following)\b"
    rf"|\bhow (?:should|would|do|can|could) (?:i|we|you) (?:reply|respond|answer)\b|\b(?:is|are) (?:this|these|the following) (?:{_NOUNS} )?(?:correct|true|legit|legitimate|spam|a scam|phishing|grammatical|ok|okay|real|genuine|safe|fake)\b"
    rf"|\b(?:does|do|did|is|are|was|were|would|will|can|could|should|has) (?:this|these|the following) (?:[\w-]{{1,20}} ){{0,2}}?{_NOUNS}\b"
    rf"|\b(?:thoughts?|vibe check|feedback|opinions?|takes?|views?|comments?|second opinion) on (?:this|these|the following|what (?!(?:i|we)\b))"
    r"|\bwhat(?:'s| is)? (?:the )?(?:tone|sentiment|mood|register)\b.{0,30}\b(?:this|these|it)\b"
    r"|\bany (?:typos|mistakes|errors)\b|\b(?:in|into) (?:english|french|german|spanish|chinese|japanese|mandarin|portuguese)\s*[:：]"
)
_FOLLOWS_EN = regex(
    r"\b(?:the |these )?following\b|\bbelow\b|\bas follows\b|\bbeneath\b|\bthis\s*:"
)
_NAMED_EN = regex(
    rf"\b(?:this|these|that|those|the|my|an?|his|her|their) (?:[\w'-]+ ){{0,3}}{_NOUNS}\b"
)
_POINTED_EN = regex(rf"\b(?:this|these) (?:[\w'-]+ ){{0,2}}{_NOUNS}\b")
_BARE_EN = regex(
    r"\b(?:this|these|it)\b(?= *(?:$|[.,;:?!]|in(?:to)?\b|to\b|for\b|as\b|please\b|and\b|mean|say|about|—|-))"
)
_OF_PROGRAMS = regex(
    r"\b(?:logs?|stack ?traces?|tracebacks?|error messages?|snippets?|lines|readmes?)\b|日志|报错"
)
_ABOVE_EN = regex(
    r"\b(?:the |all (?:of )?the )?(?:above|foregoing|preceding|previous text)\b|\b(?:this|that|it)\b"
)
_ABOVE_LINE_EN = regex(
    r"\babove\b|\bforegoing\b|\bthis (?:sentence|paragraph|passage|text|message)\b"
)

_NOUNS_ZH = (
    r"(?:文章|文本|文字|邮件|来信|信件|信|短信|消息|通知|公告|新闻|合同|条款|协议|论文|报告|日志|报错|聊天|对话|会议|纪要|记录|帖子|评论"
    r"|作文|文案|文档|材料|内容|段落|段|句子|句|话|原文|诗|故事|小说|简历|英文|中文|外文|摘要|说明|微博|推文|稿子?|译文|声明|资料|笔记|观点|说法|提示词|台词|日记|评价|回答|弹幕|海报|录音|字幕|口播|作业|传单|广告)"
)
_CHANGE_ZH = (
    r"(?:翻译|翻成|翻一下|译成|译为|译一下|润色|校对|改写|重写|转述|缩写|扩写|续写|精简|概述|复述|仿写|纠错|改错|改病句|反驳|打个?分(?=\s|[：:，,。]|$)|断句|标注|标点|缩成|扩成|赏析|点评|押韵|配音|造句|(?:接着|继续)?往下[写编]|接龙|(?:写|列|做)个?(?:大纲|提纲|要点)|改成(?:文言|白话|诗|对话|第[一二三]人称)|判断[^，。：:]{0,12}(?:情感|情绪|真假|对错|正负|语气)|回信|回一下"
    r"|回复(?!我|的时候|时|要|都|请|一律|必须)|总结|概括|归纳|摘要|提炼"
    r"|(?:改|写)得(?:更|再)?(?:客气|礼貌|正式|口语|简洁|简短|通顺|流畅|委婉|温柔|友好|专业|生动|书面|自然|地道|通俗|活泼|幽默)化?一?[点些]?"
    r"|(?:压缩|缩短|缩减|精炼|浓缩)(?:到|成|至|为)?\s?\d{1,5}\s?个?[字词]|缩短一?[点些下](?=[：:])|换[个种](?:说法|表达|语气)|翻成|做成(?:表格|清单|列表|思维导图|幻灯片)"
    r"|列[个出一]?[下个]?(?:提纲|大纲)|按要点|[起拟取][个一]?个?标题|挑挑?(?:毛病|错)|查查?错别?字|找错别字|讲讲(?=这|下面|以下)|补全|核实(?:一下)?(?=这|以下|下面)|求证|写个(?:回复|回信|摘要|总结|提纲))"
)
_WORK_ZH = (
    r"(?:解释|解读|分析|看看|看一看|看一下|看下|瞧瞧|读一下|读读|读一遍|阅读|检查|审阅|审核|审查|审一下|点评|评价|评论|评估|批改|修改|改一下|改改|整理|提取|抽取"
    r"|讲解|说明|理解|判断|鉴别|识别|转换|转成|改成|排版|比较|查一下|处理|回答)"
)
_RECAP_ZH = r"(?:总结|概括|归纳|摘要|提炼|概述)"
_ASKING_ZH = r"(?:请你?|帮我|帮忙|帮|麻烦你?|给我|能不能|能否|可以|可否|替我|为我|劳驾|你来|需要你|想让你|想请你)"
_CHANGES_ZH = rare(
    rf"{_ASKING_ZH}[^，。：:；]{{0,24}}?{_CHANGE_ZH}|(?:^|[，,。；！!\s])(?:先|再|然后|快速|简单|用[^，。：:；]{{1,8}})?{_CHANGE_ZH}(?!是|了|出|得|过)"
    rf"|(?:把|将|对|给)[^，。：:；]{{1,24}}?{_CHANGE_ZH}"
)
_WORKS_ZH = rare(
    rf"{_ASKING_ZH}[^，。：:；]{{0,24}}?{_WORK_ZH}|(?:^|[，,。；！!\s]){_WORK_ZH}(?!是|了|出|得|过)|(?:把|将|对)[^，。：:；]{{1,24}}?{_WORK_ZH}"
)
_RECAPS_ZH = regex(rf"^(?:简单|先|再|我)?(?:来)?{_RECAP_ZH}(?:一下|下)?\s*[:：,，]")
_ASKS_ZH = rare(
    r"什么意思|啥意思|(?:讲|说|写)了(?:些)?(?:什么|啥)|(?:讲|说|写)的是(?:什么|啥)|(?:怎么|如何|怎样)回(?:复|答|信|他|她|对方)?|是真的吗|是不是(?:诈骗|骗|真的|谣言)"
    r"|有没有(?:错别字|语病|语法|问题|错误)|有什么(?:问题|错误|毛病)|对不对|怎么看|(?:语气|口吻)(?:怎么样|如何|合适吗|对吗|好吗)|通顺吗|通不通顺|是(?:诈骗|骗子|谣言|骗局)[^，。]{0,6}吗|用?[\u3400-\u9fff]{1,4}[语文话]怎么(?:说|讲|表达|写|翻)|怎么(?:翻译|表达)|(?:这样|这么)(?:写|说|讲)(?:行|对|好|可以|合适)|(?:短信|消息|邮件|新闻)[^，。]{0,6}(?:靠谱|可信|是真的|真实)吗"
)
_FOLLOWS_ZH = regex(r"以下|下面|下列|如下|下文|下方|下边")
_NAMED_ZH = regex(
    rf"(?:这|那|该|此|上面|我的|一)[一两几]?(?:段|篇|封|条|份|个|则|句|首|些|张|章|页|通)?[^，。：:]{{0,8}}?{_NOUNS_ZH}|(?:这|那)(?:段|篇|封|则|句|首)|(?:翻译|润色|校对|改写)(?:一下)?[:：\s]*$"
)
_BARE_ZH = regex(r"(?:这|这个|这些|它)(?=$|[，,。：:；？?！!]|什么|是|翻|译|总|讲|说)")
_ABOVE_ZH = regex(r"上面|上文|上述|以上|前面|前文|这(?:段|篇|封|句|些|个)?")
_ABOVE_LINE_ZH = regex(
    r"上面|上文|上述|以上|前面|前文|这(?:段|句)话?|^用?[\u3400-\u9fff]{1,4}[语文话]怎么"
)

# A link, a file or an attachment: what follows in the turn is not the text.
# "In pirate speak please:", "Write a bio for this user:", 给每句话标注正负面：
_POLITE = regex(
    r"\b(?:please|pls|plz|kindly|(?:can|could|would) you)\b(?!.{0,200}\b(?:remember|note|keep|know|always|never|stop|don't)\b)"
    r"|^(?:write|make(?! sure)|create|design|draft|generate|compose|invent|suggest|propose|guess|describe|imagine|do|run|apply)\b.{0,200}\b(?:of|for|from|about|on|to|with) (?:this|these|the following)\b|\b(?:ocr|text|transcri\w+|copy|contents?) of (?:the|this|an?) (?:\w+ )?(?:screenshot|image|photo|picture|scan|page|slide|sign|label|video|audio|call)"
    r"|^(?!.{0,30}(?:我|咱|记))(?:请|帮|给|把|将|对|按|接着|继续|根据)[^，。：:]{2,24}$"
)
_ELSEWHERE = regex(
    r"https?://|\battach(?:ed|ment)\b|\b[\w-]{1,64}\.(?:pdf|docx?|md|txt|png|jpe?g|py|js|ts|go|rs|html?|csv|xlsx?|pptx?)\b|附件|链接|截图|图片|照片|文件夹"
)
"""Where the text is, if not in what follows."""
_INTRODUCES = regex(
    rf"(?:\b(?:here(?:'s| is| are)|this is|these are|below is|following|got|received|found|saw|forwarded|sent|wrote|posted|pasted|quoted|copied|from|reads|says|states)\b.{{0,80}}?\b{_NOUNS}\b|\b{_NOUNS}\b.{{0,80}}?\b(?:below|following|i (?:got|received|found|saw)|from|reads|says|states|goes|sent|wrote)\b)"
    r"|^(?!(?:i|we|i've|we've|i'd|and i|but i)\b)[\w' .-]{1,40}\b(?:wrote|writes|says|said|replied|reads|states|announced|posted|emailed|texted|messaged|told (?:me|us)|sent (?:me|us)(?: this)?|keeps? (?:on )?(?:telling|saying|writing|texting|repeating)|(?:typed|dictated|scribbled|jotted)(?: (?:it|this|that|down|up|out))?)(?: (?:me|us|this|back|that|to \w+|in \w+))?\s*$"
    r"|^(?:the )?(?:article|text|original(?: text)?|source(?: text)?|passage|excerpt|transcript|document|content|abstract|input|quote|context|email body|message body)\s*$"
    r"|^(?:(?:a|the|this|that|another|one|next|last|his|her|their) )?(?:more )?(?:(?:pr|code|peer) )?(?:review(?:er)?(?:'s)? (?:comments?|feedback|remarks?)|(?:review|feedback)(?= from))(?: from [\w @.-]{1,30})?\s*$"
    rf"|(?:收到|看到|读到|转发|这是|以下是|下面是|发来|发了|发给|写道|写了|贴|引用|摘自|来自|如下)[^：:]{{0,24}}{_NOUNS_ZH}|{_NOUNS_ZH}[^：:]{{0,12}}(?:如下|这样写|写道|写着|说|内容)|(?:写道|写着|这么说|这样说|回复说|发来)$"
    r"|^(?!我|咱|.{0,8}我说|简单|换句|换言|也就|就是|总的|总之|总体|具体|坦白|老实|一般|比如|例如|譬如|准确|严格|确切|直白|通俗|一句话|再|应该|可以|跟你|和你|对你)[\u3400-\u9fffA-Za-z]{1,12}(?:说|回复|回|表示|问|讲|留言|来信|发消息)(?:了|道|我)?$|^[^我咱]{0,12}(?:看到|刷到|读到)(?:的|了)?$|^(?:原文|正文|全文|文章|邮件|邮件内容|内容|文本|材料|段落|聊天记录|引文|译文|背景材料|公告|通知|(?:代码)?(?:评审|审查|审核)(?:意见|评论|建议|反馈))$"
)
_ORDERS_MEMORY = regex(
    r"\b(?:remember|note|keep in mind|don't forget)\b[^:]{0,40}$|^(?!here (?:are|is) the\b|here's the\b).{0,200}\b(?:my|i|we|our)\b[^:]{0,40}$|记住|记得|记下|记一下|别忘|规矩|规则|决定|换句话|一句话"
)

_FRIEND_SAYS = regex(
    r"\b(?:my|our) (?!(?:own )?(?:notes?|plans?|calendar|diary|journal|gut|lists?|rules?|head|heart|to-?dos?)\b)[\w'-]{2,20} (?:[\w'-]{1,20} ){0,5}?(?:keeps? (?:on )?(?:telling|saying|writing|texting|repeating)|says?|said|writes?|wrote|typed|dictated|texted|told|replied|posted)(?: (?:me|us|it|this|that))?\s*$"
)
"""My sister wrote: what follows is hers, though my stands before it."""


class Where(Enum):
    """Where the text lies that somebody asks to work on."""

    AFTER = "after"
    """In what follows, however it sounds."""
    MAYBE = "maybe"
    """In what follows, unless the speaker goes on about themselves on the same line."""
    HERE = "here"
    """In the sentence itself."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to work on a text, found in one sentence."""

    start: int
    """Where the asking begins."""
    text: int
    """Where the text begins: behind a colon, or the end of the sentence."""
    where: Where
    alone: bool
    """Whether it may hold the text itself, without a mark: 把这句话翻译成英文，…"""
    back: bool
    """Whether it may mean the paragraphs before it."""
    back_here: bool
    """Whether it may mean the sentences before it on the same line."""


def find_request(sentence: str) -> Request | None:
    """Return what a sentence asks to be done to a text, or that it introduces one; else None."""
    low = fold_case(sentence[:_REACH])
    if (asked := _find_asked(low, len(sentence))) is not None:
        return asked
    at = _introduced_at(low)
    if at < 0:
        return None
    return Request(0, at, Where.AFTER, alone=False, back=False, back_here=False)


def _find_asked(low: str, end: int) -> Request | None:
    changes = _CHANGES_EN.search(low) or _CHANGES_ZH.search(low)
    works = _WORKS_EN.search(low) or _WORKS_ZH.search(low)
    asks = _ASKS_EN.search(low) or _ASKS_ZH.search(low)
    colon = _COLON.search(low)
    polite = _POLITE.search(low, 0, colon.start()) if colon else None
    found = changes or works or asks or polite
    if found is None or (changes and _is_recap(low)):
        return None
    colon = _COLON.search(low, found.start())
    asks_for = bool(asks or polite)
    where = _locate_text(low, bool(changes), asks_for, colon.start() if colon else -1)
    if where is None:
        return None
    points = bool(changes) and not _ELSEWHERE.search(low)
    return Request(
        start=found.start() + len(found[0]) - len(found[0].lstrip(" ,;.!，。；！—–-")),
        text=colon.end() if colon else end,
        where=where,
        alone=where is Where.HERE or (changes is not None and colon is None),
        back=points and bool(_ABOVE_EN.search(low) or _ABOVE_ZH.search(low)),
        back_here=points and bool(_ABOVE_LINE_EN.search(low) or _ABOVE_LINE_ZH.search(low)),
    )


def _introduced_at(low: str) -> int:
    """Return where the text begins that a sentence introduces, mostly with a colon, else -1."""
    for colon in _COLON.finditer(low):
        lead = low[: colon.start()].strip()
        own = _ORDERS_MEMORY.search(lead.rpartition(",")[2]) and not _FRIEND_SAYS.search(lead)
        if (_INTRODUCES.search(lead) and not own) or introduces_foreign(lead):
            return colon.end()
        break
    return _find_report(low[:_LEAD_REACH])


def _locate_text(low: str, changes: bool, asks: bool, colon: int) -> Where | None:
    follows = bool(_FOLLOWS_EN.search(low) or _FOLLOWS_ZH.search(low))
    named = bool(_NAMED_EN.search(low) or _NAMED_ZH.search(low))
    bare = bool(_BARE_EN.search(low) or _BARE_ZH.search(low))
    if colon >= 0 and (changes or asks or follows or named or bare or colon <= _SHORT):
        return Where.AFTER
    if follows and (changes or asks or named):
        return Where.AFTER
    if changes:
        pointed = (named or bare or len(low) <= _SHORT) and not _ELSEWHERE.search(low)
        return Where.AFTER if pointed else Where.HERE
    pointed = bool(_POINTED_EN.search(low)) or (named and not low.isascii())
    if (asks or pointed) and not _ELSEWHERE.search(low) and not _OF_PROGRAMS.search(low):
        return Where.MAYBE
    return None


_SHORT = 32
"""A request of so few characters names no text of its own."""


def _is_recap(low: str) -> bool:
    """Whether the speaker sums up themselves: 总结一下：我们决定 …"""
    found = _RECAPS_ZH.search(low)
    return found is not None and low[found.end() :].lstrip().startswith(("我", "咱"))


_LEAD_REACH = 160
"""More of what stands before a colon is not read: who speaks is named beside it."""
_MEMORY = regex(
    r"\b(?:remember|memori[sz]e|note (?:that|this|down|to self)|keep in mind|don't forget|make a note)\b|记住|记得|记下|记一下|别忘|规矩|规则"
)
"""An order to keep what follows: the person means it, even where somebody else said it first."""
_CLAUSE = regex(r"[,;，；。]|\b(?:and|but|so|then|because)\b")

_SAY = (
    r"(?:says?|said|writes?|wrote|written|posts?|posted|sends?|sent|repl(?:y|ies|ied)|answer(?:s|ed)|e?mail(?:s|ed)|text(?:s|ed)|messag(?:es|ed)"
    r"|tweet(?:s|ed)|comment(?:s|ed)|claims?|claimed|announc(?:es|ed)|stat(?:es|ed)|reads?|describes?|described|told|tells?|shar(?:es|ed)"
    r"|publish(?:es|ed)|forward(?:s|ed)|pasted|quot(?:es|ed)|printed|gave|handed|advertis(?:es|ed)|pitch(?:es|ed)|promis(?:es|ed)|dm'?e?d|ping(?:s|ed)|slack(?:s|ed)|whatsapp(?:s|ed)|mail(?:s|ed)|\w{2,12}ed (?=me\b|us\b))"
)
_TAIL = r"(?: [\w'@#&./-]{1,30}){0,6}"
_OTHERS = r"(?:he|she|they|it|someone|somebody|people|everyone|everybody|some \w{1,20})"
_BY_SELF = regex(
    rf"\b(?:i|we)(?:'ve|'d)?(?: (?:have|had|just|also|already|always|once|then|ever|later|will|would|want to)){{0,2}} {_SAY}\b"
    r"|\b(?:my|our) (?:own )?(?:notes?|plans?|calendar|diary|journal|gut|lists?|to-?dos?|rules?|head|heart|budget|schedule)\b"
)
_BY_OTHERS = regex(
    rf"\b(?:what|how|the (?:thing|text|part|stuff)|everything|all|something)(?: that)? (?!(?:i|we|you)\b)(?:[\w'@&./-]{{1,30}} ){{1,7}}?{_SAY}\b{_TAIL}\s*$"
    rf"|\b{_OTHERS}(?:'ve|'s)?(?: (?:have|has|had|just|also|actually|once|recently|then|on [\w.-]{{1,20}}|at [\w.-]{{1,20}}|from [\w.-]{{1,20}})){{0,2}} {_SAY}\b{_TAIL}\s*$"
    r"|\bwhat(?:'s| is| was| has been| it)? (?:says?|said|written|reads?|posted|printed|published|stands|standing)\b"
    + _TAIL
    + r"\s*$"
    rf"|\b(?:his|her|their|its) (?:[\w'@&./-]{{1,30}} ){{1,4}}?(?:says?|said|reads?|states?|tells?)\b{_TAIL}\s*$"
    r"|\b(?:someone|somebody|people|some \w{1,20}|a \w{1,20}|the \w{1,20}) (?:just |has |have )?(?:put|left|pinned|stuck|hung|scribbled)\b"
    + _TAIL
    + r"\s*$"
    r"|^(?!(?:i|we)\b)(?:[\w'@&./-]{1,30} ){1,6}?(?:just |also |then |once |recently |has |have ){0,2}(?:wrote|posted|replied|emailed|texted|messaged|tweeted|commented|announced|forwarded|claims?|claimed|(?:\w{2,12}ed|gave|sent|told|handed|showed|mailed|dm'?ed) (?:me|us|everyone|everybody|the team))\b"
    + _TAIL
    + r"\s*$"
    r"|\b(?:his|her|their|its|(?!(?:here|there|that|what|it|how|who|this|let|where)')[\w-]{1,30}'s?) (?:(?!(?:my|our)\b)\w{1,20} ){0,2}?(?:words?|reply|replies|answers?|response|statement|pitch|quotes?|comments?|tweets?|claims?)(?: (?:was|is|were|are|on|to|about|in)\b"
    + _TAIL
    + r")?\s*$"
    r"|\b(?:word for word|verbatim|unedited|copy[- ]?pasted?|in (?:his|her|their) (?:own )?words)\s*$"
    r"|\bcopy of\b" + _TAIL + r"\s*$"
)
_FOUND = regex(
    r"\b(?:this|that|it) (?:was|came|hung|stood|arrived|appeared)(?: in| up)? (?:on|in|at|from) (?:the|an?|his|her|their)\b"
    + _TAIL
    + r"\s*$"
    r"|\b(?:found|got|received|copied|pasted|read|saw|seen|heard|grabbed|lifted)(?: [\w'-]{1,20}){0,3}? (?:on|in|at|from|off|via|by|online)\b"
    + _TAIL
    + r"\s*$"
    r"|\b(?:saw|read|came across|stumbled (?:on|upon)) (?:this|that|these|the following)\b"
    + _TAIL
    + r"\s*$"
    r"|\b(?:according to|as (?:seen|posted|written|stated|described|published) (?:on|in|by)|quoting|quoted? from|taken from|straight from|(?:this|that|it)(?:'s| is| comes?) (?:straight )?from) (?!(?:me|us|my|our|now)\b)[\w'@#&./ -]{1,60}$"
    r"|^from (?:[\w'.-]{1,20} ){0,4}?(?:web ?site|site|web ?page|page|wiki|homepage|docs|documentation|blog|faq|internet|web|reddit|twitter|forum|poster|flyer|brochure|channel|slack|linkedin|youtube)\s*$"
)
_BY_SELF_ZH = regex(
    r"(?<![给对向跟问])(?:我|咱|本人)(?:们|俩|自己|们自己|们?团队|们?公司|们?组|们?家)?(?:刚刚?|已经?|就|都|也|又|还|曾|总|先|再|想|要|会|能|可以|是|这样|这么|如此|今天|昨天|之前|上次|一直|(?:跟|对|给|和|向|同(?![学事行伴桌])|与|把|在)[^我的，,看收读刷听搜查抄复]{1,12}?){0,3}(?:写|说|讲|发|定|想|回|留|贴|告诉|商量|决定|答|要)"
    r"|(?<![给对向跟问发转寄借教])(?:我|咱|本人)(?:们|自己|们自己)?的"
)
_BY_OTHERS_ZH = regex(
    r"(?:写|说|讲|发|贴|登|标|印|宣称|宣传|回复|回答|答复|留言|评论|转发|转|推送|公布|提到|描述|吐槽|反馈|分享)(?:给|到|在|出来?|过来?)?(?:我们?|咱们?|大家|客户|群里|公众)?(?:的是|的内容|的原话|的|着|了|道|过|是)(?:这个|这段|这条|这些|一段|一条)?$"
    r"|(?:他们?|她们?|它|对方|有人|别人|人家|客服|官方|网友)(?:又|还|都|就|刚|也)?(?:说|讲|称|写|发|回|答|问)$"
    r"|(?:给|向|对|跟)(?:我们?|大家)(?:发|说|写|讲|聊|念|留|转|推|看)了?[^，。]{0,6}$"
    r"|(?:是|上|里|中)?(?:这么|这样|如此)(?:写|说|讲|介绍|描述)的?$"
    r"|原话(?:是|如下|为|这样说|是这样的?)?$|(?:的|给我)(?:回复|回答|答复|留言|说法|介绍|简介|原话|评论|声明|宣传语|文案|反馈|意见|日记|台词|提示词|弹幕|评价|口号|传单|标语|遗嘱|来信|朋友圈)(?:是|如下|为)?$|(?:竞品|对手|同行|他们|官网|官方|客户|供应商|甲方)(?:文案|页面|介绍|说法|宣传|回复|反馈|原文)(?:是|如下)?$"
    r"|^(?:按照?|根据|据)[^我咱，]{1,20}(?:说法|说|称|介绍|网站|官网|页面)$"
    r"|(?:发|转|寄|推|传|甩)(?:来|过来|给我|给我们|我|我们|给大家)(?:的|了|的是)?(?:这个|这段|这条|一段)?$"
    r"|(?:贴|写|挂|印|标|刻)着$"
)
_FOUND_ZH = regex(
    r"来自[^我咱，]{1,20}$|(?:看到|刷到|读到|听到|收到|搜到|查到|复制|抄|摘|转|截|拷|扒)(?:来|下来|过来|自[^，。]{1,12})?(?:的是|的内容|的|(?<!查到)了)$"
)


def introduces_foreign(lead: str) -> bool:
    """Whether what stands before a colon says that somebody else's words follow.

    Args:
        lead: the text before the colon, in lower case, with straight apostrophes.
    """
    near = lead[-_LEAD_REACH:].strip()
    if _MEMORY.search(near):
        return False
    *_, clause = _CLAUSE.split(near)
    clause = clause.strip()
    if _BY_SELF.search(clause) or _BY_SELF_ZH.search(clause):
        return False
    if any(one.search(clause) for one in (_BY_OTHERS, _FOUND, _BY_OTHERS_ZH, _FOUND_ZH)):
        return True
    return clause != near and _BY_OTHERS.search(near) is not None and not _BY_SELF.search(near)


_REPORTED = regex(
    r"\b(?:voice ?mail|ad|advert|sign|flyer|poster|leaflet|note|e?mail|message|text|letter|label|caption|headline|article|page|site|website|post|tweet|review|comment|bot|banner|popup|sticker|brochure|manual|spec|contract|ticket|prompt|song|book)s?(?: (?:that|which))? (?:says?|said|reads?|states?|stated|goes|claims?|claimed|told me)\b(?: that)? (?=(?:i|we|from now|always|never|my|our)\b)"
)
_REPORTED_ZH = regex(
    r"(?:广告|海报|传单|公告|通知|标语|短信|邮件|弹幕|评论|网页|网站|标签|说明书|合同|条款|告示|横幅|台词|歌词|书|报纸|新闻|文章|帖子|视频|字幕)[上里中]?(?:面|都|也|就|还|全)?(?:在|是)?(?:写着|写道|写的是|说|刷|印着|标着|唱|喊|是)[ \s]?(?=[我咱从以今一凡所每永绝])"
    r"|^(?!.{0,12}[我咱])[\u3400-\u9fff]{1,8}(?:在[\u3400-\u9fff]{1,8})?(?:说|讲|写|发|喊|吼|通知|宣布) (?=\S)"
)


def _find_report(low: str) -> int:
    """Return where the words begin that a thing says: "the ad said …", 广告上写着…; else -1."""
    found = _REPORTED.search(low) or _REPORTED_ZH.search(low)
    return found.end() if found else -1
