"""News: statements, changes and retractions told apart, in both languages."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.pasted import own_sentences
from kimi_memory.nlp.rules.subjects import changes, takes_back, takes_this_back


@pytest.mark.parametrize(
    "sentence",
    [
        "The port of Atlas is now 9090.",
        "Atlas's port has changed to 9090.",
        "We moved the port from 8080 to 9090.",
        "Correction: my birthday is March 3.",
        "Change of plan: the release day will be Monday.",
        "I don't live in Riga any more, I live in Ghent.",
        "青鸾的端口改成9090了。",
        "青鸾的端口现在是9090。",
        "说错了，青鸾的端口是9090，不是8080。",
        "从今天起，青鸾的端口是9090。",
        "我搬到杭州了。",
    ],
)
def test_a_change_is_news(sentence: str) -> None:
    assert changes(sentence)
    assert not takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The port of Atlas is 8080.",
        "青鸾的端口是8080。",
        "青鸾的端口为8080，别弄错。",
        "I live in Riga.",
    ],
)
def test_a_first_statement_is_none(sentence: str) -> None:
    assert not changes(sentence)
    assert not takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Forget what I said about the port of Atlas.",
        "What I said about Atlas's port is no longer true.",
        "Atlas's budget is no longer 90,000 dollars.",
        "Please delete Atlas's port from your memory.",
        "Don't remember the port of Atlas any more.",
        "I take back what I said about the port.",
        "青鸾的端口别再记了。",
        "忘掉我说的青鸾的端口吧。",
        "青鸾的端口作废了。",
        "青鸾的端口不再是8080了。",
    ],
)
def test_a_retraction_takes_back(sentence: str) -> None:
    assert takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Don't forget the port of Atlas.",
        "Never forget to run the tests.",
        "I forgot my keys.",
        "Delete the branch of Atlas.",
        "别忘了青鸾的端口。",
        "我忘了带钥匙。",
        "青鸾的端口不再是8080，改成9090。",
        "The port is no longer 8080, it is 9090.",
    ],
)
def test_what_only_looks_like_one_does_not(sentence: str) -> None:
    assert not takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Please forget that.",
        "That's no longer true.",
        "Forget what I just said.",
        "别再记这个了。",
        "忘了吧。",
    ],
)
def test_what_was_just_said_can_be_taken_back(sentence: str) -> None:
    assert takes_this_back(sentence)


@pytest.mark.parametrize(
    "sentence", ["Forget it, let's go on.", "That's not the point.", "忘了带伞。"]
)
def test_small_talk_takes_nothing_back(sentence: str) -> None:
    assert not takes_this_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Never mind what I said about the port of Atlas.",
        "Atlas has no mascot any more.",
        "Strike the port of Atlas from your notes.",
        "You can drop the port of Atlas, it doesn't apply anymore.",
        "I'd rather you forgot the port of Atlas.",
        "We got rid of the port of Atlas.",
        "The port of Atlas is obsolete, please don't use it.",
        "青鸾的端口可以不用管了，已经不适用了。",
        "把青鸾的端口从你的笔记里划掉。",
        "青鸾没有端口了。",
        "最好忘了青鸾的端口。",
    ],
)
def test_a_retraction_may_be_put_in_many_ways(sentence: str) -> None:
    assert takes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Clear the cache of Atlas.",
        "Drop the old table, please.",
        "The port of Atlas is obsolete, use 9090.",
        "My manager is no longer Pablo but Jamal.",
        "It doesn't work any more.",
        "青鸾的端口不适用了，改成9090。",
    ],
)
def test_an_order_or_another_value_takes_nothing_back(sentence: str) -> None:
    assert not takes_back(sentence)


TAKEN_BACK = [
    "Let's use Redis for the cache. Actually no, scrap that.",
    "We decided to use Redis. Wait, no, we didn't decide that.",
    "I prefer tea. Just kidding.",
    "We'll go with Redis for the queue. Hmm, on second thought, no.",
    "From now on always use tabs. Never mind.",
    "Let's use Redis. It's fast and small. Forget that.",
    "We decided to use Redis. I changed my mind.",
    "I moved to Redistown. No wait, ignore what I just said.",
    "We use Redis now. That was a mistake.",
    "Let's go with Redis — no, scratch that",
    "我们决定用 Redis 做缓存。算了，当我没说。",
    "以后都用 Redis 吧。开玩笑的。",
    "我们统一用 Redis。不对，还没定。",
    "数据库用 Redis。等等，我改主意了。",
    "就用 Redis 吧。它很快。还是算了。",
    "我喜欢 Redis。收回刚才的话。",
    "以后一律用 Redis。忘了刚才说的吧。",
    "我们决定用 Redis，哦不，还是算了",
    "缓存定在 Redis 上。取消吧。",
    "我们改用 Redis 了。逗你的。",
    "We decided to use Redis. No, forget that, we do not.",
    "Let's use Redis for sessions. Scratch that, we won't.",
    "From now on always use Redis. Never mind, we don't.",
    "We decided to use Redis. No, we do not.",
    "I moved to Redistown. Forget it, I didn't.",
    "We go with Redis. Actually scrap that, it isn't decided yet.",
    "We settled on Redis. Cancel that, we are not going to.",
    "We use Redis for everything. Ignore that, I was wrong.",
    "我们决定用 Redis 做缓存。不，算了，我们不用了。",
    "数据库定为 Redis。不对，忘了刚才说的，还没定。",
    "以后都用 Redis。收回这句，我们不用。",
    "我们用 Redis 做队列。取消，不这么定了。",
]
STANDS = [
    "Let's use Redis for the cache. Never mind the old cache.",
    "I won't give up. We decided to use Redis.",
    "I don't like tabs. We use Redis.",
    "Forget the old server, we use Redis now.",
    "Thanks! Scrap the old plan, we decided to use Redis.",
    "No, I haven't tried Redis yet.",
    "It's tough, but don't forget we use Redis.",
    "I changed my mind about MySQL: we use Redis.",
    "不要放弃。我们决定用 Redis。",
    "算了一下账，我们决定用 Redis。",
    "旧方案取消了，我们改用 Redis。",
    "我没开玩笑，我们决定用 Redis。",
    "We decided to use Redis. Forget it, we won't discuss that once more.",
    "We use Redis. Never mind, it is not slow.",
    "We use Redis for the queue. No, we do not need a second one, thanks to its speed.",
    "Never mind the rumours, they are not true: we use Redis.",
    "Scratch that itch: we use Redis, and we do not look back.",
    "我们决定用 Redis。不用担心性能。",
    "我们用 Redis。取消旧的订单，不用通知他们。",
    "以后都用 Redis。别的不要了，我们也没有时间。",
]


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_what_is_taken_back_in_the_same_message_is_not_kept(text: str) -> None:
    assert not [text[a:b] for a, b in own_sentences(text) if "Redis" in text[a:b]]


@pytest.mark.parametrize("text", STANDS)
def test_what_only_sounds_like_it_stands(text: str) -> None:
    assert any("Redis" in text[a:b] for a, b in own_sentences(text))


def test_only_what_was_taken_back_goes() -> None:
    text = "I moved to Porto. Let's use Redis. Scrap that. We use Postgres."
    assert [text[a:b] for a, b in own_sentences(text)] == ["I moved to Porto.", "We use Postgres."]


def test_a_request_to_forget_alone_is_kept_for_what_was_said_before() -> None:
    for text in ("Please forget that again.", "Thank you! Forget that again."):
        assert any("orget that" in text[a:b] for a, b in own_sentences(text))


def own(text: str) -> list[str]:
    return [text[start:end] for start, end in own_sentences(text)]


# Words in which people take back what they have just said, and others that sound like them.
BACK = """\
No wait, scratch that, we did not decide that.
Scratch that.
Hmm, no, forget it.
Actually no, that's not decided yet.
Never mind, we haven't decided anything.
Oh wait, that was last year's plan, ignore it.
Sorry, I was joking.
Nope, cancel that.
Wait, no. We haven't agreed on that.
I take it back.
I take that back, we're still discussing.
Strike that, please.
Disregard what I just said.
Just kidding!
Hang on, that's wrong.
Correction: we didn't.
Not true, sorry.
Actually, we didn't decide that.
Ugh, no, undo that.
On second thought, no.
""".splitlines()
BACK_ZH = """\
等等，不对，我们没有这么决定。
算了，当我没说。
哦不，还没定呢。
开玩笑的。
刚才那句不算。
收回刚才的话。
不对，这个还没决定。
呃，忘掉我刚说的。
忽略上一句。
我说错了。
搞错了，没有决定。
不不不，取消。
当我没说过这话。
我反悔了，不用了。
以上作废。
别当真。
""".splitlines()
STANDS = """\
That is not wrong.
I haven't changed my mind.
We haven't decided on the port yet.
It is not true that Zorg is slow.
That's not the fastest one, but it works.
I said it already.
We did not choose MySQL.
Please undo the last commit.
That was a hard choice.
It's not final for the staging server.
It's still a beta.
No, MySQL is for reporting.
Thanks, that's all.
Forget the old plan.
Ignore the tests for now.
We never looked back.
So that's settled.
We still use Redis for caching.
""".splitlines()
STANDS_ZH = """\
这样写没错。
这个不错。
上面说的没有错。
这样没什么不对。
那个从没出过错。
这个不会过时。
缓存还没有定。
我们没有用 MySQL。
不用担心。
这个决定不能改。
别忘了写测试。
我没说过要换缓存。
端口还没决定。
不要动生产库。
先别上线。
这个版本还不稳定。
其他的都没变。
""".splitlines()


@pytest.mark.parametrize("back", BACK)
def test_a_decision_taken_back_is_none_in_any_words(back: str) -> None:
    assert not any("Zorg" in one for one in own(f"We decided to use Zorg as our database. {back}"))


@pytest.mark.parametrize("back", BACK_ZH)
def test_a_decision_taken_back_is_none_in_any_words_of_chinese(back: str) -> None:
    assert not any("Zorg" in one for one in own(f"我们决定用 Zorg 作为数据库。{back}"))


@pytest.mark.parametrize("more", STANDS)
def test_a_decision_stands_beside_other_negations(more: str) -> None:
    assert any("Zorg" in one for one in own(f"We decided to use Zorg as our database. {more}"))


@pytest.mark.parametrize("more", STANDS_ZH)
def test_a_decision_stands_beside_other_negations_of_chinese(more: str) -> None:
    assert any("Zorg" in one for one in own(f"我们决定用 Zorg 作为数据库。{more}"))
