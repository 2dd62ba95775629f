"""What stands before a statement in its turn and may bring in somebody else's words.

A pasted text shows its form, or is asked about; but people have more ways to bring one than
patterns can list. Where a statement stands behind a question about a text, a heading or
words of others, it is not taken as the speaker's belief at once: it waits for a second word.
"""

# ruff: noqa: E501  an alternation of words is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.rules import handed_over
from kimi_memory.nlp.rules.audience import is_for_others
from kimi_memory.nlp.rules.chat_logs import is_field, is_stamped, labels_other
from kimi_memory.nlp.rules.entity_names import is_person_zh
from kimi_memory.nlp.rules.pasted import pasted_spans
from kimi_memory.nlp.rules.text_requests import Where, find_request, introduces_foreign

_REACH = 600
"""What stands further before a statement does not bring it in."""
_SHORTEST = 3
"""A word of greeting is not longer."""
_LEAD = 90
"""So much of a sentence can stand before the words of somebody else."""
# Things that somebody wrote or said, and what is done to their words. A commit message or an
# error is one of a program at work, about which people give orders of their own.
_TEXTS = (
    r"(?:notices?|announcements?|feedback|testimonials?|newsletters?|brochures?|leaflets?|flyers?|posters?|blurbs?|slogans?|mottos?|jingles?"
    r"|letters?|e-?mails?|mails?|paragraphs?|passages?|excerpts?|essays?|articles?|tweets?|captions?|headlines?|subtitles?|lyrics|poems?|haikus?|songs?|stor(?:y|ies)|novels?|chapters?|scenes?|dialogues?|monologues?|speech(?:es)?"
    r"|sentences?|phrases?|quotes?|quotations?|sayings?|proverbs?|words|commas?|grammar|spelling|wording|adverbs?|nouns?|synonyms?|tense"
    r"|contracts?|clauses?|terms|polic(?:y|ies)|agreements?|minutes|transcripts?|recordings?|interviews?|testimon(?:y|ies)|statements?|arguments?|positions?|opinions?"
    r"|homework|assignments?|exam|exercises?|worksheets?|question \d+|cover letters?|resumes?|cvs?|bios?|personas?|prompts?|piece|drafts?|reviews?|ratings?|surveys?|questionnaires?"
    r"|customers?|clients?|reporters?|reviewers?|competitors?|landlord|neighbou?rs?|readers?|audience|character|hero(?:ine)?|protagonist|narrator|candidate|applicant|students?|pupils?"
    r"|ads?|adverts?|advertisements?|voice ?mails?|podcasts?|episodes?|videos?|screenshots?|subreddit|linkedin|facebook|instagram|twitter|reddit|youtube|tiktok|whatsapp|chatgpt|gpt|gemini|copilot|grok|chatbot|wiki|manual|toast|tattoo|verbatim|quoting|wikipedia|newspaper|magazine|press|handbooks?|invites?|invitations?|pop-?ups?|sms|predecessor|interns?)"
)
_WORDING = (
    r"(?:ocr|dictated|dictates|screenshot|readme|say|says|said|write|writes|wrote|reads|goes|claims?|claimed|states|stated|argues?|argued|told|tells|texted|replied|replies|answered|shouted|yelled|whispered|sings|sang|posted|pasted?|quoted|copied|translate|rewrite|rephrase|reword|paraphrase|shorten|summari[sz]e|proofread|spell|pronounce|punctuate|recite|analy[sz]e|fact-?check"
    r"|saying|whereas|hereby|you are an? [\w -]{0,30}(?:assistant|agent|bot|expert)|(?<!\bi )(?<!\bwe )heard|in the voice of|(?:from|on) (?:their|his|her|the|its) (?:home ?page|web ?site|site)(?=[\s:]{0,3}$)|(?:sample|example|test|dummy|expected|decoded|scanned|recogni[sz]ed) (?:inputs?|outputs?|answers?|data|text|content|cases?|results?)|qr code|fortune cookies?|rule \d{1,3} of|look at (?:this|that)(?=:)|fwd|traduce|traduis|übersetze|fasse|résume|riassumi|traduci|traduza"
    r"|come next|comes next|in (?:german|french|spanish|chinese|english|japanese|korean|italian|latin|reported speech|other words|one sentence|a haiku|plain english|bullet points)|under \d+ (?:words|characters)|to \d+ (?:words|characters))"
)
_POINTS = r"(?:the following|below|as follows|this(?=:)|role-?play|quote|unquote|(?:this|these|that|those) (?:[\w-]{1,20} ){0,2}(?:lines?|texts?|strings?|inputs?|examples?|samples?|snippets?|notes?|messages?|comments?|posts?|pages?|documents?|entry|entries|options?|claims?|tips?|advice|jokes?|riddles?))"
_SPEAKS_OF_TEXT = regex(
    rf"(?<!commit )(?<!error )(?<!log )(?<!you )(?<!to )\b(?:{_TEXTS}|{_WORDING}|{_POINTS})\b", 2
)
_SPEAKS_OF_TEXT_ZH = regex(
    r"文章|邮件|来信|书信|求职信|情书|推荐信|短信|公告|告示|通告|海报|传单|广告|标语|口号|横幅|好评|差评|(?:这么|这样|如此)一?[段句条篇]|一段(?:话|文字)|新闻|报纸|杂志|合同|条款|协议|论文|报告|帖子|评论|评价|点评|留言|弹幕|作文|作业|课文|试题|题目|第.题|文案|段落|句子|这句|这段|这篇|这首|一句|原文|原话|诗|词牌|歌|唱|故事|小说|主角|角色|台词|对白|剧本|简历|简介|推荐语|摘要|标题|译文|字幕|录音|采访|访谈|实录|记录|纪要|讲话|演讲|致辞|发言|观点|说法|提示词|日记|笔记|名言|谚语|语录|金句|封底|朋友圈|公众号|知乎|微博|小红书|抖音|豆瓣|贴吧|截图|复制|剪贴板|回答(?=我?[:：\n])|转(?=[:：])"
    r"|客户|顾客|买家|卖家|用户(?=写|说|问|反馈|投诉|评)|网友|客服|房东|邻居|记者|读者|观众|领导|同行|机器人|手册|说明书|祝酒词|周记|相声|黑板|遗嘱|骗子|弹窗|邀请函?|前任|实习生|草案|制度|贴(?:一下|[个段出上过])|原封不动|同行|竞品|对手|甲方|乙方|老师说|老板说"
    r"|引用(?=[:：])|识别结果|二维码|扫码|手写|参考答案|抄写|收到(?=[:：])|来消息|来函|@所有人|鉴于|本院|你是一[个名位][^，。]{0,12}(?:助手|助理|专家|机器人)|第.{1,3}[页章回集](?=\n)|官网首页|语音(?:转|留言|识别)|人设|(?:设定|规定|输出)(?=[:：])|上联|下联|抽到的|口吻|按[^，。我咱]{1,8}的(?:意思|指示)|(?:AI|模型)给的|你看(?=[:：])|(?<![我咱们么样])回了(?=[！!：:])|[帮替]我?(?:朋友|同学|同事|老板|室友|[爸妈姐妹哥弟]|老公|老婆|儿子|女儿)[^，。]{0,4}[改写看润]"
    r"|多少字|个字|字以内|几个字|怎么说|怎么讲|怎么写|怎么回|怎么答|怎么念|怎么译|怎么接(?=下|上|[?？。]|$)|接什么|翻成|翻译|译成|改写|改成|缩成|缩到|扩写|润色|概括|总结|归纳|断句|标点|语病|错别字|造句|仿写|续写|转述|复述|朗读|背诵|听写|默写|粤语|文言|德语|法语|日语|韩语|英语|英文|下文|以下|下面|如下|[按照]这个|大纲|提纲|(?<![我咱们么样单])(?:说|写|讲|回|喊|念|唱|发|刷)(?:道|了|着|过)?[ “\"：:《「『]{0,2}$"
    r"|[写说讲]的(?=[?？])|写着(?=[《「『])"
)
_WRITTEN = regex(
    r"\b(?:pasted?|copied|copy|quoted?|found|got|received|saw|seen|read|heard|forwarded|translated?|says?|said|wrote|writes|hero|character|novel|story|poem|song|homework|essay)\b|贴|抄|复制|转发|收到|看到|读到|听到|刷到|小说|主角|故事|台词|歌|说|写|回|告诉|翻",
    2,
)
_OWN = regex(
    r"\W{0,3}(?:(?:so|and|but|well|ok(?:ay)?|yes|no|hi|hey|also|then|now|today|yesterday|actually|btw|by the way)\W{1,3}){0,3}(?:I|i|we|We|let's|Let's)\b|\W{0,3}(?:(?:嗨|你好|好的|对了|另外|其实|现在|今天|昨天)[，,]?){0,2}(?:我|咱)(?:们)?(?!们?的|们?(?:女儿|儿子|孩子|朋友|同学|同事|室友|闺蜜|老师|老板|邻居|房东)的?)"
)
_SELF = regex(r"\b(?:I|i|we|We|my|My|our|Our|us|me)\b|[我咱]")
_BY_OTHER = regex(
    r"^(?:[a-z]{2,12} )?(?:by|from|via|per) (?!(?:me|us|my|our|now|the way|then|here)\b)", 2
)
"""A remark that says whose the words are: (comment by Lou)."""
_REMARK = regex(r"[(（]([^()（）\n]{2,60})[)）]\s{0,3}(?:$|(?=\n))")
"""What closes a line in brackets."""
_SET_OFF = regex(r"(?:[:：]|[-=]>|→|>>|(?<=[\u3400-\u9fff”」）]) )\s{0,3}")
_ARROW = regex(r"(?:[-=]>|→|>>)\s{0,3}$")
_SET_OFF_END = regex(
    r"(?:[:：]|[-=]>|→|>>|(?<=[\u3400-\u9fff”」）]) |(?<=[说讲])[，,]|(?<=\bsaid),|(?<=\btold me),)\s{0,3}$"
)
_CALL = regex(r"\w\([`'\"]$")
"""A call of a function, which is given the words."""
_ASKS_OF_TEXT = regex(
    r"\b(?:does|do|would|is|are) (?:this|these) (?:sound|read|look|seem|feel)\b|\bwhich (?:one |version |sentence |wording )?(?:is|are|sounds?|reads?) (?:better|best|nicer|worse|clearer|correct)\s?\?"
    r"|(?:语气|口吻|措辞|写得)(?:行不行|好不好|可不可以|合不合适)|哪(?:个|句|种|版)(?:更|最)?(?:好|通顺|合适)[?？]|^\W{0,3}这?是真的[吗么]|^\W{0,3}(?:is|was) (?:it|this) (?:an? )?[a-z]+\?|^\W{0,3}这(?:是|算)[^，。？?]{1,8}吗[？?]",
    2,
)
"""Asks how good or true a text is, which follows."""
# Where the words of somebody begin inside a sentence.
_BEGINS = regex(
    r"(?<![\w'])(?<!\bwhen )(?<!\bwhat )(?<!\bwhere )(?<!\bwhile )(?<!\bsince )(?<!\buntil )(?<!\bbecause )(?:I|i|we|We|my|My|our|Our)\b|\b[Ff]rom now on\b|\b[Aa]lways\b|\b[Nn]ever\b|(?<![给对向跟问叫让教劝找])[我咱]|从现在起|从今以后|以后|一律|永远"
)
_MEMORY = regex(
    r"\b(?:remember|(?<!\ba )(?<!\bthe )note|keep in mind|don't forget|for the record|fyi|memori[sz]e)\b|记住|记下|记得|记一下|别忘|牢记|切记",
    2,
)
_SENTENCE_END = regex(r"[.!?。！？\n]")
_ASKED_BEHIND = regex(
    r"\b(?:remember|note|memori[sz]e|don't forget) (?:that|this|it)\s{0,3}(?:$|[.!\n])|\bkeep (?:that|this|it) in mind\b|(?:记住|记下|记一下|别忘|牢记)(?:它|这[个点条]?|了|一下)?\s{0,3}(?:$|[。！!\n])",
    2,
)
"""Asks to remember what was said before it. "Note that it is fast" asks for nothing."""
_SOURCE = regex(
    r"\b(?:transcripts?|ocr|voice ?mails?|recordings?|flyers?|leaflets?|posters?|e-?mails?|letters?|newsletters?|articles?|tweets?|screenshots?|channel)\b[^\n:：]{0,40}(?:[:：]|\b(?:says?|said|reads)\b)|(?:邮件|短信|来信|海报|传单|公告|录音|文章|帖子|截图|群里)[^\n:：]{0,20}(?:[:：]|写着|写道|说)",
    2,
)
"""Names where a text is from; what it asks to remember is its own words."""
_CARRIER = regex(
    r"\b(?:notes?(?= on)|signs?|stickers?|post-?its?|whiteboards?|boards?|labels?|plaques?|banners?|memos?|slides?|cards?|docs?|documents?|pages?|handbooks?)"
    r" (?:on|at|in|above|by|from|under|behind|outside) (?:the|my|our|your|her|his|their|a) [\w' -]{1,30}(?:[:：]|[-=]>)"
    r"|(?:(?:贴|挂|印|刻|钉)(?:的|着的?)|写着的?)[^\n:：，,。]{0,8}[:：]|第[一二三四五六\d][句条段行](?:话)?(?:就|也)?(?:是|写|说)"
    r"|(?:^|[\s,，])@[\w\u3400-\u9fff-]{1,20}[:：]|^[a-z]{2,12}>\s",
    2 | 8,  # IGNORECASE, MULTILINE
)
"""Names what words stand on, and where that is: a note on the fridge; or who says them: @kenji:"""
_POINTS_BACK = regex(
    r"\b(?:said|says|wrote|writes|replied) (?-i:(?!I\b)[A-Z])|\b(?:that|this|it)(?:['’]s| is| was) (?:what|how) (?!(?:i|we)\b)[^\n.]{1,40}?\b(?:said|says|wrote|writes|told|posted|claims?|claimed)\b|(?:^|[。！？”])(?![我咱])[\u3400-\u9fff]{1,5}(?<![我咱们])[说写讲]的?(?:[。！]|$)|这(?:就|可|都)?是(?![我咱](?!的?(?:朋友|同学|同事|老师|室友|闺蜜|邻居|领导|老板|房东|女儿|儿子|孩子|[爸妈姐妹哥弟爷奶])))[^\n。]{1,12}?(?:[说写讲发]的|原话|的话)|[。！？.!?”] ?[(（](?-i:[A-Z][a-z]{1,20}(?: [A-Z][a-z]{1,20})?|[老小阿][\u3400-\u9fff])[)）]\s*$"
    r"|^\s{0,3}[\^↑]|^\s{0,3}(?:—{1,2}|--)\s?(?![^\n]{0,60}(?:\b[Ii]\b|我))\w|\bwho (?:said|says|wrote)\b|\bthe above\b|(?:—{1,2}|–|--|\s-)\s?(?:that|this|it)(?:['’]s| is| was) (?:from|by|in|on|what)\b|(?:—{1,2}|--)\s?[^\n我]{1,20}[里上中](?:的|写的|说的)?$|\bthe (?:[\w-]{1,20} )?(?:sentence|quote|text|lines?|paragraph|passage|statement|words|message|mail|section|part|bit) above\b|\b(?:this|that|these|those) (?:sentences?|quotes?|texts?|lines?|paragraphs?|passages?|statements?|words)\b|\bhow (?:do|would) (?:you|i|we) say\b|(?:这|那|上面|以上|刚才)(?:这|那|几|两|一)?(?:句|段|首|篇|番话|席话|话)|谁(?:说|写)的|(?:上面|以上)(?:的|这)|怎么(?:翻译|翻)"
    r"|这(?:就|可|都)?是[我咱]们?的?(?:朋友|同学|同事|老师|室友|闺蜜|邻居|领导|老板|房东|女儿|儿子|孩子|[爸妈姐妹哥弟爷奶])[^\n，。]{0,8}的|\b(?:this|that|it)(?:['’]s| is| was) (?:from )?(?:my|our|a|some) (?:[\w-]{1,20} ){0,2}?(?:friend|colleague|coworker|boss|sister|brother|m[uo]m|dad|son|daughter|neighbou?r|landlord|teacher|wife|husband|customer|client)['’]?s\b",
    2 | 8,  # IGNORECASE, MULTILINE
)
# A question on a line of its own is about what follows: "too harsh?", 会不会太凶？
_HEADING = regex(
    r"(?:[^\n.!。！…~)）(（]|\.(?=\w)|\([\w/, -]{1,20}\)|（[\w/、·-]{1,20}）){3,80}$|[(（][^\n.!。！…~)）]{2,79}$"
)
_COMMAS = (",", "，", ";", "；")
_SAYS = regex(r"(?:说|讲|写道|says?|said|writes?|wrote|quoting [\w' ]{1,30})\W{0,3}$", 2)
_SENT_FROM = regex(
    r"\n\s{0,3}>\s?[^\n]{0,100}(?:wrote|写道)\s?[:：]|\n\s{0,3}(?:sent (?:from|via) |get outlook for |von meinem |envoyé de(?:puis)? |发自我的|来自我的)[^\n]{1,40}\s*$",
    2,
)
"""The line below a mail that a phone adds, or with which the mail begins that it answers."""
_CLOSING = regex(
    r"\n\s{0,3}(?:(?:best|kind|warm) (?:regards|wishes)|regards|best|(?:yours )?sincerely|yours(?: \w{4,12})?),?\s{0,3}\n\s{0,3}(?-i:[A-Z])[\w.'-]{1,20}(?: (?-i:[A-Z])[\w.'-]{0,20}){0,2}\s{0,3}(?:\n|$)"
    r"|\n\s{0,3}(?:此致|敬礼|敬上|祝好|顺颂|顺祝)[^\n]{0,6}\n(?:\s{0,3}敬礼[！!]?\s{0,3}\n)?\s{0,3}[\u3400-\u9fff]{2,4}\s{0,3}(?:\n|$)",
    2,
)
"""The end of a letter, with the name of who signs it."""
_DASHED = regex(
    r"\s{0,6}(?:[-*•]\s)?(?!(?:no|yes|yeah|yep|nope|ok|okay|thanks|perfect|great|good|nice|sure|right|correct|exactly|agreed|cool|wow|well|hi|hello|hey|sorry|true|fine|done|understood|awesome)\b)(?:(?-i:[A-Z])[a-z]{1,20}(?: (?-i:[A-Z])[a-z]{1,20})?|(?P<name>[\u3400-\u9fff]{2,4})) ?[-–—] (?=(?-i:I\b|We\b|My\b|Our\b|From now on)|[我咱从])",
    2,
)
"""Who says it, before a dash: "Tom - I prefer tea"."""
_NAME_LINE = regex(r"^\s{0,3}(?:[A-Z][a-z]{1,20}|[\u3400-\u9fff]{2,4})\s{0,3}$", 8)  # MULTILINE
_BAR = regex(r"^\s{0,3}(?:([-_.=*+~])\1{3,80}|[\"“”]{1,3})\s{0,3}$", 8)  # MULTILINE
_IMPRINT = regex(
    r"\s{0,3}[*_#]{0,3}(?:title|author|by|written by|byline|source|published|publisher|date|subject|from|标题|题目|作者|来源|出处|发布时间)[*_]{0,3}\s?[:：]\s?\S",
    2,
)
"""A line at the head of a text that says what it is and whose."""
_HANZI = regex(r"[\u3400-\u9fff]")
_APART = regex(r"[\u3400-\u9fff”」）)][ \u3000\n]$")
"""Chinese writes no space inside a sentence: behind one, a text begins."""
_ITEM = regex(r"\s{0,8}(?:[-*•+]|\d{1,2}[.)、])\s{0,3}|\s{0,3}(?://|#|;|--)\s")
_COMMENTS = regex(r"\s{0,3}(?://|#(?!\w)|;{1,2}(?=\s)|--) ?\S")
_BRACKETED = regex(
    r"\s{0,3}(?:[\[【][^\[\]【】\n]{1,20}[\]】]|[(（][^()（）\n]{2,30}[)）]|\*[^*\n]{3,40}\*(?!\*)|[📢📣🔊♪♫🎵🎶]\ufe0f?)\s?\S"
)
_FILE = regex(
    r"\s{0,3}(?i:about us|our (?:story|mission|values)|(?:we are|we're|now) hiring)!?\s*$|\s{0,3}(?:关于我们|公司简介|诚聘\S{0,6})\s*$|\s{0,3}[$%] ?[a-z][^\n]{0,80}$|\s{0,3}[\[【♪][^\n\[\]]{2,40}[\]】♪]\s*$|\s{0,3}(?:\.?[\w/-]{1,60}\.[A-Za-z]{2,5}|\.[a-z]{4,14}|[(（][^()（）\n]{2,30}[)）]|(?i:system|user|assistant|human|developer))\s?[:：]?\s*$"
)
"""The name of a file, or a remark in brackets, on a line of its own above what it holds."""


