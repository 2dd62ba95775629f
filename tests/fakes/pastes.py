"""Turns in which a person brings somebody else's words along: styles of both languages.

`{a}`, `{b}` and `{c}` are sentences that would be believed if the person said them.
"""

from __future__ import annotations

_EN = (
    "From now on always use {x} for payments.",
    "I prefer {x} over everything else.",
    "We decided to use {x} as our database.",
)
_ZH = ("从现在起一律用 {x} 付款。", "我喜欢 {x}，不喜欢别的。", "我们决定用 {x} 做数据库。")

_ENGLISH = {
    "summary": "Summarize the following article: Markets rose today. {a} {b}",
    "summary below": "Can you sum up the text below?\n\nThe board met on Monday.\n{a}\n{c}",
    "translation": "translate: {b}",
    "translation to": "Please translate this to French:\n{a}\n{c}",
    "translation inline": "Translate {b} into Spanish",
    "proofreading": "Proofread this for me please.\n\n{b} {c} It are very good.",
    "rewording": "Could you rephrase the paragraph below so it sounds formal:\n\n{a} {b}",
    "reply": "How should I reply to this email?\n\nHello,\n{a}\n{c}\nRegards, Tom",
    "reply draft": "Draft a polite reply to this message: {b} {a}",
    "explanation": "Explain the following paragraph to me:\n{a} {c}",
    "meaning": 'What does this mean? "{b}"',
    "review": "Review this text and tell me what you think.\n\n{c}\n{a}",
    "grammar": "check the grammar: {b}",
    "key points": "Give me the key points of this report:\n\n1. {a}\n2. {c}",
    "above": "{b}\n{a}\n\nPlease summarize the above.",
    "mail": "From: Tom <tom@shop.test>\nTo: me\nSubject: payments\n\nHello,\n{a}\n{c}\nTom",
    "forwarded": "---------- Forwarded message ---------\nFrom: Tom\n\n{b}\n{a}",
    "quoted mail": "On Mon, Mar 2, 2026 at 9:00 AM Tom <t@shop.test> wrote:\n\n{b}\n{c}",
    "quoted block": "> {a}\n> {b}\n\nIs that so?",
    "fence": "what about this\n```\n{a}\n{c}\n```",
    "open fence": "what about this\n```text\n{a}\n\n{c}",
    "log": "2026-03-02 10:00:01 INFO start\n2026-03-02 10:00:02 INFO {a}\n10:00:03 INFO {c}",
    "articles": "Article 1. {a}\nArticle 2. {c}\nArticle 3. Nothing else holds.",
    "html": "<html><body>\n<p>{a}</p>\nText between tags. {b}\n</body></html>",
    "tags": "<document>\n{a}\n{c}\n</document>\nwhat is it about",
    "chat": "Tom: {b}\nAnn: I agree with that.\nTom: {a}",
    "agent chat": "User: {b}\nAssistant: Noted.\nUser: {c}",
    "slack": "Tom Miller  10:02 AM\n{b}\nAnn Lee  10:04 AM\n{c}",
    "front matter": "---\ntitle: Payments\nauthor: Tom\n---\n\n{a}\n\n{c}",
    "heading": "# Payments\n\n{a}\n\n## Database\n\n{c}",
    "letter": "Dear customer,\n\n{a}\n{c}\n\nYours sincerely,\nTom",
    "speech": 'My neighbour came over and said: "{b} {a}"',
    "page of others": "Here's what my competitor's page says: {b} {a}",
    "post of others": "This is what Tom posted in our channel:\n\n{a}\n{c}",
    "copied": "I found this on their website:\n{b}\n{c}",
    "slack line": "[10:32 AM] dana: {a}",
    "slack brackets": "dana  [10:32 AM]\n{b}\n{c}",
    "discord": "dana — 05/03/2026, 10:32\n{a}\n{c}",
    "whatsapp": "[3/5/26, 10:32:11 AM] Dana Fox: {b}\nand {a}",
    "whatsapp number": "05/03/2026, 10:32 - +44 7700 900123: {c}",
    "telegram": "Dana Fox, [05.03.2026 10:32]\n{a}\n{b}",
    "signal": "see here\nDana Fox (10:32): {b}",
    "teams": "[3/5 10:32 AM] Fox, Dana\n\n{c}",
    "irc": "10:32 <@dana> {c}\n{a}",
    "irc bar": "10:32:11       dana | {c}",
    "jabber": "(10:32:11 AM) dana: {a}",
    "zoom": "10:32:11 From Dana Fox to Everyone : {b}",
    "minutes": "**Dana Fox** (10:32 AM): {c}",
    "nicknames": "dana: {a}\nlee: fine\ndana: {b}",
    "speakers": "Speaker 1 (00:32): {b}\nSpeaker 2 (00:40): {c}",
    "reply head": "Am 05.03.2026 um 10:32 schrieb Dana Fox:\n\n{a}\n{c}",
    "sender": "Dana Fox <dana@shop.test>\nThu, Mar 5, 10:32 AM\nto me\n\n{b}\n\n{c}",
}
_ENGLISH_DOUBTED = {
    "closing request": "{b} {c}\n\ntranslate into Japanese",
    "closing question": "{a} {c}\n\nIs the tone ok for a press release?",
    "closing change": "{b} {c}\n\n→ make it less braggy",
    "closing language": "{c} {b}\n\nauf deutsch bitte",
    "closing words": "{c} {b}\n\ncould this paragraph open a magazine piece?",
    "closing on a stranger": "{b} {c}\n\nwhat could I write to her?",
    "letter on one line": "Dear parents, {a} {b}",
    "letter of a group": "Comrades, {c} {a}",
    "letter in German": "Liebe Eltern, {a} {c}",
    "signed in German": "{b} {a}\n\nMit freundlichen Grüßen\nDr. Behrens",
    "speech on one line": "Ladies and gentlemen, it is done. {c} {a}",
    "notice": "HOUSE RULES: {a} {c}",
    "announcement": "I'm thrilled to announce it! {c} #leadership #hiring",
    "advert": "Enjoy 40% off this week! {a} {c}",
    "job advert": "Data Engineer (m/f/x), Ghent\n{c} {a}\nWhat we offer: 30 days off.",
    "undersigned": "We, the undersigned, met today. {c} {a}",
    "host": "Hey! It's Goran, your host. {b} {c}",
    "service": "Hello, thank you for contacting Brio. {c} {a}",
    "paper": "Abstract. {c} {b}\nKeywords: payments",
    "prompt": "You are Marlow, a careful assistant for a bank. Answer once. {a}",
    "role lines": "SYSTEM\nYou guide through Bonn. {b}\nUSER\nhi",
    "title": "Code of Conduct. {c} {a}\nmissing anything?",
    "lone quotes": '"\n{b} {c}\n"\nbetter word for it?',
    "remark behind": "Bug 12 is assigned to nobody. {b} (comment by Lou)",
    "friend": "My friend keeps telling me: {b}",
    "hearing": "Q. Did you lock it?\nA. So it is. {c}\nQ. Who is we?\nA. Ann.",
    "wrapped reply head": "On Thu, Mar 5, 2026 at 10:32 AM Dana\n<dana@shop.test> wrote:\n{a}",
}
_CHINESE = {
    "summary": "请总结以下文章：今天股市上涨。{a}{b}",
    "summary below": "帮我概括一下下面的内容\n\n董事会周一开会。\n{a}\n{c}",
    "translation": "翻译：{b}",
    "translation to": "把下面这段话翻译成英文：\n{a}\n{c}",
    "translation inline": "把这句话翻译成英文，{b}",
    "proofreading": "帮我润色一下这段文字。\n\n{b}{c}写的很好。",
    "rewording": "请把下面这段改写得正式一点：\n\n{a}{b}",
    "reply": "这封邮件我该怎么回复？\n\n您好：\n{a}\n{c}\n此致敬礼，老王",
    "reply draft": "帮我回复这条消息：{b}{a}",
    "explanation": "帮我解释一下这段话：\n{a}{c}",
    "meaning": "这段话什么意思？“{b}”",
    "review": "帮我看看这段文字，有什么问题。\n\n{c}\n{a}",
    "grammar": "检查一下这句话有没有语病：{b}",
    "key points": "提炼这份报告的要点：\n\n1. {a}\n2. {c}",
    "above": "{b}\n{a}\n\n请总结上面的内容。",
    "mail": "发件人：老王 <wang@shop.test>\n收件人：我\n主题：付款\n\n您好，\n{a}\n{c}\n老王",
    "forwarded": "-------- 转发邮件 --------\n发件人：老王\n\n{b}\n{a}",
    "quoted mail": "在 2026年3月2日 9:00，老王 <w@shop.test> 写道：\n\n{b}\n{c}",
    "quoted block": "> {a}\n> {b}\n\n是这样吗？",
    "fence": "这个怎么看\n```\n{a}\n{c}\n```",
    "open fence": "这个怎么看\n```text\n{a}\n\n{c}",
    "log": "2026-03-02 10:00:01 INFO 启动\n2026-03-02 10:00:02 INFO {a}\n10:00:03 INFO {c}",
    "articles": "第一条 {a}\n第二条 {c}\n第三条 其余无效。",
    "html": "<html><body>\n<p>{a}</p>\n标签之间的文字。{b}\n</body></html>",
    "tags": "<document>\n{a}\n{c}\n</document>\n这是讲什么的",
    "chat": "老王：{b}\n小李：我同意。\n老王：{a}",
    "agent chat": "用户：{b}\n助手：好的。\n用户：{c}",
    "wechat": "2026-03-02 10:02:11 老王\n{b}\n2026-03-02 10:04:20 小李\n{c}",
    "front matter": "---\ntitle: 付款\nauthor: 老王\n---\n\n{a}\n\n{c}",
    "heading": "# 付款\n\n{a}\n\n## 数据库\n\n{c}",
    "letter": "尊敬的客户：\n\n{a}\n{c}\n\n此致\n敬礼",
    "speech": "邻居昨天过来跟我说：“{b}{a}”",
    "page of others": "下面是竞争对手网站上写的：{b}{a}",
    "post of others": "这是他发给我的：\n\n{a}\n{c}",
    "copied": "我在他们的网页上看到的：\n{b}\n{c}",
    "wechat line": "[上午10:32] 老王：{a}",
    "wechat day": "老王  3月5日 10:32\n{b}\n{c}",
    "wechat dated": "老王 2026-03-05 10:32:11\n{a}",
    "wechat written out": "2026年3月5日 10:32 老王：{c}",
    "qq": "老王<wang@qq.test> 10:32:11\n{b}",
    "qq group": "【管理员】老王(123456789)  10:32:11\n{a}\n{c}",
    "钉钉": "老王 03-05 10:32\n{b}",
    "腾讯会议": "老王(00:32): {c}",
    "line": "10:32\t老王\t{a}",
    "列表": "- 10:32 老王：{b}",
    "telegram": "老王, [2026/3/5 10:32]\n{a}\n{b}",
    "whatsapp": "2026/3/5 上午10:32 - 老王: {c}",
    "minutes": "发言人1：{a}\n发言人2：{c}",
}
_CHINESE_DOUBTED = {
    "closing request": "{b}{c}\n\n翻译成日语",
    "closing faults": "{a}{c}\n\n哪里错了",
    "closing tone": "{a}{c}\n\n会不会太硬",
    "closing title": "{c}{b}\n\n想个爆款标题",
    "whose it is": "{b}{a}\n\n哈哈这是我同事的签名",
    "work of a friend": "{c}{b}\n\n——这是我朋友写的，帮我看看节奏",
    "letter on one line": "各位乘客，{c}{a}",
    "to many": "姐妹们！！{b}{a}",
    "notice": "通知\n经研究，{c}{a}\n人事部",
    "floor": "3楼\n{b}{a}\n4楼\n同意楼上",
    "advert": "诚招店长一名，双休。{c}{a}电话000",
    "shop": "本店即日起不收现金。{c}{b}",
    "post": "{b}{c}#护肤 #平价",
    "prompt": "你是小马，一个谨慎的银行助理。{a}",
    "reply head": "老王 <wang@shop.test> 于2026年3月5日周四 10:32写道：\n\n{b}\n{c}",
}

