"""Sentences that introduce somebody else's words with a colon: "Here's what she wrote: …".

What counts is who speaks, writes or sends: any other than the person makes what follows a
text of somebody else, and so does a place where the person only found or copied it.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex

_REACH = 160
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
    r"|(?:给|向|对|跟)(?:我们?|大家)(?:发|说|写|留|转|推|看)了?[^，。]{0,6}$"
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
    near = lead[-_REACH:].strip()
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


def find_report(sentence: str) -> int:
    """Return where the words begin that a thing says: "the ad said …", 广告上写着…; else -1."""
    low = sentence[:_REACH].lower().replace("’", "'")
    found = _REPORTED.search(low) or _REPORTED_ZH.search(low)
    return found.end() if found else -1