def is_any_led_in(text: str, start: int, end: int) -> bool:
    """Whether one of the sentences of a quote may be another's, or stands in a pasted text."""
    if any(first < end and start < last for first, last in pasted_spans(text)):
        return True
    head, *more = text[start:end].split("\n")
    titled = bool(more) and _is_heading(head) and _brings_in(f"{head.strip()}\n")
    return titled or is_led_in(text, start) or any(map(_is_of_form, more))


def is_of_stranger(text: str, at: int) -> bool:
    """Whether a message speaks to others, or asks at its end of the text at a place."""
    return _stands_above_request(text, at) or is_for_others(_without_pasted(text), at)


def _is_set_off(text: str, at: int) -> bool:
    """Whether the form around a place, or whom the message speaks to, says that it is another's."""
    line = text[text.rfind("\n", 0, at) + 1 : at + _LEAD].split("\n", maxsplit=1)[0]
    return (
        _is_of_form(line)
        or stands_below_name(text, at)
        or _stands_between_bars(text, at)
        or is_of_stranger(text, at)
        or _CARRIER.search(text, max(0, at - _LEAD), at + _LEAD) is not None
    )


def _is_of_form(line: str) -> bool:
    """Whether a line is a comment, a remark in brackets, or says who speaks."""
    form = _COMMENTS.match(line) or _BRACKETED.match(line)
    return form is not None or is_stamped(line) or _names_other(line)


