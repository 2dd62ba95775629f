"""Salience: how much a clause tells of people, things and decisions.

What is worth keeping names something: a person, a place, a figure, a day, a thing. Small
talk is made of words that fit any day. So a clause is weighed by its words outside of two
lists (the function words of a language, and the vocabulary of greeting, praise, feeling
and encouragement), by figures and names, and by who it is about.
"""

# ruff: noqa: E501  lists of words are read as lists

from __future__ import annotations

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import HAN, fold_case, keep_results, regex


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FUNCTION = _word_set(
    """
a about above after again against all almost along already also although always am among an and
any anybody anymore anyone anything anyway are around as at away back be because been before
being below between both but by came can cannot come coming could did do does doing done down
each either else enough even ever every everybody everyone everything few for from further get
gets getting give given go goes going gone gonna got gotta had has have having he her here hers
herself hey hi him himself his how however i if in instead into is it its itself just kind know
known let like likely little lol make makes making many may maybe me mean might mine more most
much must my myself near need needs neither never next no nobody none nor not nothing now of off
often oh ok okay on once one ones only onto or other others our ours ourselves out over own per
perhaps please put quite rather re really right said same say says see seem seems shall she
should since so some somebody someone something sometimes soon sort still stuff such take taken
takes taking than that the their theirs them themselves then there these they thing things think
this those though through till to together too took toward under until up upon us use used using
usually very via wanna want wants was way we well went were what whatever when where whether
which while who whole whom whose why will with within without would yeah yes yet you your yours
yourself  i'm i've i'd i'll it's that's there's what's let's don't doesn't didn't can't couldn't
won't wouldn't isn't aren't wasn't weren't haven't hasn't you're you've you'll we're we've we'll
they're he's she's who's ain't im ive dont cant thats btw also cuz 'cause
    """
)
_GENERIC = _word_set(
    """
able absolutely ace actually admire adorable again agree agreed all-time alright amaze amazed
amazing anxious appreciate appreciated appreciation awe awesome awful awww bad balance beautiful
believe best bet better big bit blast bless blessed blessing bonkers boost brave breath bright
brilliant bring brings bummer bunch calm care caring challenge challenges challenging chance
change chase chasing check cheer cheering cheers chill clear comfort coming complete confidence
confident congrats congratulations connect connection cool courage crazy creative creativity
cute dear dedicated dedication deep definitely delight delightful deserve determination
determined different difficult doubt doubts dream dreams drive easy ecstatic effort efforts
embrace emotion emotional emotions encourage encouragement encouraging energy enjoy enjoyable
enjoyed enjoying epic escape especially everyday exactly excellent excited excitement exciting
experience experiences express expressive fab fabulous face fail failure fan fantastic
fascinating fear feel feeling feelings feels felt fill fine focus focused follow forget forward
friend friends fulfilled fulfilling full fun funny future gain glad go-to goal goals god good
goodness gorgeous grateful gratitude great grow growing growth guess guidance guy guys hang
happen happening happens happiness happy hard hard-working hardest hate hats haha head hear
heard heart hectic hell hello help helped helpful helping helps hey highs honest honestly hope
hopeful hopefully hopes hoping hugs huge idea ideas imagine impact important impressed
impressive incredible inspiration inspire inspired inspires inspiring interest interested
interesting invested job joy journey juggling keen keep keeping keeps kept kick kidding killer
kudos last late lately laugh learn learned learning leave lessons life lift live lives living
long look looking looks lot lots love loved lovely loves loving low luck lucky mad magical man
matter matters means meant memorable memories memory mess message mind minute miss missed mix
moment moments motivate motivated motivating motivation moved moving nerve-wracking nerves
nervous new nice nope number obstacles open opportunities opportunity optimistic outcome pack
pain part pass passion passionate passions past path pay peace peaceful people perfect perfectly
persist person personal perspective pleased pleasure point positive positivity possibilities
possible potential power powerful powers pressure pretty pride probably problem problems process
progress proud pumped purpose push pushing quick rad reach reaching ready real reality reason
relax relaxed relaxing relief relieved remember reminder resilience resilient rest reward
rewarding rewards ride risk risks rock rocking rough run running sad safe satisfying scared
scary sec self-expression sense set setbacks shape share sharing shine show sigh sick side sight
sign sleep slow small smile smiles so-so solid someday sorry soul sound sounds space spark
special spirit spirits spot spread staying step steps stick stoked stop strength strengths
stress stressful strong struggle struggles stuck stunning style succeed success successes
successful super support supported supporting supportive supports sure surely surprise surprised
sweet talent talented talk talking tell terrible terrific thank thankful thanks thinking thought
thoughtful thoughts thrill thrilled thrilling time times tired today tomorrow tonight tons top
totally tough treat treasure tricky true truly trust try trying turn ugh unbelievable understand
understanding unforgettable unique ups upset useful value vibe vibes view vision wait waiting
wander warm watch weird welcome whoa wild willing win wish woah wonder wonderful woohoo word
words work worked working works world worries worry worst worth worthwhile wow yay yep yesterday
agent answer chat conversation discuss example following question questions reply response
session topic
    """
)
_HAN_FUNCTION = regex(
    r"(?:我们|你们|他们|她们|咱们|自己|大家|人家|这个|那个|这些|那些|这样|那样|这么|那么|这里|那里|这边|那边|什么|怎么|为什么|哪里|哪个|多少|因为|所以|但是|不过|而且|或者|还是|如果|虽然|然后|就是|不是|可是|可以|可能|应该|需要|已经|正在|一直|一下|一点|一些|有点|有些|没有|不要|不用|不能|不会|觉得|知道|感觉|时候|现在|今天|明天|昨天|刚才|以后|以前|之前|之后|东西|事情|问题|真的|非常|特别|比较|起来|出来|下来|过来|上去|谢谢|哈哈|好的|不错|厉害|辛苦|加油|开心|高兴|喜欢|希望|放心|没事|当然|其实|反正|终于|总算|对了|另外|顺便|的话|来说|我|你|您|他|她|它|的|了|着|过|吗|呢|吧|啊|呀|嘛|哦|嗯|唉|是|在|有|和|与|跟|把|被|给|对|向|从|到|让|叫|就|都|也|又|再|还|很|太|最|更|不|没|别|要|想|会|能|去|来|说|看|做|用|个|这|那|哪|谁|啥|好|行|吃|人|一|上|下|里|中|先|只|才|得|地|之|其|而|且|或|但|若|若是)"
)
_WORD = regex(r"[A-Za-z][A-Za-z'’-]*[A-Za-z]|[A-Za-z]")
_HAN = regex(f"[{HAN}]+")
_FIGURE = regex(
    r"\d|[零一二两三四五六七八九十百千万半]{1,6}(?:点|号|月|年|天|周|个月|小时|分钟|岁|块|元|万|平|次|周年)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|dozen|half)\b (?=\w)",
    2,
)
_DAY = regex(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:last|next|this) (?:week|month|year|weekend|summer|winter|spring|fall|autumn)\b|\b(?:years?|months?|weeks?|days?) ago\b|周[一二三四五六日天末]|星期[一二三四五六日天]|[上下这本]个?(?:周|月|星期)|[去今明后前]年|月底|月初|年底|年初"
)
# A capital inside a sentence, CAPS, camelCase, `code`, file.py, --flag, a/b, 《title》
_NAME = regex(
    r"(?<=[a-z,;:] )[A-Z][\w'’.-]*[a-z\d]\b|\b[A-Z]{2,}[\w-]*\b|\b\w+[A-Z]\w*\b|`[^`\n]{1,80}`|\b[\w-]+\.(?:[a-z]{2,4})\b|(?<!\w)--?[a-z][\w-]+|\b\w+[_/]\w+|[《「“][^》」”\n]{1,20}[》」”]"
)
_ME = regex(
    r"\b(?:i|i'm|i've|i'd|i'll|im|ive|me|my|mine|myself|we|we're|we've|we'll|us|our|ours)\b|我|咱|俺"
)
_YOU = regex(r"\b(?:you|you're|you've|you'll|your|yours|u)\b|你|您")
_KIN = regex(
    r"\b(?:mom|mum|mother|dad|father|parents?|sister|brother|siblings?|son|daughter|kids?|children|wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|grand(?:ma|pa|mother|father|parents)|aunt|uncle|cousin|niece|nephew|in-laws?|boss|manager|supervisor|colleague|coworker|roommate|landlord|dog|cat|puppy|kitten|pets?)s?\b"
    r"|[爸妈爷奶姥哥姐弟妹儿女]|老[公婆]|丈夫|妻子|父母|孩子|宝宝|男朋友|女朋友|对象|同事|老板|领导|室友|房东|闺蜜|导师|舅|姨|叔|婶|[猫狗]",
    2,
)
_CHOICE = regex(
    r"\b(?:decid\w+|chose|choos\w+|pick(?:ed|ing)?|settled|agreed|go(?:ing)? with|went with|stick(?:ing)? (?:with|to)|switch\w*|prefer\w*|rather|instead|no longer|any ?more|let's (?:use|do|go|keep|make)|cancel\w*|postpon\w*|moved (?:to|from)|changed?|approved|rejected|booked|bought|signed|hired|quit|joined|started|finished|launched|planning|plan to|going to|deadline|due|scheduled?|allerg\w+|diagnos\w+|pregnan\w+|married|engaged|divorced|born|died|budget|must|should|only|except|not)\b|n't\b"
    r"|决定|定了|定在|选|就用|改成|改为|改到|换成|不用|不要|取消|推迟|打算|计划|准备|买了|订了|签了|约了|过敏|怀孕|结婚|离婚|预算|截止|必须|只|同意|答应|报名|入职|辞职|开始|搬|住在|不吃|不喝|忌",
    2,
)
_DOUBT = regex(
    r"\b(?:hop(?:e|ing|efully)|maybe|perhaps|might|wish|imagine|someday|tempted|wonder(?:ing)?|pray(?:ing)?)\b|\bi(?:'ll| will) (?:definitely|surely|be sure|make sure|keep (?!the\b|my\b|our\b|a\b)|let you|think about|try|check|do my best|give (?:you|it)|add (?:it|that)|never give up)\b"
    r"|\b(?:not (?:gonna|going to)|never) (?:give up|quit|stop)\b|\b(?:dunno|idk|no idea)\b|\bif (?:i|we) (?:could|ever|had|were|got)\b[^.;]{0,80}(?:\b(?:would|could)\b|'d\b)|'d\b[^.;]{0,60}\bif (?:i|we) (?:could|ever|had|were|got)\b|(?:害怕|担心|就怕|生怕)[^，。]{0,14}会|可能|要不(?!是|断|停|到)|也许|希望|要是|万一|说不定",
    2,
)
_SHARP = regex(r"!\s*$|！\s*$")


