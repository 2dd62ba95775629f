"""Texts that a person hands over apart from the words that say so.

The request may stand behind the text, on a last line: "translate into Japanese", or in the turn
before: "next comes a letter of my landlord", "send me the text".
"""

# ruff: noqa: E501  an alternation of words is read by its groups, not by its width

from __future__ import annotations

from functools import lru_cache

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import sentences

_TEXTS = (
    r"(?:texts?|articles?|e-?mails?|mails?|letters?|messages?|paragraphs?|passages?|excerpts?|essays?|(?:blog |forum )?posts?|threads?|tweets?|sentences?|abstracts?|contracts?|clauses?|transcripts?|chats?|conversations?"
    r"|documents?|papers?|reports?|drafts?|stor(?:y|ies)|poems?|speech(?:es)?|pages?|chapters?|readmes?|reviews?|cvs?|resumes?|bios?|profiles?|prompts?|lyrics|songs?|memos?|minutes|notes|adverts?|ads?|notices?|announcements?|statements?|quotes?|intros?|scripts?|scenes?|dialogues?|diar(?:y|ies)(?: entr(?:y|ies))?|press releases?|newsletters?|homework|translations?|captions?|recipes?|listings?|descriptions?|advice|copy|piece|original|screenshots?)"
)
_TEXTS_ZH = r"(?:第.{1,2}[章节段页]|文字|文本|原文|文章|邮件|来信|信|短信|消息|段落|句子|稿子?|材料|全文|合同|条款|作文|译文|简历|文案|聊天记录|日记|笔记|故事|诗|歌词|简介|自我介绍|征友|课文|病历|信件|演讲稿?|讲话|通知|公告|帖子|评论|摘要|报告|纪要|说明|剧本|小说|提示词|话)"
_PLEASE = r"(?:(?:please|pls|plz|so|and|now|ok(?:ay)?|hey|hi|then|just|quickly|(?:can|could|would|will) (?:you|someone)|i need you to|help me(?: to)?|i(?:'d| would) like you to|i want you to|also)[ ,]+){0,4}"
_DO = (
    r"(?:summari[sz]e|sum up|tl;?dr|translate|translation|proof-?read|paraphrase|rephrase|reword|re-?write|polish|shorten|condense|spell-?check|copy-?edit|critique|annotate|analy[sz]e|interpret|rate|grade|score|evaluate|assess|classify|fact-?check|transcribe|punctuate|rebut|debunk|roast|parody|eli ?\d{1,2}"
    r"|(?:fix|check|correct|improve) (?:the |my |its )?(?:grammar|spelling|wording|typos|style|punctuation|english|tone|flow)|correct)"
)
_THIS = rf"(?:it|this|that|these|them|all of (?:it|this)|the above|the (?:text|whole thing)|(?:this|that|these|the above) (?:[\w'“”\"-]{{1,20}} ){{0,3}}?{_TEXTS}(?: (?!(?:we|i)\b)[\w'-]{{1,20}}){{0,2}})"
_LANGUAGE = r"(?:english|german|french|spanish|italian|portuguese|dutch|swedish|danish|norwegian|polish|czech|russian|chinese|japanese|korean|latin|deutsch|englisch|français|español|italiano|português|inglés|anglais)"
_REQUESTS = regex(
    rf"{_PLEASE}{_DO}(?: {_THIS})?(?:,? (?:in|into|to|for|as|from|out of|on a|under|within|only)\b[^.?!\n]{{0,60}})?(?:[ ,]+(?:please|pls|plz|thanks|thx|ty|thank you|for me))?[ .?!…]*"
    rf"|{_PLEASE}(?:explain|improve|edit|review|read|make|continue|describe|answer|scale|extend) (?:this|these|the above) (?:[\w'“”\"-]{{1,20}} ){{0,3}}?{_TEXTS}\b[^\n]{{0,60}}"
    rf"|\W{{0,3}}{_PLEASE}make (?:it|this) (?:a (?:bit|little) |much |way )?(?:less|more|sound|read|flow|rhyme|formal|polite|shorter|longer|punchier|friendlier|catchier|snappier|warmer|softer|funnier)\b[^.?!\n]{{0,40}}[.?!]*"
    rf"|\W{{0,3}}{_PLEASE}(?:(?:auf|in|en|to|into|al?|på) )?(?:simple |plain )?{_LANGUAGE}(?:[ ,]+(?:please|pls|plz|bitte|por favor|s'il (?:te|vous) plaît|version|translation))?[ .?!]*"
    r"|(?:is (?:it|this|that) |isn't (?:it|this|that) |sounds |reads )?(?:a bit |a little |way |much )?too (?:harsh|blunt|soft|formal|informal|casual|cheesy|corny|braggy|boastful|wordy|long|short|defensive|aggressive|passive|pushy|salesy|cold|rude|polite|stiff|dry|vague|dramatic|sentimental|flowery|preachy|whiny|needy|cringe)(?: or [a-z ]{2,20})?\?"
    r"|(?:会不会|是不是|算不算)(?:有点|显得|太|过于)[^，。\n我咱]{1,8}了?[？?。吗]*|(?:哪里|哪儿|什么地方)(?:有)?(?:写|说)?(?:错|不对|不通|问题|毛病)了?[？?。吗]*|错在哪里?[？?]*"
    r"|(?:请你?|帮我?|帮忙|麻烦你?|能不能|能否|可以|给我|再|先|你|只)*(?:(?:把|给|将|对)?(?:它|这[段篇首句封个份些]?[\u3400-\u9fff]{0,4}|(?:上面|以上)[\u3400-\u9fff]{0,4}|全文))?(?:帮我|再|都)?"
    r"(?:用[\u3400-\u9fff]{1,4})?(?:翻译|翻成|译成|译为|润色|改一?下?(?:病句|错别字|语病)|改错(?:别)?字?|打个?分|评个?分|总结|概括|归纳|提炼|赏析|点评|校对|精简|缩写|扩写|改写|纠错|仿写|续写|断句|批改|鉴赏|事实核查|给[^，。]{1,12}打个?分)[^，。\n我咱]{0,14}[。！!？?～~吧 ]*",
    2,
)
"""A last line that asks for work on a text, and names no other than this."""
_ASKS = regex(
    rf"\b(?:is|are|was|were|does|do|did|would|will|can|could|should|has) (?:this|that|these) (?:[\w'-]{{1,20}} ){{0,3}}?{_TEXTS}\b"
    rf"|\b(?:think|make|opinion|thoughts?) (?:of|on|about) (?:this|that|these) (?:[\w'-]{{1,20}} ){{0,3}}?{_TEXTS}\b"
    r"|\b(?:is|does|do|are|was) (?:the|its|their|his|her) (?:tone|wording|style|grammar|spelling|pacing|register|rhythm|rhyme|voice|met(?:er|re)|phrasing|ending|opening|intro|copy)\b"
    r"|\b(?:does|do|did|would) (?:this|that|it|these|they|i) (?:sound|read|come (?:across|off))\b|\bclich[eé]s?\b|\bnext (?:\w{2,8} )?(?:lines?|verses?|stanzas?|paragraphs?|sentences?|chapters?)\b|\bcharacters with|\b(?:flashcards?|quiz|crossword)\b"
    r"|接(?:着|下|上)?(?:一|下)?句|(?:这样|这么)写|(?:扩|缩|改|写|编|译|翻|转)(?:成|为)[^，。\n]{1,8}[。！!]?$|多少字|[几多少]个?字"
    r"|\bwho (?:said|says|wrote|sang|(?:might|could) have (?:said|written|given|sung)|is (?:the )?(?:author|speaker|narrator))\b|\b(?:the|this) (?:author|writer|speaker|narrator|poet|sender|poster)\b"
    r"|\bwhat (?:could|should|can|do|would) (?:i|we) (?:write|reply|answer|say|respond|text)(?: back)?(?: to (?:him|her|them|it|that|this))?\s?[?.]|\bhow (?:do|should|can|could|would) (?:i|we) (?:reply|respond|answer|unsubscribe)\b"
    r"|\b(?:is|was) (?:this|that|it) (?:cringe|legit|spam|an? (?:scam|joke|parody)|phishing|fake|ai[- ]generated|written by|grammatical|plagiari[sz]ed)\b"
    r"|\bwhat(?:'s| is) the (?:tone|main (?:claim|point|idea|argument)|gist|moral|theme|register|sentiment|mood|takeaway|thesis)\b|\bwhich (?:met(?:er|re)|rhyme|poet|genre|register)\b"
    r"|(?:语气|口吻|措辞|文笔|节奏|文案|押韵|格律|语法|用词|病句)[^，。\n]{0,8}(?:怎么样|如何|[行好对]吗|合适吗|可以吗|好不好|行不行|通顺吗)|谁(?:说|写|发|唱)的|(?:这|那|他|她)[^，。\n]{0,8}(?:怎么样|什么意思|啥意思|真的假的|认真的吗)|怎么回(?:复|信|他|她|比较)|(?:尬不尬|是不是(?:骗子|诈骗|谣言|AI写的)|怎么退订|讲了(?:什么|啥)|主要观点|中心思想)"
    rf"|(?:怎么看|怎么评价|如何评价)[^，。\n]{{0,12}}(?:这|那)[段篇首句封]|这[段篇首句封份][^，。\n]{{0,10}}{_TEXTS_ZH}",
    2,
)
"""A last line that asks how a text is, what it says or whose it is."""
_ELSEWHERE = regex(
    r"https?://|\battach|\b[\w-]{1,40}\.[a-z]{1,4}\b|\bfor (?:me|us)\?|附件|链接|截图|文件|[把将](?!它|这|那|上面|以上|全文)",
    2,
)
"""What is asked about lies elsewhere, or is for the person."""
_LONGEST = 120
"""A last line that only asks is not longer."""
_ANNOUNCES = regex(
    r"\b(?:next|following) (?:message|turn|post|one)\b|\bnext comes\b|\bcoming up(?: next)?:|\b(?:going to|gonna|will|about to|'ll|’ll|let me|want to) (?:now |just )?(?:paste|copy)\b"
    rf"|\b(?:going to|gonna|will|about to|'ll|’ll|let me|want to|can i|may i|i have) (?:now |just )?(?:(?:send|share|show|drop|forward|give|post)(?: you| over)? )?(?:an?|the|some|my|his|her|their|this) (?:[\w'-]{{1,20}} ){{0,4}}?{_TEXTS}\b[^.?!\n]{{0,80}}\b(?:{_DO}|check|read|look at|fix|review|edit|improve|explain)\b"
    rf"|\b(?:{_DO}|check|read|look (?:at|over)|fix|review|edit|improve|explain) (?:something|sth|an? (?:[\w'-]{{1,20}} ){{0,2}}?{_TEXTS})(?: (?:for|of|from|by|that|which|i)\b[^.?!\n]{{0,60}})?\s?[?.!]?\s*$"
    rf"|下一?条(?!路|街)|(?:接下来|下面|马上|等[下会]儿?|待会儿?|一会儿?|稍后)我?(?:要|会|就|再|先)?(?:给你|把[^，。]{{0,12}})?(?:是[^，。]{{0,16}}{_TEXTS_ZH}|贴|粘|复制|发(?=[^，。]{{0,12}}{_TEXTS_ZH}|给你))|我(?:要|会|来|先|再)?(?:贴|粘贴|复制)(?:一?[段篇封个份]|[^，。]{{0,8}}{_TEXTS_ZH})"
    rf"|(?:帮|替|能)[^，。\n这那]{{0,10}}(?:改|看|润色|校对|翻译|检查|总结|批改)(?:一下|下)?(?:一?[段篇封个份])?[^，。\n这那]{{0,6}}{_TEXTS_ZH}[吗嘛吧]?[？?。！!]?\s*$",
    2,
)
"""Says that a text follows, which does not stand here."""
_WANTS = regex(
    rf"(?:(?:^|[.!?,;:\n—-])\s{{0,3}}|\b(?:please|you|just|and|or|then|to) )(?:paste|send|share|drop|post|provide|forward|copy|upload|show|give)\b(?: me| us| over| in)?(?: (?:the|your|that|a|any|whatever))?(?: (?!error\b)[\w'-]{{1,20}}){{0,3}}? {_TEXTS}\b"
    r"|\b(?:paste|drop|send|share|post|copy) (?:me )?what\b|\b(?:go ahead and|(?:continue|go on) with) (?:paste|send|the (?:next|second|rest)|part)\b|\b(?:send|paste|share)(?: me)? the (?:first|next|second|other|last|rest)\b|请(?:继续)?(?:发|贴)(?=[^，。]{0,8}(?:$|[。！]))|请(?:继续)?(?:发|贴)[^，。]{0,4}第.(?:部分|段)"
    r"|\b(?:paste|drop|send|share|post|copy)(?: me)? (?:it|them|that)\b(?: (?:here|below|over|in|along)\b| ?[.!?:…]| when\b| and\b)"
    rf"|(?:发|贴|粘贴|提供|上传|分享|发送)(?:给我|过来|出来|上来|一下)?[^，。？！\n]{{0,14}}{_TEXTS_ZH}|(?:把|将)[^，。？！\n]{{0,14}}(?:{_TEXTS_ZH}|内容|那[一]?[条段篇])[^，。？！\n]{{0,8}}(?:发|贴|粘)|(?:^|[，,。！])(?:你)?(?:直接|可以)?(?:发|贴|粘贴)(?:过来|出来|上来|给我|到这里|在这里)",
    2,
)
"""Asks to be given a text."""
_SENDS = regex(
    r"\b(?:sending|pasting|sharing|posting|forwarding|dropping|typing|dictating)\b|\bhere (?:comes|is part|goes)\b|\b(?:i'll|i’ll|i will|let me|going to|gonna) (?:now |just )?(?:send|paste|put|share|post|drop|type|forward|dictate|read)\b|\bpart (?:1|one|i)\b"
    r"|(?:发|贴|念|读|转|传|粘)(?:给?你|一?[段篇封份条个下])|第一(?:部分|段)|分[几两三四]?[次段条]发|一[句段条封篇]一[句段条封篇]",
    2,
)
"""Says that something is being sent, be it a text or not."""
_WAITS = regex(
    r"\W{0,3}(?:sure|ok(?:ay)?|go ahead|ready|yes|yep|got it|of course|alright|fine|great|send it|please do|i'm ready|understood|absolutely|happy to help)\b[^\n]{0,60}|\W{0,3}(?:好|可以|请|行|嗯|收到|没问题|当然|发吧|说吧)[^\n]{0,24}",
    2,
)
"""An answer that only waits for what is sent."""
_KIN = r"(?:friends?|colleagues?|coworkers?|boss|manager|m[uo]m|mother|dad|father|wife|husband|partner|sons?|daughters?|kids?|sisters?|brothers?|aunts?|uncles?|grand\w{2,6}|neighbou?rs?|landlord|landlady|teacher|doctor|client|customer|roommate|cousin)"
_KIN_ZH = r"(?:朋友|同学|同事|老师|室友|闺蜜|邻居|领导|老板|房东|女儿|儿子|孩子|老婆|老公|[爸妈姐妹哥弟爷奶姑姨舅叔])"
_OF_ONESELF = regex(
    r"\b(?:my|our) (?:\w{2,12} ){0,2}?(?:rules?|preferences?|stack|set-?up|situation|config\w*|habits?|background|plans?|requirements?|constraints?|conventions?|workflow|details|info\w*|environment|ideas?|goals?|settings|tools?|list|wishes)\b|我们?的?(?:规矩|规则|要求|情况|偏好|习惯|技术栈|配置|环境|想法|计划|信息|资料|愿望|清单)",
    2,
)
"""What is announced is about oneself: "I'll send you my rules"."""
_OURS = regex(r"\b(?:my|our|ours|mine|we|us|i)\b|[我咱]", 2)
_HE = regex(r"\b(?:he|she|him|his|hers?)\b|[他她](?!们|人)", 2)
_PERSON = regex(
    rf"\b(?:he|she|him|his|hers?|they|man|woman|guy|girl|boy|child|baby|{_KIN}|(?<!^)(?<![.!?\n] )(?-i:[A-Z])[a-z]{{2,20}})\b|[他她]|{_KIN_ZH}|[小老阿][\u3400-\u9fff]",
    2,
)
_TITLE = regex(
    r"(?!(?:I|We|My|Our|Please|Always|Never|Also|OK|Yes|No|Hi|Hello|Hey|Kimi|Claude)\b)(?:[A-Z0-9][\w'’&/-]{0,20},? (?:(?:of|the|and|for|to|in) ){0,2}){1,5}?[A-Z0-9][\w'’&/-]{0,20}[.!] "
)
"""A title that stands before the first sentence: "Code of Conduct. We always …"."""
_TITLED = 2
_ANNOUNCING, _WANTING = 240, 500
"""Who announces a text, or asks for one, says little else."""