def _is_heading(line: str) -> bool:
    heads = _HEADING.fullmatch(line.strip()) and not _ITEM.match(line)
    return bool(heads) and not _SELF.search(line)


def is_led_in(text: str, at: int) -> bool:
    """Whether what stands before a place of a person's turn may bring in another's words.

    Args:
        text: the turn.
        at: where the statement begins, or the sentence that holds it.
    """
    if _is_set_off(text, at):
        return True
    begin = text.rfind("\n", 0, at) + 1
    stop = _end_of(text, at)
    asked = _find_asked(text, max(begin, at - _LEAD), at, stop)
    if asked >= 0:
        above = any(map(_speaks_of_text, _pieces(text, begin)))
        return above or _SOURCE.search(text, max(0, asked - _LEAD), asked) is not None
    if _names_source(text, at, stop):
        return True
    lead = _lead_of(text, at)
    apart = _APART.search(lead) is not None and len(lead) > _SHORTEST
    remark = _REMARK.search(text, at, min(len(text), at + _REACH))
    pieces = (remark[1] if remark else "", *_pieces(text, at))
    return apart or any(map(_brings_in, (lead, *_leads_before(text, at), *pieces)))


def is_attributed(text: str, at: int) -> bool:
    """Whether a sentence of a turn names whose words it is, before it or behind it."""
    if _find_asked(text, max(text.rfind("\n", 0, at) + 1, at - _LEAD), at, _end_of(text, at)) >= 0:
        return False
    return _is_set_off(text, at) or _names_source(text, at, _end_of(text, at))


