"""Whom a text is written for: somebody by name, a group or the public, and not an agent.

A person who talks with an agent greets it seldom and signs nothing. What begins like a letter or
a speech, ends with tags, advertises or sets a role was written elsewhere, whatever it states.
"""

# ruff: noqa: E501  an alternation of words is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import keep_results, regex

_AGENT = r"(?:kimi|claude|chat ?gpt|gpt|gemini|copilot|assistant|agent|ai|bot|model|助手|智能体|模型|豆包|元宝)"
_GREETS = regex(
    rf"^\W{{0,4}}(?:my )?dear (?!(?:\w{{1,12}} )?{_AGENT}\b)[\w.'&/ -]{{2,40}}[,!:，]"
    r"|^\W{0,4}(?:liebe[rs]?|sehr geehrte[rs]?|chers|chères|querid[oa]s|estimad[oa]s|cari|gentili|kära|kjære|beste) [\w/ -]{2,40},"
    r"|^\W{0,4}(?:comrades|fellow \w{3,14}|members|residents|neighbou?rs|colleagues|friends|students|parents|customers|shareholders|employees|passengers|sirs?|madam|gentlemen|classmates|teammates),"
    r"|^\W{0,4}ladies and gentlemen\b|^\W{0,4}to whom it may concern\b"
    r"|^\W{0,4}(?:hi|hello|hey|good (?:morning|afternoon|evening)),? (?:there,? )?(?:all|everyone|everybody|team|folks|friends|guys|colleagues|neighbou?rs|class|students)\b[,!.:]?"
    rf"|^\W{{0,4}}(?:hi|hello|hey|hallo|moin|liebe[rs]?|sehr geehrte[rs]?|bonjour|chère?|hola|estimad[oa]s?|querid[oa]s?|ciao|gentile|beste|hej) (?!{_AGENT}\b)(?-i:[A-Z])[\w.'-]{{1,20}}(?: (?-i:[A-Z])[\w.'-]{{1,20}}){{0,2}}[,!]\s*$"
    r"|^\W{0,4}(?:各位|诸位)[\u3400-\u9fff]{0,8}[，,：:！!\n]|^\W{0,4}(?:女士们|先生们|大家(?:早上|上午|中午|下午|晚上)?好)[，,、：:！!\s]"
    rf"|^\W{{0,4}}(?:尊敬|敬爱|亲爱)的(?!{_AGENT})[^，。\n]{{1,12}}[，,：:！!\n]"
    r"|^\W{0,4}(?:老师|同学|同事|朋友|家人|姐妹|兄弟|乡亲|宝宝|宝子|小伙伴|老铁|粉丝|业主|邻居|家长|旅客|乘客|顾客|观众|听众|员工|伙伴|战友|街坊|队友|读者|网友|居民|用户)们[\u3400-\u9fff]{0,4}[，,：:！!～~\s]",
    2 | 8,  # IGNORECASE, MULTILINE
)
"""How a letter, a speech or a notice begins."""
_SIGNS = regex(
    r"^\s{0,3}(?:mit (?:freundlichen|besten|herzlichen) grüßen|(?:viele|liebe|beste|herzliche) grüße|mfg|cordialement|bien à vous|saludos(?: cordiales)?|un saludo|cordiali saluti|met vriendelijke groet(?:en)?|groetjes|med vennlig hilsen|yours (?:faithfully|truly|sincerely)|(?:kind|best|warm) (?:regards|wishes)|顺祝商祺|此致|敬上)\b[^\n]{0,12}$"
    r"|[.!?] (?:(?:kind|best|warm) (?:regards|wishes)|sincerely|yours),? (?-i:[A-Z])|\bthank(?:s| you) for (?:contacting|buying|ordering|booking|subscribing|choosing|shopping|your (?:order|purchase|inquiry|enquiry|application))\b|感谢您的(?:来信|咨询|反馈|惠顾)",
    2 | 8,
)
"""How it ends, and what only answers of a service say."""
_PUBLIC = regex(
    r"\b(?:thrilled|excited|proud|delighted|honou?red|humbled|happy|pleased) to (?:announce|share)\b|(?:很|十分|非常)(?:高兴|荣幸|开心)(?:地)?(?:宣布|告诉大家|(?:和|跟|与)大家分享)|^官宣"
    r"|(?:[.!?。！？～~…]|#[^\s#]{2,24})[ \t]{0,3}#(?![0-9a-fA-F]{3}\b|[0-9a-fA-F]{6}\b|\d)[^\s#]{2,24}[ \t]{0,3}$|#[\u3400-\u9fff]{2,16}#|^\s{0,3}\d{1,5}\s?[楼#]\s*$"
    r"|\b(?:up to |save |get |give you |enjoy )\d{1,2} ?%|\b\d{1,2} ?% off\b|\bfree trial\b|\blimited[- ]time\b|\b(?:act|order|buy|book|sign up|subscribe|apply) now\b|\bclick (?:here|below|the link)\b"
    r"|(?:全场|立享|[给享]您)[一二三四五六七八九\d.]{1,3}折|限时|(?:立即|马上|赶紧|现在就)(?:购买|抢购|领取|下单|报名)|点击(?:链接|下方|领取)"
    r"|\b(?-i:I|We), (?:the undersigned|(?-i:[A-Z])[\w.]{1,20}(?: (?-i:[A-Z])[\w.]{1,20}){1,3}),|\b(?:it's|it’s|this is|i'm|i’m|i am) (?-i:[A-Z])[\w.]{1,20}(?: (?-i:[A-Z])[\w.]{1,20})?,? your (?!agent|user|owner)\w|我是[您你]的(?!用户|主人|老板)[^，。\n]{1,8}"
    r"|经[^，。\n]{0,8}(?:研究|讨论|审议)(?:决定)?[，,]|特此(?:通知|公告|声明|告知)|^\s{0,3}(?:通知|公告|公示|声明|启事|告示|须知|温馨提示)\s{0,3}[:：]?\s*$|温馨提示[:：]|本(?:店|馆|院|校|平台|小区|景区|酒店|餐厅|园|站)(?!身)|诚[招聘邀]"
    r"|^\s{0,3}(?!.{0,20}\b(?-i:NOTE|MY|IMPORTANT|SELF|PLEASE)\b)(?-i:[A-Z]{2,12}(?: [A-Z]{2,12}){1,4}): \S|\bwhat we offer\b|\(m/[fw]/[dx]\)|^\s{0,3}Q\. [^\n]{1,300}\n\s{0,3}A\. "
    r"|^\s{0,3}(?:abstract|摘要)\s?[.:：—-]\s?\S|^\s{0,3}(?:keywords|关键词)\s?[:：]"
    r"|^\W{0,4}you are (?:now )?(?:[\w-]{1,20}, )?an? [\w -]{0,30}\b(?:assistant|agent|bot|expert|chatbot|tutor|narrator)\b|^\W{0,4}你(?:现在)?(?:是|叫|扮演)[^，。\n]{1,10}[，,]\s?一[个名位][^，。\n]{0,12}(?:助手|助理|专家|机器人|客服)",
    2 | 8,
)
"""Tags, floors of a forum, an advertisement, the head of a paper, the role that a prompt sets."""


def is_for_others(text: str, at: int) -> bool:
    """Whether what stands at a place of a message speaks to others than an agent."""
    end = text.find("\n", at)
    greets = _GREETS.search(text, 0, end if end >= 0 else len(text))
    return greets is not None or _is_public(text)


@keep_results(4096)
def _is_public(text: str) -> bool:
    return _SIGNS.search(text) is not None or _PUBLIC.search(text) is not None