_FOR_ME = regex(r"\b(?:(?:give|help|send|show|write|make|for) )(?:me|us)\b|[帮给替为]我", 2)
_MAKES = regex(
    r"\b(?:write|draft|compose|create|prepare|send|translate|edit|update|fix|add|put|rewrite|summari[sz]e|read|check|review) (?:me )?(?:it\b|this\b|one\b|an?|the|all|every|our|some|(?-i:[A-Z])[\w.]+)\b|(?:写|起草|发|做|建)(?:一?[封篇份个条]|给)|把[\w.]+|讨论|对话",
    2,
)
"""Asks for a text that is not there yet, or names another."""


def split_last(text: str) -> tuple[str, str]:
    """Return what stands above the last line, and that line without "for me"."""
    above, _, line = text.rstrip().rpartition("\n")
    return above, _FOR_ME.sub("", line.strip())


def is_quoted(line: str) -> bool:
    """Whether a line is of a quotation, a table or a program."""
    return line.startswith((">", "＞", "|", "<", "`"))


def makes_new(line: str) -> bool:
    """Whether a line asks for a text that is not there yet, or names another."""
    return _MAKES.search(line) is not None


@keep_results(4096)
def asked_last(text: str) -> bool:
    """Whether the last of several lines asks about a text that stands above it."""
    above, _, line = text.rstrip().rpartition("\n")
    line = line.strip()
    if not above or len(line) > _LONGEST or _ELSEWHERE.search(line):
        return False
    return _REQUESTS.fullmatch(line) is not None or _ASKS.search(line) is not None


