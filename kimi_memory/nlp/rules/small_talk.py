"""Small talk: clauses that tell a later reader nothing, and how much less the others tell."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.lasting import GOING_ON
from kimi_memory.nlp.rules.salience import Traits, traits_of

_JOKE = regex(r"\b(?:just kidding|jk)\b|开个?玩笑", 2)
_LAUGH = regex(r"\b(?:haha\w*|hehe|lmao|lol)\b|哈哈|嘿嘿|笑死|[😂🤣]", 2)
"""People laugh at what is so as well: the prize was a rice cooker, haha."""
# src/app.py:12, main(argv), return cut(text)
_PLACE = regex(
    r"[\w/.-]\.\w{1,5}:\d|^\s*[\w.]+\(.*\)\s*$|^\s*(?:result|return|if|func|def|import)\b.*[({=]"
)
"""A line of a program or of what a tool printed."""
# 同事说他要…, "a friend says she …": true of others, and no line about who speaks.
_GOSSIP = regex(
    r"(?:同事|朋友|邻居|同学|网友|隔壁|有人|别人|人家)[^，。]{0,6}(?:说|讲)(?:他|她|自己|要|想)|^(?:隔壁|人家|别人|网上)"
    r"|(?:老婆|老公|媳妇|我妈|我爸|儿子|女儿|孩子|朋友|同事|室友)[^，。]{0,4}说我[^，。]{0,20}(?:比|简直|都快|像)"
    r"|\b(?:colleague|coworker|co-worker|friend|neighbou?r|classmate|someone|somebody|people|some guy|this guy)s? (?:\w+ )?(?:says?|said|claims?|claimed|told me|thinks?) (?:that )?(?:he|she|they|it|you)\b",
    2,
)
"""What others say of themselves."""
_MOOD = regex(
    r"\bi (?:really |just |so )?(?:hate|love) (?:this|that|it|these)\b|\b(?:ugh|argh|sigh)\b|烦死|累死|气死|头[疼大]|没看懂|(?:^|，)晕|唉"
)
_ADDRESS = regex(
    r"^\W*(?:https?://|www\.|[A-Za-z]:\\|~?/)\S+\W*$|^[^\s，。]+\\[^\s，。]*$|^\W*(?:curl|wget) ['\"]?https?:"
)
"""An address or a path alone."""
_SETTING = regex(r"^\W*[A-Za-z][\w.-]*\s?=\s?\S+\W*$")
"""A line of settings alone: "PORT=8080"."""
_TRIAL = regex(
    r"^\W*(?:(?:this is )?(?:just )?(?:a |only a )?test(?:ing)?(?: message| special| input| 1\b| 123|[.!:]|$)|testing (?:if|whether)\b|(?:这是(?:一条)?)?测试(?:一下|消息|输入)?[。！!：:]|试一下能不能)",
    2,
)
"""A message that only tries whether the program works."""
_ROUTINE = regex(
    r"^\W*(?:(?:please|pls|now|ok(?:ay)?|then|just|and|go ahead and) ){0,3}(?:(?:re)?(?:run|start|launch|build|compile|try|deploy)|commit|push|continue|proceed|retry|go on|carry on|approved?)(?: (?:it|the|this|that|and|again|on|up|from|where|you|left|off|now|please|project|servers?|app|code|changes?|everything|all|tests?|git|push|commit|build|dev|plan)){0,6}\W*$"
    r"|^\W*(?:请|帮我|现在|那|再|先|重新|麻烦|可以|给我|好的?，?){0,3}(?:启动|运行|重启|跑|编译|构建|打包|提交|推送|部署|继续|批准|同意|重试)(?:一下|一遍|下|起来)?(?:这个|该|整个|这些|当前|所有|的|一下){0,2}(?:项目|程序|服务|代码|测试|计划|方案|修改|改动|前端|后端|开发|执行|任务){0,2}(?:吧|了|看看|试试)?\W*$"
    r"|\b(?:pressed|hit|clicked|cancell?ed|sent)\b (?:stop|enter|send|cancel|esc|it|that|this|wrong|the (?:stop|send|enter|cancel|wrong)\b)[^.]{0,16}\b(?:by (?:mistake|accident)|accidentally)\b|\baccidentally (?:pressed|hit|clicked|cancell?ed|sent)\b|不小心(?:按|点)(?:到|了|错)|(?:按|点)错了",
    2,
)
"""What keeps an agent going, and names nothing."""
# "Good night", 我先撤了: such a turn holds plans of the evening at most.
_FAREWELL = regex(
    r"^\W*(?:ok |okay |right |anyway |so )?(?:i'm )?(?:signing off|off to (?:bed|sleep)|good ?night|gotta (?:go|run)|got to (?:go|run)|heading (?:out|to bed)|bye|see (?:you|ya)(?= (?:later|soon|then|tom|next|on\b)|\W*$)|that's (?:it|all) for (?:today|now))\b"
    r"|^(?:行了?|好了?|那)?(?:我|先)?(?:先|去)?(?:睡|撤|下线|下|溜|忙|闪)了|^(?:先这样(?=[吧了啦]|\W|$)|晚安|拜拜|回头聊)"
    r"|(?:^|[，,。！!\s])(?:那|行|好)?我?(?:先|就|得|要|该)?去?(?:睡|撤|下线|溜|闪|忙|休息)[了啦](?:[啊哈哦]|\W)*$"
    r"|(?:^|[,.;!] )(?:i'm )?(?:signing off|off to (?:bed|sleep)|(?:gotta|got to) (?:go|run)|heading (?:out|to bed)|good ?night|ttyl|talk (?:later|tomorrow|soon)|see (?:you|ya) (?:later|tomorrow|soon))\W*$"
    r"|\b(?:brb|be right back|back in (?:a|an|\d+|two|five|ten|fifteen|twenty|thirty) (?:few |couple of )?(?:secs?|seconds?|mins?|minutes?|moment|bit|hours?))\b|(?:分钟|小时|一会儿?|待会儿?|马上|很快|这就)(?:以?后|就)?回来",
    2,
)
_POINTS = regex(
    r"^\W*(?:(?:please|pls|can you|could you|now|ok(?:ay)?|so|and|just|hey|hm+) ){0,3}(?:(?:fix|implement|solve|explain|address|handle|do|apply|check|resolve|investigate|look (?:at|into)|take a look at)|(?:what(?:'s| is| are| does| do)|why(?:'s| is| are| does| do)?|how (?:do|can|should) (?:i|we) (?:fix|solve|handle|do))(?: going on (?:in|with)| wrong with| happening (?:in|with))?)"
    r" (?:(?:all|any|each|both)(?: of)? )?(?:this|that|these|those|it|them|the (?:above|following))(?: (?:\w+ ){0,2}(?:errors?|issues?|problems?|bugs?|warnings?|code|features?|functions?|ones?|things?|regex|loops?|parts?|sections?|blocks?|output|lines?|files?|happening|mean|about|above|below))?(?: (?:please|now|for me|too|again|here))*\W*$"
    r"|^\W*(?:请|帮我|帮忙|麻烦|你|给我|再|先|那){0,3}(?:按照?|根据|参考)?(?:实现|完成|修复|解决|处理|修改|看看?|改|做|解释|优化|检查|分析|说明)?(?:一下|下)?(?:上面|以上|上述|下面|这里?|这个|那个|这些|图中|图里|截图)(?:里|中|的|是|有|个|些){0,2}(?:什么|怎么|哪里|为什么|所有|全部|几个){0,2}(?:功能|问题|错误|报错|内容|代码|方案|要求|需求|步骤|计划|情况|意思|回事|建议)?(?:吗|呢|吧|啊|了|一下){0,2}\W*$",
    2,
)
"""What only points at something: 帮我实现上面的功能, "what is this error?"."""
_CALL = regex(
    r"^\W*(?:(?:incoming|outgoing|missed|phone|video|voice|audio) ){0,2}call\b[^.!?]{0,60}\b(?:connected|answered|ended|dropped|declined|missed|disconnected|(?:for|lasted|duration:?) \d+)\W*$|^\W*(?:missed (?:voice |video |phone )?call|call duration)\b"
    r"|^[^，。！？]{0,24}(?:语音|视频|电话)?(?:通话|呼叫|来电)[^，。！？]{0,12}(?:已?接通|已?结束|已?挂断|未接听?|时长|已?取消|中断)[^，。！？]{0,20}$|^\W*(?:对方)?(?:已接通|未接听|无应答|忙线中|已挂断)\W*$",
    2,
)
"""A line of a log of calls: that two telephones were joined tells nothing of what was said."""
_NOTHING = (_CALL, _TRIAL, _ROUTINE, _JOKE, _PLACE, _GOSSIP, _ADDRESS, _SETTING, GOING_ON)
_SELF = regex(r"\b(?:i|i['’](?:m|ve|d|ll)|im|my|me|mine|we|we['’](?:re|ve|d|ll))\b|我|咱", 2)
"""The speakers themselves: "it brings us together" is said of anybody."""
_CHEER = regex(
    r"^\W*(?:and |so |but )?(?:let'?s (?:keep|stay|never|all|both|make|support|celebrate|do this)\b|here'?s to|keep )|\b(?:ups and downs|worth it|never (?:gonna )?give up|not (?:gonna|going to) (?:give up|quit)|one step at a time|follow (?:my|your|our) dreams?)\b",
    2,
)
_ASIDE = regex(
    r"\b(?:(?:behind|proud of|rooting for|believe in|here for) you(?:rself)?|you(?:'ve| have)? got this|way to go|tap into)\b|^\W*(?:congrat\w*|well done|good (?:luck|for you)|happy for you|so glad)\b|恭喜|加油|为你(?:高兴|骄傲)|支持你"
    r"|\bhere(?:'s| is| are) (?:a |an |the |my |our |one of |another |some |\w+ ){0,3}(?:pic|photo|picture|shot|snap|image|video)s?\b|\b(?:check (?:it|this|these|them) out|(?:have|take) a look at (?:this|these)|look at (?:this|these))\b|(?:busy|crazy|long|great|tough|rough) (?:week|day|month|weekend|few (?:days|weeks)) since\b|发(?:你|张|几张)[^，。]{0,6}(?:照片|图)|给你看(?:看|下)?",
    2,
)
"""Praise, what goes with a picture, and what fills the time."""

_COURTESY = regex(
    r"^(?!.*\b(?:i|me|my|we|us|our)\b)\W*(?:(?:and|but|so|well|oh)\b,? )*you (?:can|can't|could|are|aren't|don't|know|really|must|have|seem)\b|^(?!.*我)\W*(?:那|但是?|其实)?(?:你|您)(?:真|很|是(?!否|不是)|不?会(?!不会)|不?能(?!不能)|没有|一定)|\b(?:let'?s|we can|we could|shall we) (?:just )?(?:have a |keep )?(?:chat|talk(?! to | with (?!each))|catch up|continue (?:our|this|the) (?:chat|talk|conversation))\b|\bour first (?:chat|talk|conversation)\b|"
    r"^\W*(?:(?:and|but|so|well|ok(?:ay)?|yes|yeah|wow|oh)\b,? )*(?:thank(?:s| you)\b|i(?:'m| am)? (?:\w+ )?(?:appreciate|grateful|thankful)\b|(?:that|it|this)(?:'s| is| was)? (?:\w+ ){0,3}(?:of you|good advice|a (?:good|great|nice|fair) (?:idea|point|suggestion|tip)|helps? (?:a lot|me))\b|(?:these|those|they|all (?:of )?(?:these|those)|both)(?: \w+){0,2} (?:all )?(?:sound|are|seem) (?:\w+ )?(?:great|good|helpful|useful|nice|lovely))"
    r"|\byou(?:'re| are) (?:(?:absolutely|totally|so|quite|completely|very|probably) )*(?:right|welcome|correct|kind|sweet|helpful)\b|\byou(?:'re| are)(?: also| really| truly)? (?:a|an|such an?|the) (?:\w+ ){0,3}(?:companion|assistant|friend|listener|ai|helper|bot|chatbot|lifesaver|star)\b"
    r"|\b(?:chat(?:t(?:ing|ed))?|talk(?:ing|ed)?|speak(?:ing)?|spoke|conversation|discussion) (?:to|with) you\b|\b(?:our|this) (?:chat|conversation|talk|session)\b|\byour (?:(?:\w+ ){0,2}(?:and )?)?(?:advice|suggestions?|tips|support|companionship|encouragement|guidance|understanding|recommendations?|patience|kind words|concern)\b|\b(?:i'll|i will|let me|i'm going to|i can) (?:(?:definitely|certainly|surely|probably|also|maybe|just) )*(?:try|consider|give|think about|look into|check|remember|keep|follow|take|practi[sc]e|do|use) (?:to (?:do )?)?(?:it|that|this|them|these|those|your|all (?:of )?(?:that|this|these|those))\b|\bi(?:'ve| have)? (?:taken|made) (?:a )?note of (?:that|it|this)"
    r"|^\W*(?:(?:嗯|好的?|是的?|对|哇|那|真的|非常|很|太|也|十分|特别|真是)[，,！!]?)*(?:谢谢|感谢|多谢|谢了)|(?:你|您)(?:的|给的?|提的)(?:这些|那些)?(?:建议|推荐|支持|鼓励|理解|陪伴|分享|帮助|回答|安慰|关心|提醒|开导|指导|想法|话)|(?:你|您)说(?:的|得)(?:很|太|都|也|非常)?(?:对|有道理|没错|在理|好)|(?:你|您)推荐的|[和跟](?:你|您)(?:聊|说|谈)(?:天|话)|(?:你|您)(?:真|很|太|好)(?:是)?(?:一位|个)?(?:聪明|厉害|体贴|贴心|好|棒|善解人意|会(?:说|聊|安慰)|懂我)"
    r"|^\W*(?:(?:嗯|好的?|是的?|对|那|我)[，,]?)*(?:明白|知道|懂|理解|清楚)了?[，,]我会|我(?:以后|今后|下次|回头|之后)?(?:一定|也|都|就|再|先|去|来|可以|应该)*(?:会|要)(?:好好|多多?|尽量|继续|慢慢|一直|更加|再|去){0,2}(?:努力|尽力|尝试|思考|反思|试试|试着|试一试|考虑|加油|注意的|想想|看看|听从|采纳|参考|调整|改变自己|提升自己|面对)",
    2,
)
"""What is said to the one who helps: thanks, praise, and that the advice will be thought of."""
TOLD = 4
"""So many words beside a courtesy tell something."""


def is_courtesy(clause: str) -> bool:
    """Whether a clause only answers an assistant: thanks, praise, "I'll think about it".

    Beside it a day, a figure, a name, somebody's kin or several things tell something.
    """
    plain = clause.replace("’", "'")
    if _COURTESY.search(plain) is None:
        return False
    rest = traits_of(_COURTESY.sub(" ", plain))
    return rest.specific < TOLD and not (rest.name or rest.figure or rest.day or rest.kin)


def says_nothing(clause: str) -> bool:
    """Whether a clause is a joke, a nod, gossip, a trial, or a line of a program."""
    return any(words.search(clause) for words in _NOTHING)


def says_farewell(text: str) -> bool:
    """Whether somebody takes leave for now."""
    return _FAREWELL.search(text) is not None


def only_points(text: str) -> bool:
    """Whether a request or a question only points at something that it does not name."""
    return _POINTS.search(text) is not None


_NUMBERED = regex(
    r"\b(?:improvements?|observations?|suggestions?|recommendations?|findings?|remarks?|comments?|points?|items?|bullets?|questions?|options?) #?\d{1,3}\b(?!\s?(?:%|percent|mb|gb|ms|px|th\b))"
    r"|\b(?:address|fix|skip|handle|implement|apply) (?:#|no\. ?|number )?\d{1,3}(?:(?:,| and| or|&) ?#?\d{1,3})*\W*$"
    r"|\b(?:out of|from|of|in|on) (?:this|that|these|those|your|the above) (?:lists?|suggestions|options|points|items|ideas)\b"
    r"|(?:第?[一二三四五六七八九十\d]{1,3}(?:条|点|项|个)(?:建议|意见|观察|问题|改进|方案)|(?:建议|观察|改进|意见|方案|问题)[一二三四五六七八九\d]{1,2}(?![\d年月日号点个]))|(?:这|那|上面的?|以上的?)(?:个|份|张)?(?:列表|清单)(?:里|中|上)",
    2,
)


def points_at_list(text: str) -> bool:
    """Whether a text names items of a list of somebody else's by their numbers alone."""
    return _NUMBERED.search(text) is not None


