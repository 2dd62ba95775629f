"""What binds without the form of an order, in both languages, and what only looks like it."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.constraints import LONGEST, constrains, forbids, without_tag
from kimi_memory.nlp.rules.utterance import Act, act_of, is_order

BINDING = """The archive must not exceed 40 MB
the budget needs to stay under 800 euros
Replies must never mention the price
the public API has to remain compatible with version 2
My salary must always stay private
the summary can't be longer than two pages
uploads must not go over ten megabytes
Page load must stay below two seconds
logs must not contain names of patients
the whole trip must be under 1200 dollars
the parser must always accept empty lines
the app has to stay offline
deliveries may not be later than noon
The key mustn't leave this machine
wait for my approval
Before you touch the schema, explain the plan and wait for my go-ahead
don't push anything without my permission
Please limit your changes to the billing folder
one file at a time
let's fix one bug at a time
we must focus on one issue at a time
You do not need the debugger to read the logs
首页加载不能超过两秒
预算必须控制在八千以内
接口必须兼容旧版本
每篇文案不得超过三百字
病人的名字不得外传
装修款要控制在十五万
软件必须离线能用，必须支持离线
一次只改一个文件
等我确认了再提交
修改只限于支付模块
一步一步来
押金不能高于一个月房租
You are to ask me first. Always.
YOU ARE TO CHECK WITH ME, not guess
You're not to rename anything on your own
you are only to comment, the text is mine
It's your job to spot gaps in my argument
its not your job to decide which shop we take
Your role here is to question the plan
your task is to translate only, no remarks
You must ask me before you install anything
you need to tell me first instead of changing the file
I expect you to warn me about allergens in any recipe
Don't make decisions for us
stop making design decisions on your own
decisions are mine, you list the options
你的任务是校对，不是重写
你的职责就是提醒我吃药
你只管记账，不要给建议
你应该先问我再改，别猜
你是来挑毛病的，不是来夸我的
由我来拍板，你列出利弊
拍板是我的事
不许自作主张
别老替我做决定
请不要擅自安装软件""".splitlines()
LOOSE = """you are to be envied
you are to blame
We are to arrive before nine
your job is to fix the footer in base.html
your task is to write the importer now
You are supposed to be on holiday
my role is to greet the guests
His job is to check the tickets
your job sounds hard
You should ask the doctor about that
you need to check the log of the server
You have to tell me everything about Rome
I expect you to enjoy it
the decisions of the court are public
he makes decisions without thinking
你的任务是把首页改成蓝色
你的工作真辛苦
你只管放心吧
他的职责是看门
我先问我妈再说
决定下周去看房
这是我的事
她总是自己做决定
你先问我妈吧
it must be broken
there must be a bug in the cache
I must not forget the milk
she must have left early
you must be tired
he has to stay at home today
we must never give up
this must be the reason
the train must have been late
I need to stay in bed
the modal does not adjust
the page is slower than before
they must not have seen it
my mother needs to rest
the tests have to run first
I got my approval from the bank
She asked for my permission to marry
We wait for the parcel
I eat one thing at a time
the queue handles one task at a time
you don't need to worry
the limit is 40 MB
what must not be cached?
must I wait?
我必须去接孩子
他不能吃辣
这个按钮不能点
你必须得尝尝
孩子一个一个地睡着了
他限制在家办公
房东不同意
今天不能超过我了吧
我不能再拖了
等我下班再说""".splitlines()


@pytest.mark.parametrize("clause", BINDING)
def test_what_must_always_or_never_be_is_an_order(clause: str) -> None:
    assert act_of(clause) is Act.ORDER


@pytest.mark.parametrize("clause", LOOSE)
def test_what_is_supposed_told_or_felt_binds_nobody(clause: str) -> None:
    assert not constrains(clause.lower())


@pytest.mark.parametrize(
    "clause",
    [
        "keep the answers short, ok?",
        "never use my full name, okay?",
        "以后都用中文回答，好吗？",
        "别再发表情了，行吗？",
    ],
)
def test_a_question_that_softens_an_order_leaves_it_one(clause: str) -> None:
    assert act_of(clause) is Act.ORDER


@pytest.mark.parametrize(
    "clause", ["is the port 9090, ok?", "can we meet on Friday, okay?", "你是医生，对吗？"]
)
def test_a_question_with_a_tag_stays_a_question(clause: str) -> None:
    assert act_of(clause) is not Act.ORDER


def test_a_clause_that_tells_a_story_binds_nobody() -> None:
    order = "the archive must not exceed 40 mb "
    assert constrains(order.ljust(LONGEST, "x"))
    assert not constrains(order.ljust(LONGEST + 1, "x"))
    assert LONGEST == 200


def test_only_the_question_behind_an_order_is_cut_off() -> None:
    assert without_tag("keep the answers short, ok?") == "keep the answers short"
    assert without_tag("用中文回答，好吗？") == "用中文回答"
    assert without_tag("is it ok? tell me") == "is it ok? tell me"


@pytest.mark.parametrize(
    "text",
    [
        "i remind you of the main rule: we only ship on mondays",
        "let me remind you that we never touch the old scale",
        "reminder: all the labels must be bilingual",
        "just a reminder that you always ask before deleting",
        "i repeat, never round the sums",
        "to remind you, every loaf has a label",
        "i must remind you about our convention on names",
        "再说一遍，所有标签都要双语",
        "我再强调一下，不要四舍五入",
        "重申一遍：只用公制单位",
        "提醒你一下，我们统一用北京时间",
    ],
)
def test_a_rule_that_somebody_is_reminded_of_holds(text: str) -> None:
    assert constrains(text)


@pytest.mark.parametrize(
    "text",
    [
        "remind me to buy flour",
        "i remind you that i have a dentist at nine",
        "this smell reminds you of bread",
        "the reminder goes off at six",
        "she had to remind me twice",
        "reminder: dentist at nine",
        "i repeat the dough in the evening",
        "提醒我买面粉",
        "提醒你一下，明天我请假",
        "我妈强调了好几次",
        "他重复说了一遍",
    ],
)
def test_a_reminder_of_the_day_is_no_rule(text: str) -> None:
    assert not constrains(text)


@pytest.mark.parametrize(
    "text",
    [
        "Never deploy on a Friday",
        "You must not touch the billing tables",
        "Don't ever email the client yourself",
        "Under no circumstances share the drafts",
        "The archive is off limits",
        "严禁在生产库上跑脚本",
        "不准替我做决定",
        "千万别动老照片",
        "绝对不能删备份",
        "永远不要直接推送",
    ],
)
def test_what_must_not_be_in_any_case_is_forbidden(text: str) -> None:
    assert forbids(text)


@pytest.mark.parametrize(
    "text",
    [
        "Never mind the colour",
        "Use metres instead of feet",
        "Don't use tables",
        "Always add the date",
        "Keep answers short",
        "别用表格",
        "这个秤不准确",
        "时间说不准",
        "回答简短一点",
        "我不得不搬家",
    ],
)
def test_a_style_forbids_nothing(text: str) -> None:
    assert not forbids(text)


@pytest.mark.parametrize(
    "clause",
    [
        "you may never delete a branch",
        "i don't want more reports unless i ask for them",
        "every morning at six send me the tide table",
        "before booking anything please always check the calendar",
        "work through the list without asking",
        "不清楚的数字不要自己猜",
        "提交之前先给我看",
        "我确认了再发",
        "铁律加一条：报价不打折",
        "题目在前答案统一放最后",
        "金额一律按元写",
    ],
)
def test_leave_that_is_never_given_and_what_is_done_each_day_bind(clause: str) -> None:
    assert constrains(clause)


@pytest.mark.parametrize(
    "clause",
    [
        "you may never know",
        "every morning i read the tide table",
        "before lunch we checked the sails",
        "他们统一用了新系统",
    ],
)
def test_what_happens_each_day_binds_nobody(clause: str) -> None:
    assert not constrains(clause)


@pytest.mark.parametrize(
    "clause",
    [
        "after each fix update the log of the mast",
        "at the end of every session, summarize what is left",
        "before every commit please run the linter",
        "每次会话结束后，更新船的日志",
        "你每次改完代码后跑一遍测试",
        "每完成一个任务就记录到进度表",
    ],
)
def test_what_is_to_be_done_with_each_piece_of_work_binds(clause: str) -> None:
    assert constrains(clause) or is_order(clause)


@pytest.mark.parametrize(
    "clause",
    [
        "after each step i get an error",
        "before every commit it takes a minute",
        "每次提交后都报错",
        "每次部署后页面打不开",
        "每次打完球后跑步回家",
    ],
)
def test_what_happens_after_each_piece_of_work_binds_nobody(clause: str) -> None:
    assert not constrains(clause) and not is_order(clause)