def _end_of(text: str, at: int) -> int:
    end = _SENTENCE_END.search(text, at)
    return end.start() if end else len(text)


def _names_source(text: str, at: int, stop: int) -> bool:
    """Whether words before a sentence or behind it say whose it is."""
    remark = _REMARK.search(text, at, min(len(text), at + _REACH))
    if (remark and _BY_OTHER.match(remark[1])) or _POINTS_BACK.search(text, stop, at + _REACH):
        return True
    return any(map(_is_of_other, (_lead_of(text, at), *_leads_before(text, at))))


def _find_asked(text: str, begin: int, at: int, stop: int) -> int:
    """Return where a person asks to remember a sentence, before or behind it; else -1."""
    asked = _MEMORY.search(text, begin, min(stop, at + _LEAD))
    asked = asked or _ASKED_BEHIND.search(text, stop, stop + _LEAD)
    return asked.start() if asked else -1


def _names_other(line: str) -> bool:
    """Whether a line begins with the name of who says it, before a colon or a dash."""
    dashed = _DASHED.match(line)
    return labels_other(line) or (dashed is not None and is_person_zh(dashed["name"] or "a"))


def stands_below_name(text: str, at: int) -> bool:
    """Whether a line above a place says who speaks, as in a chat, or one below signs a mail.

    Args:
        text: the turn.
        at: where the statement begins.
    """
    above = text[max(0, at - _REACH) : at].split("\n")[:-1]
    words = text[at : at + _LEAD]
    # Two names on lines of their own are people who talk; one may be a heading.
    last = above[-1].strip() if above else ""
    named = _NAME_LINE.match(last) is not None and (
        len(_NAME_LINE.findall(text)) > 1 if last.isascii() else is_person_zh(last)
    )
    return (
        named
        or any(is_stamped(line) or _FILE.match(line) for line in above)
        or sum(_IMPRINT.match(line) is not None for line in above) > 1
        or any(labels_other(f"{line} {words}") for line in above if line.rstrip()[-1:] in ":：")
        or _SENT_FROM.search(text, max(at, len(text) - _LEAD)) is not None
        or _CLOSING.search(text, max(at, len(text) - _REACH)) is not None
    )