@keep_results(4096)
def asks_of_stranger(text: str) -> bool:
    """Whether a last line speaks of a him or her that nothing above names, or stands below a title.

    Then who says "I" above is that other person, or wrote the text that has the title.
    """
    above, _, line = text.rstrip().rpartition("\n")
    if not above.strip() or len(line) > _LONGEST or _OURS.search(line):
        return False
    titled = _TITLE.match(above) is not None and len(sentences(above)) > _TITLED
    return titled or (_HE.search(line) is not None and _PERSON.search(above) is None)


@lru_cache(maxsize=4096)
def is_handed_over(lead: str, answer: str) -> bool:
    """Whether the turns before one bring it in as a text of somebody else.

    Args:
        lead: what the person said before, if anything.
        answer: what the agent said to that, if anything.
    """
    wanted = len(answer) <= _WANTING and _WANTS.search(answer) is not None
    return wanted or _announces_text(lead, answer)


def _announces_text(lead: str, answer: str) -> bool:
    """Whether a person says in a turn that a text follows in their next one."""
    said = lead.strip()
    if len(said) > _ANNOUNCING or "\n" in said or _OF_ONESELF.search(said):
        return False
    waits = _WAITS.fullmatch(answer.strip()) is not None
    return _ANNOUNCES.search(said) is not None or (waits and _SENDS.search(said) is not None)