_DANGLES = regex(
    r"^\W*(?:(?:and|so|but|also|yeah|yes|wow|honestly)\b,? )*(?:it|that|this|they|those|these)(?:['’](?:s|re|ll|d)\b| (?:is|are|was|were|has|have|had|will|would|can|makes?|made|feels?|felt|helps?|helped|really|just|all|also|definitely|means?|meant|gives?|brings?|keeps?|reminds?)\b)"
    r"|\b(?:something|anything|somewhere) similar\b|\bthe same (?:here|thing|way)\b|\b(?:so do|same for) (?:i|me)\b"
    r"|^\W*(?:但|而且|所以|其实)?(?:它|他们|她们|它们|这|那)(?:个|些|样|种)?(?:真|很|太|也|都|就|确实|特别|让|给|是)|差不多的(?:事|经历)",
    2,
)


_ON_THE_WAY = regex(
    r"\b(?:on (?:my|the) way\b(?! to becoming)|driving (?:home|back|over)\b|heading (?:home|out|back|over|to the)\b|just (?:got (?:home|here|back)|parked|left (?:home|work|the \w+)|closed (?:up|the shop)|arrived)\b|i(?:['’]m| am| have|['’]ve)? (?:already )?(?:here|at the \w+ now|arrived|parked)\b|(?:be there|arrive|see you) in (?:about |around )?\d{1,4} min)"
    r"|(?:我|我这边|我们)?(?:刚|已经?|马上|这就|准备|正)(?:到(?!手|期|账)|出发|下班|打烊|收工|出门|在路上|停好?车|到家|开车)|(?:开车|走路|步行|打车)(?:回|去|过来|到)[^，。]{0,12}(?:路上|中|了)|(?:大概|差不多|还有)?\d{1,4}分钟后?就?到"
    r"|(?:今晚|晚上|中午|待会儿?|一会儿?)我?(?:打算|准备|想|就|先|再)?(?:做[^，。]{0,8}(?:饭|菜|汤|面|肉|沙拉)|吃|煎|炒|煮|点外卖|叫外卖|加班)|刚[^，。\d]{0,4}(?:跑完|吃完|忙完|开完会?|收拾完|睡醒|起床|洗完)(?![^。]{0,12}\d)|发(?:你|您)(?:邮箱|微信|了)|(?:在|到)[^，。]{0,10}(?:门口|楼下|老位置)(?:了|等你?)?",
    2,
)


def is_on_the_way(clause: str) -> bool:
    """Whether somebody tells where they are just now: "on my way, there in ten minutes"."""
    return _ON_THE_WAY.search(clause) is not None


def dangles(clause: str) -> bool:
    """Whether a clause is about what another sentence names: "it makes me happy too"."""
    return _DANGLES.search(clause) is not None


def laughs(clause: str) -> bool:
    """Whether a clause holds laughter."""
    return _LAUGH.search(clause) is not None


def is_mood(clause: str) -> bool:
    """Whether a clause says how the speaker feels just now."""
    return _MOOD.search(clause) is not None


def cheer_of(text: str, traits: Traits) -> float:
    """Return what a clause loses that people say to cheer each other up."""
    firm = traits.name or traits.figure or traits.day
    # A line that is about nobody is a wise saying; "let's" without a day is a cheer.
    wise = not (_SELF.search(text) or traits.kin or firm)
    cheer = not firm and _CHEER.search(text) is not None
    cheer = cheer or _ASIDE.search(text) is not None
    return 1.2 * wise + 1.5 * cheer + 0.8 * traits.doubt