def _stands_above_request(text: str, at: int) -> bool:
    """Whether the last line asks about the text at a place, and about no other that is known."""
    last = text.rstrip().rfind("\n") + 1
    if at >= last or any(at < start < last for start, _ in pasted_spans(text)):
        return False
    return _asks_above(text)


@keep_results(4096)
def _asks_above(text: str) -> bool:
    """Whether the last line of a turn asks about a text above it."""
    above, line = handed_over.split_last(text)
    if handed_over.is_quoted(line):
        return False
    # One sentence before a request says mostly how it shall be done.
    of_text = _speaks_of_text(line) and not (_SELF.search(line) or handed_over.makes_new(line))
    of_text = of_text and len(sentences(above)) > 1
    return of_text or handed_over.asked_last(text) or handed_over.asks_of_stranger(text)


@keep_results(4096)
def _without_pasted(text: str) -> str:
    """Return a text with blanks where it is known to be pasted; all else stays in its place."""
    for start, end in pasted_spans(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _stands_between_bars(text: str, at: int) -> bool:
    """Whether a place stands between two equal lines such as ____, which set off a quotation."""
    above = [_bar_of(bar[0]) for bar in _BAR.finditer(text, max(0, at - _REACH), at)]
    below = (_bar_of(bar[0]) for bar in _BAR.finditer(text, at, at + _REACH))
    return bool(above) and above[-1] in below


def _bar_of(line: str) -> str:
    return line.strip().translate({ord("“"): '"', ord("”"): '"'})


def _lead_of(text: str, at: int) -> str:
    """Return what of the sentence itself stands before its first words of somebody."""
    stop = min(len(text), at + _LEAD)
    for sign in _SET_OFF.finditer(text, at, stop):
        if _BEGINS.match(text, sign.end()):
            return text[at : sign.end()]
    begun = _BEGINS.search(text, at, stop)
    return text[at : begun.start()] if begun else ""


def _leads_before(text: str, at: int) -> Iterator[str]:
    """Yield what leads to the sentences before a place, as far as the paragraph reaches."""
    begin = max(text.rfind("\n\n", 0, at) + 2 if "\n\n" in text[:at] else 0, at - _REACH)
    for start, end in sentences(text[begin:at]):
        yield _lead_of(text[: begin + end], begin + start)
    # A statement may be found without the words that stand before it in its sentence.
    yield _SENTENCE_END.split(text[max(0, at - _LEAD) : at])[-1]


_OF_US = regex(r"\b(?:I|i|we|We|my|My|our|Our)\b|[我咱]")
_DOTTED = regex(r"\d\.\d|^[\d\W]+$")
_SAYS_ZH = regex(
    r"(?:^|[，。！？])(?!简单|总的|老实|坦白|换句|一般|具体|(?:我|咱)们?(?:刚|也|都|就|想|要|跟|对|给|和)?[^，。]{0,6}[说讲]过?[，,])[^，。！？\n]{1,8}[说讲]过?[，,]\s{0,3}$|有云[，,]\s{0,3}$|(?:^|[，。！？])(?:我|咱)们?(?:爷|奶|外|爸|妈|哥|姐|弟|妹|老|师|领|同|朋)[^，。]{0,6}[说讲]过?[，,]\s{0,3}$"
)
_LABEL = regex(r"(?P<words>[^\n:：]{2,60}?)\s?[:：]\s{0,3}$")
_OPENS_OWN = regex(
    r"\W{0,3}(?:as for|about|regarding|concerning|for|on|in|at|to|with|when|if|one|two|three|first|second|third|next|last|quick|small|new|good|bad|great|big|short|long|heads|still|just|so|also|and|but|or|another|other|important|general|personal|side|same|main|only|right|ok(?:ay)?|yes|no|well|thanks|sorry|hey|hi|hello|nb|what|why|how|where|who|here|there|that|this|it|is|are|be|please|the (?:plan|rule|idea|goal|point|thing|reason|answer|problem|decision|short|long|truth|bottom))\b"
    r"|\W{0,3}(?:关于|至于|对于|说到|还有|另外|其实|一句话|简单|总之|最后|首先|其次|然后|一是|二是|例如|比如|换句|也就|不过|但是|所以|因为|补充|更正|提醒|好的?|嗯|对了|顺便|新|老)",
    2,
)


def _is_of_other(lead: str) -> bool:
    """Whether what leads to a statement is the code or the arrow before it, or names who says it."""
    if _CALL.search(lead) or (_ARROW.search(lead) and not _SELF.search(lead)):
        return True
    label = _LABEL.fullmatch(lead.strip())
    if label and _is_foreign_label(label["words"]):
        return True
    if _SAYS_ZH.search(lead):
        return True
    set_off = _SET_OFF_END.search(lead)
    return set_off is not None and introduces_foreign(lead[: set_off.start()].lower())


def _pieces(text: str, at: int) -> Iterator[str]:
    """Yield the sentences before a place, and the line of a heading among them."""
    before = text[max(0, at - _REACH) : at]
    for start, end in sentences(before):
        yield before[start:end]
    for line in before.split("\n")[:-1]:
        if _is_heading(line):
            yield f"{line.strip()}\n"


def _brings_in(piece: str) -> bool:
    """Whether a sentence speaks of a text or of another's words, or is a heading."""
    if piece.endswith("\n") and (
        len(piece.split()) > 1 or len(_HANZI.findall(piece)) > _SHORTEST or piece[-2:-1] in "?？"
    ):
        return True
    # A clause that a comma ends is a statement beside the other: 合同没写不准养宠物，我家猫….
    if piece.rstrip().endswith(_COMMAS) and not _SAYS.search(piece):
        return False
    request = find_request(piece)
    asked = request and request.where is not Where.HERE and request.start <= _SHORTEST
    if asked or _ASKS_OF_TEXT.search(piece):
        return True
    if not _speaks_of_text(piece):
        return False
    # "I wrote two letters." speaks of oneself; "I pasted their terms." brings a text.
    return _OWN.match(piece) is None or _WRITTEN.search(piece) is not None


def _speaks_of_text(piece: str) -> bool:
    return bool(_SPEAKS_OF_TEXT.search(piece) or _SPEAKS_OF_TEXT_ZH.search(piece))


def _is_foreign_label(words: str) -> bool:
    """Whether words before a colon are neither of who speaks nor of a field."""
    if _OF_US.search(words) or _OPENS_OWN.match(words) or _MEMORY.search(words):
        return False
    return not (is_field(words) or _DOTTED.search(words))