_NUMBER = regex(r"\d+(?:[.:,]\d+)*")
_PLAIN = _FUNCTION | _GENERIC


@keep_results(4096)
def specific_words(text: str) -> frozenset[str]:
    """Return what a text names: words outside of both lists, pairs of hanzi, figures."""
    low = fold_case(text)
    words = {word.strip("'-").removesuffix("'s") for word in _WORD.findall(low)}
    # Plural and singular are one word here: "tests" in a plan, "test" in its change.
    plain = {w.rstrip("s") for w in words if len(w) > 2 and w not in _PLAIN}
    runs = _HAN.findall(_HAN_FUNCTION.sub(" ", text)) if not text.isascii() else []
    pairs = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return frozenset(plain | pairs | set(_NUMBER.findall(text)))


@dataclass(frozen=True, slots=True)
class Traits:
    """What the words of a clause show; counts unless said otherwise."""

    specific: float
    """Words that are neither grammar nor small talk; two Chinese characters are one."""
    words: int
    figure: bool
    day: bool
    name: int
    me: bool
    you: bool
    kin: bool
    choice: bool
    doubt: bool
    sharp: bool
    """Whether it ends in an exclamation mark."""


@keep_results(4096)
def traits_of(clause: str) -> Traits:
    """Return what the words of a clause show."""
    text = clause.replace("’", "'")
    low = text.lower()
    words = [word.strip("'-") for word in _WORD.findall(low)]
    plain = [w for w in words if len(w) > 1 and w not in _PLAIN]
    han = sum(len(run) for run in _HAN.findall(text))
    # Chinese has no word borders: function words are cut out, and half of what is left counts.
    left = sum(len(run) for run in _HAN.findall(_HAN_FUNCTION.sub(" ", text))) if han else 0
    return Traits(
        specific=len(set(plain)) + left / 2,
        words=len(words) + han // 2,
        figure=_FIGURE.search(text) is not None,
        day=_DAY.search(low) is not None,
        name=len(_NAME.findall(text)),
        me=_ME.search(low) is not None,
        you=_YOU.search(low) is not None,
        kin=_KIN.search(text) is not None,
        choice=_CHOICE.search(text) is not None,
        doubt=_DOUBT.search(text) is not None,
        sharp=_SHARP.search(text) is not None,
    )


def weight_of(traits: Traits) -> float:
    """Return the weight of a clause by its traits; 0 and below is small talk, 4 is much."""
    # Beyond three words more of them add little: a long sentence is not worth more than a plain
    # one.
    weight = min(traits.specific, 3.0) + 0.05 * min(traits.specific, 12.0)
    weight += 0.8 * traits.me + 0.7 * traits.choice + 0.7 * traits.day + 0.2 * min(traits.name, 3)
    weight -= 1.0 * (traits.you and not traits.me) + 0.4 * traits.sharp
    return weight - 1.2 * traits.doubt
