"""What tells a later reader nothing, in both languages, and what only looks like it."""

# ruff: noqa: E501  short sentences stand side by side

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.small_talk import (
    cheer_of,
    dangles,
    is_courtesy,
    is_mood,
    is_on_the_way,
    laughs,
    only_points,
    points_at_list,
    says_farewell,
    says_nothing,
)


@pytest.mark.parametrize(
    "clause",
    [
        "sorry, pressed stop by mistake, please continue",
        "please commit and push the changes",
        "ok now run it again",
        "restart the dev server please",
        "approved",
        "phone call Anna Berg Connected",
        "Missed call from the clinic",
        "Outgoing call to Karim ended",
        "通话 李小满 接通",
        "语音通话已结束",
        "和房东的通话 时长3分12秒",
        "帮我启动一下项目",
        "（批准计划）",
        "重新运行一下测试看看",
        "不小心点到取消了",
        "testing special characters: é ñ 中",
        "this is just a test message",
        "测试一下！",
        "just kidding, we keep the boat",
        "my neighbour says he sold his boat",
        "我老婆说我记账简直像记仇",
        "https://example.org/a/b",
        "PORT=8080",
        "烘焙网站\\16.配方",
        "curl 'https://example.org/oven' \\",
        "src/oven.py:12 in bake",
    ],
)
def test_what_tells_nothing(clause: str) -> None:
    assert says_nothing(clause)


@pytest.mark.parametrize(
    "clause",
    [
        "commit after each finished loaf",
        "run the oven at 230 degrees for the rye",
        "start the dough the evening before",
        "push the delivery to Thursday",
        "继续用老面，不换酵母",
        "I had a call with the bank, they ended the contract",
        "the call for papers ended in May last year so we missed it",
        "我和王姐通话，她答应周五来",
        "the heating was connected on Monday",
        "启动页要换成绿色",
        "提交前先跑一遍检查",
        "test the oven with the new thermometer before the fair",
        "测试环境在二号机上",
        "my sister says the yeast in Lund is better",
        "医生说我的血压比去年高",
        "我不小心碰伤了右手",
        "I stopped the pills by mistake in March",
    ],
)
def test_what_only_begins_like_small_talk_tells_something(clause: str) -> None:
    assert not says_nothing(clause)


def test_a_mood_is_of_the_moment() -> None:
    assert is_mood("ugh, I hate this")
    assert not is_mood("I hate raisins in bread")


def test_a_cheer_loses_weight_and_a_plan_with_a_day_loses_none() -> None:
    cheer, plan = "let's keep going, you got this", "let's meet at the kiln on 3 May"
    assert cheer_of(cheer, traits_of(cheer)) > cheer_of(plan, traits_of(plan)) == 0


@pytest.mark.parametrize(
    ("clause", "laughing"),
    [
        ("haha the third prize was a kettle", True),
        ("第三名奖了个水壶 哈哈", True),
        ("the third prize was a kettle", False),
    ],
)
def test_laughter_is_heard_and_what_is_laughed_at_still_told(clause: str, laughing: bool) -> None:
    assert laughs(clause) is laughing
    assert not says_nothing(clause)


POINTING = """fix this|Fix these errors please|what is this error?|What's wrong with that code?|explain this function
why is this happening?|can you solve the above|ok now implement it|what does this mean?|how do I fix this?
check those files again|handle all of these issues|what's going on in that loop?|please apply the following
帮我实现上面的功能|这是什么错误？|解决这些问题|请解释一下这个问题|看看截图|修复上述所有问题|这个是什么意思|再检查一下这里
帮忙处理图里的问题|参考上面的方案|你看下这个报错|优化一下这个代码|上面是什么情况|完成以上步骤"""
NAMING = """fix the login page|fix this by adding a lock|why is this query slow at noon?|what does the cache keep?
how do I fix the CORS error?|check that the port is 9090|explain why the build takes an hour|solve it with a queue
what is this error in `sync.py`?|implement the export as CSV|do this before every release|apply the patch to main
handle these with a 404|is this a bug in the parser?
这个接口为什么慢|修复登录页的问题|把上面的表格改成两列|这里的端口改成 8080|解释一下缓存怎么失效|上面的标题换成蓝色
帮我实现导出功能|这个按钮点了没反应|看看日志里有没有超时|优化首页加载|检查数据库连接|这些图片要压缩到一百 KB
参考官网的配色|完成支付回调"""
LEAVING = """ok off to bed|gotta run|Right, signing off|thanks, see you tomorrow|good night|that's it for today
one more thing tomorrow, talk later|heading out|bye|brb|lunch, back in twenty minutes|anyway, got to go
先睡了|明天再看，我先撤了|行了我下了|五点要起，我先去睡了|好了我溜了|晚安|先这样|不说了，我去忙了|回头聊|那我先闪了|下楼拿个快递，十分钟后回来|我马上回来"""
STAYING = """the baby went off to bed late|I have got to go to Leeds on Friday with Ann|we say good night at eight here
he left and I stayed|the shop is heading for a loss|see you is a song I like|the run is on Sunday
they said goodbye in May|a talk later this year on tides|the night train is good
孩子昨晚九点才睡着|店里忙，我请了两个人|我妈睡眠不好|他撤了诉|他从柏林回来了|撤销上次的提交|我睡不着，想换床垫|周末忙着搬家
先这样改：标题放左边吧，正文居中|下线的活动要归档|休息日是周二"""


def _lines(text: str) -> list[str]:
    return [one for line in text.split("\n") for one in line.split("|")]


