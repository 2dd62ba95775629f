"""What stands before a statement and may bring in somebody else's words."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.led_in import is_led_in

EN, ZH = "We decided to use Redis.", "我们决定用 Redis。"
BROUGHT = [
    "Our landlord put up a notice in the hallway. {}",
    "Client feedback - {}",
    "Need a title for this piece.\n\n{}",
    "Before signing, I pasted their terms.\n{}",
    "Suppose a customer writes {}",
    "too harsh?\n\n{}",
    "Ticket 4411\n{}",
    "// {}",
    "[tom] {}",
    "Wedding toast of my brother, make it funnier. {}",
    "{}\nWho said that sentence?",
    "楼下贴了张告示\n{}",
    "买家评论：{}",
    "同学给我留言 {}",
    "黑板上抄的 {}",
    "会不会太凶\n\n{}",
    "假如客户写{}",
    "老板在群里说 {}",
    "{}这句话用日语怎么讲？",
    "Transcript of mom's voicemail: {} Remember that.",
    "OCR of the flyer says REMEMBER: {}",
    "OCR result: {}",
    "Dana dictated: {}",
    "README.md\n\n{}",
    ".cursorrules:\n{}",
    "(pasted)\n{}",
    "(voice message, 0:12) {}",
    "（复制）\n{}",
    "聊天截图文字：{}",
    "转：{}",
    "豆包昨天这样回答我：\n{}",
    "王经理的邮件：请记住，{}",
    "{}\n\n^ is that grammatical?",
    "{}\n\nCould you make the paragraph above sound more formal?",
    "Title: My way of working\nAuthor: J. Doe\n\n{}",
    "comment by user4711: {}",
    "{} (that's the whole voicemail)",
    "Context for the roleplay: {}",
    "Here's my roommate's bio -> {}",
    "那个仓库的说明里有这么一段。{}",
    "淘宝五星好评:{}",
    "{}\n\n——摘自一位博主",
    "这像不像机器写的？{}",
    "我爸刚发微信：{}",
    "{}（语音留言就这些）",
    "她电脑贴纸上写着《{}》",
    "note on the fridge: {}",
    "Discord, @kenji: {}",
    "Log of the support:\nbot> {}",
    "{} — that's from the franchise rules",
    "Let me paste the page.\n\n{}",
    "{}——加盟须知里的",
    "人事系统弹窗 >>> {}",
    "我贴一下语雀页面。\n\n{}",
    "sticker on her helmet -> {}",
    "the sign at the door of the lab: {}",
    "冰箱上贴的纸条:{}",
    "墙上挂着的牌子：{}",
    "入职文档第一句就是,{}",
]
OWN = [
    "{}",
    "Note: {}",
    "我写的规则：{}",
    "Hey Joanna! That's cool! {}",
    "hi again. {}",
    "I looked at both yesterday. {}",
    "Fix the login bug. {}",
    "Fix the commit message. {}",
    "still open: {}",
    "My setup:\n- I like tabs\n- {}",
    "Remember the following: {}",
    "Remember, whatever the letter says: {}",
    "nobody knows yet, so don't mention it in anything you write for my parents. {}",
    "来聊装修啦。{}",
    "豆包是我家的猫。{}",
    "这么讲我就懂了，{}",
    "合同没写不准养宠物，{}",
    "记住下面这句：{}",
    "把登录的错误修一下。{}",
    "{} (since last week)",
    "{}\n\n-- I will tell Ana, too",
    "我爸生日：5月1日。{}",
    "有一段时间了，{}",
]
BESIDE = [
    "Heron got Alder & Co as its biggest customer when we set it up.",
    "Heron (biggest customer: Alder) is what I work on.",
    "The song of the bird at the pond is what we hear since we moved.",
]


@pytest.mark.parametrize("around", BROUGHT)
def test_a_text_of_others_is_led_in(around: str) -> None:
    said = EN if around.isascii() else ZH
    text = around.format(said)
    assert is_led_in(text, text.index(said))


@pytest.mark.parametrize("around", OWN)
def test_ones_own_words_are_not(around: str) -> None:
    said = EN if around.isascii() else ZH
    text = around.format(said)
    assert not is_led_in(text, text.index(said))


@pytest.mark.parametrize("text", BESIDE)
def test_a_clause_beside_a_statement_begins_nobody_elses_words(text: str) -> None:
    assert not is_led_in(text, 0)