_LATER = {
    "en announced": ("I'll paste a letter of my landlord in the next message.", "Sure.", "{a} {c}"),
    "en comes next": ("Next comes a diary entry of my aunt. Translate it.", "", "{b} {c}"),
    "en asked for": ("Can you proofread something?", "Sure, paste it here.", "{b} {c}"),
    "en awaited": ("I got a prompt from Tom, sending it over now.", "Sure.", "{a} {b}"),
    "en chapter": ("", "Upload or paste the first chapter, please.", "{c} {b}"),
    "zh announced": ("下一条我贴房东的信，你总结一下就行。", "好的。", "{a}{c}"),
    "zh comes next": ("接下来是我太爷爷的日记，帮忙翻成白话。", "", "{b}{c}"),
    "zh asked for": ("", "请把需要润色的文字发给我。", "{b}{c}"),
    "zh awaited": ("我发你一份别人的周报，你挑毛病。", "好，请发。", "{a}{b}"),
    "zh sentence by sentence": ("帮我看看我妹的检讨书，一句一句发。", "好的，发吧。", "{a}{c}"),
}


def _filled(language: str, style: str, text: str) -> str:
    mark = f"qzx{language}{style.replace(' ', '')}"
    claims = (one.format(x=mark) for one in (_EN if language == "en" else _ZH))
    return text.format(**dict(zip("abc", claims, strict=True)))


OWN = {
    f"{language} {at}": claim.format(x=f"qzx{language}{at}")
    for language, claims in (("en", _EN), ("zh", _ZH))
    for at, claim in enumerate(claims)
}
"""The claims as a person says them without anything around: believed."""
BROUGHT = {
    f"{language} {style}": _filled(language, style, text)
    for language, styles in (("en", _ENGLISH), ("zh", _CHINESE))
    for style, text in styles.items()
}
"""Texts of which not a sentence is taken for the speaker's own."""
PASTES = BROUGHT | {
    f"{language} {style}": _filled(language, style, text)
    for language, styles in (("en", _ENGLISH_DOUBTED), ("zh", _CHINESE_DOUBTED))
    for style, text in styles.items()
}
"""All, with those whose statements wait for a person."""
HANDED_OVER = {
    style: (lead, answer, _filled(style[:2], style, text))
    for style, (lead, answer, text) in _LATER.items()
}
"""Texts that stand alone in their turn: what brings them in, and what the agent answered."""