@pytest.mark.parametrize("text", _lines(POINTING))
def test_a_request_may_only_point_at_something(text: str) -> None:
    assert only_points(text)


@pytest.mark.parametrize("text", _lines(NAMING))
def test_a_request_that_names_something_tells_it(text: str) -> None:
    assert not only_points(text)


@pytest.mark.parametrize("text", _lines(LEAVING))
def test_leaving_is_recognised_at_the_start_and_at_the_end(text: str) -> None:
    assert says_farewell(text)


@pytest.mark.parametrize("text", _lines(STAYING))
def test_words_of_leaving_may_be_about_something_else(text: str) -> None:
    assert not says_farewell(text)


COURTEOUS = """thanks for all the tips|Thank you so much for your patience with me|you're absolutely right
I'll definitely try it|talking to you always helps|your advice makes sense to me|you are such a good listener
these all sound great|I really appreciate your support|I've made a note of that|that's a good idea
谢谢你的建议|非常感谢您的理解和支持|你说的很有道理|我会好好考虑的|和你聊天很轻松|你真体贴|好的，我明白了，我会努力的
您推荐的书我会看看|我以后会多注意的"""
TELLING = """thanks, my sister Ann lands on Friday at nine|I'll try the Lisbon office on Monday
talking to you, I forgot that my son has football at six|that's a good idea, let's book the 9:40 to Leeds
I keep bees behind the shed|the clinic moved my appointment|I appreciate slow mornings, strong coffee, old maps, wool and rain
谢谢，我女儿周五下午到上海|我会在三月十五号交稿|我老公说的很对|我和房东聊过了，押金退一半|厨房的推拉门换成了折叠门"""


@pytest.mark.parametrize("text", _lines(COURTEOUS))
def test_what_only_answers_an_assistant_is_a_courtesy(text: str) -> None:
    assert is_courtesy(text)


@pytest.mark.parametrize("text", _lines(TELLING))
def test_what_stands_beside_a_courtesy_may_tell_something(text: str) -> None:
    assert not is_courtesy(text)


@pytest.mark.parametrize(
    "text",
    _lines("""You can't smell bread|you are made of numbers|let's chat about our days|we can talk about my hobbies
您真会说话|你不会累|那你一定很忙"""),
)
def test_what_is_only_about_the_assistant_or_the_chat_tells_nothing(text: str) -> None:
    assert is_courtesy(text)


@pytest.mark.parametrize(
    "text",
    _lines("""you can reach my brother Tom at nine|let's talk to the landlord on Friday|your bus left at 9:40
你妈是我的老师，今年六十|你们楼下的面馆搬到静安区了"""),
)
def test_what_says_something_of_the_speaker_too_is_no_courtesy(text: str) -> None:
    assert not is_courtesy(text)


@pytest.mark.parametrize(
    "text",
    _lines("""let's take suggestion 3 with the lighter frame|address 2, 4 and 7|fix observation 12 first|make a card of the best ideas out of this list
I like point 2 of your answer|按第三条建议来改|改进2先不做|这个清单里的都做一遍"""),
)
def test_numbers_of_somebody_elses_list_point_at_it(text: str) -> None:
    assert points_at_list(text)


@pytest.mark.parametrize(
    "text",
    _lines("""we take tram 3 to the fair|the flat is number 12 in the yard of the mill, third floor|add 20 items% to the stock|our shopping list is on the fridge
we scored 3 points|use port 8080 for the docs|第三个孩子明年上学|有两个问题：漏水和电路|清单上次写在本子里"""),
)
def test_numbers_of_things_point_at_no_list(text: str) -> None:
    assert not points_at_list(text)


@pytest.mark.parametrize(
    "text",
    _lines("""It's such a good feeling|and it makes me want to go again|They really are the best|I did something similar as a child
that was so kind of them|same here, the same thing happened|This is what keeps me going|它真让人放松|这确实很难得|我也有差不多的经历"""),
)
def test_what_is_about_another_sentence_dangles(text: str) -> None:
    assert dangles(text)


@pytest.mark.parametrize(
    "text",
    _lines("""My garden keeps me going|The choir is the best part of my week|I take that tram every day|We bought those chairs in Porto
Our dog is eleven|I like that they grow slowly|Rosa says it is a plum tree|这家面馆开了三十年|那天我搬了家|他们家在河边"""),
)
def test_what_names_its_subject_does_not_dangle(text: str) -> None:
    assert not dangles(text)


@pytest.mark.parametrize(
    "text",
    _lines("""I'm on my way, the bus is late|I've just closed up the shop and am driving home now|just got home|I'm at the station now
be there in 20 minutes|我刚打烊，准备出发去球馆|我已经到东门停车场了|马上出门|大概40分钟后到|开车回家路上
今晚打算煎牛排做沙拉|妈，我刚晨跑完|材料发你邮箱了|我在酒吧老位置等你|师傅，我到小区门口了"""),
)
def test_where_somebody_is_just_now_is_known(text: str) -> None:
    assert is_on_the_way(text)


@pytest.mark.parametrize(
    "text",
    _lines("""I drive to work every day|we left the firm in May|The parcel arrived on Monday|my sister lives near the station
the path along the river is closed|我每天开车上班|合同到期了|钱到账了|他们下个月搬到苏州|打车要四十块
晚上我在夜校教书|刚跑完10公里，破了纪录|公司在地铁口附近|我喜欢吃煎牛排"""),
)
def test_what_is_so_for_longer_is_not(text: str) -> None:
    assert not is_on_the_way(text)
