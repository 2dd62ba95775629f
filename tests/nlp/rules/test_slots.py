"""Slots of clauses in both languages: key, value, and what has none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.rules.slots import slot_of

TAKEN = [
    ("I've been living in Porto since 2019", "user.home", "Porto"),
    ("We relocated to Ghent last spring", "user.home", "Ghent"),
    ("I recently joined Novartis", "user.employer", "Novartis"),
    ("I work as a paramedic", "user.job", "paramedic"),
    ("I'm a freelance translator", "user.job", "freelance translator"),
    ("I just turned 41", "user.age", "41"),
    ("my daughter is 7 years old", "user.daughter.age", "7"),
    ("I have a shellfish allergy", "user.allergies", "shellfish"),
    ("My brother is allergic to bees", "user.brother.allergies", "bees"),
    ("I'm vegan", "user.diet", "vegan"),
    ("I speak fluent Swahili", "user.languages", "Swahili"),
    ("I was diagnosed with type 2 diabetes", "user.health", "type 2 diabetes"),
    ("I take metformin twice a day", "user.medication", "metformin twice a day"),
    ("My husband's name is Ravi", "user.partner", "Ravi"),
    ("Our cat is called Miso", "user.cat", "Miso"),
    ("Lena's birthday is 2 October", "lena.birthday", "2 October"),
    ("My vet appointment is on Tuesday", "user.vet-appointment", "Tuesday"),
    ("The thesis is due on 30 June", "project.thesis-deadline", "30 June"),
    ("My salary is 52,000 euros", "user.salary", "52,000 euros"),
    ("Let's use DuckDB for the database", "project.database", "DuckDB"),
    ("Our queue is RabbitMQ", "project.queue", "RabbitMQ"),
    ("The admin service listens on port 7001", "project.admin-service-port", "7001"),
    ("The worker is written in Elixir", "project.worker-language", "Elixir"),
    ("We decided to write the CLI in Zig", "project.cli-language", "Zig"),
    ("The CLI is written in Zig, we never did the Nim version", "project.cli-language", "Zig"),
    ("项目的后端语言我们用Elixir", "project.backend", "Elixir"),
    ("后端现在用Elixir写了，Scala那版不要了", "project.backend", "Elixir"),
    ("The code is released under the BSD licence", "project.license", "BSD licence"),
    ("消息队列这块，我们用RabbitMQ", "project.queue", "RabbitMQ"),
    ("区域定了斯德哥尔摩", "project.region", "斯德哥尔摩"),
    ("Our package manager is pnpm", "project.package-manager", "pnpm"),
    ("我们家搬到深圳了", "user.home", "深圳"),
    ("我在华为上班", "user.employer", "华为"),
    ("我是一名小学老师", "user.job", "小学老师"),
    ("我女儿今年7岁", "user.daughter.age", "7"),
    ("我对海鲜过敏", "user.allergies", "海鲜"),
    ("我会讲粤语", "user.languages", "粤语"),
    ("我患有高血压", "user.health", "高血压"),
    ("我老公叫李强", "user.partner", "李强"),
    ("我家的猫叫年糕", "user.cat", "年糕"),
    ("王敏的生日是10月2日", "王敏.birthday", "10月2日"),
    ("我下周二体检", "user.体检-appointment", "下周二"),
    ("论文的截止日期是6月30日", "project.论文-deadline", "6月30日"),
    ("我们用 DuckDB 做数据库", "project.database", "DuckDB"),
    ("消息队列用 RabbitMQ", "project.queue", "RabbitMQ"),
    ("我们的包管理器是 pnpm", "project.package-manager", "pnpm"),
    ("部署目标换成 AWS 了", "project.deploy-target", "AWS"),
    ("默认分支叫 develop", "project.branch", "develop"),
    ("房租涨到5200元了", "user.rent", "5200元"),
    ("最后包管理器定了 pnpm", "project.package-manager", "pnpm"),
    ("我们给王敏定的时区是 UTC+1", "王敏.timezone", "UTC+1"),
    ("我写代码用 Helix 编辑器", "user.editor", "Helix"),
    ("我们用 MariaDB 数据库", "project.database", "MariaDB"),
    ("请你记住：默认分支是 develop", "project.branch", "develop"),
    ("有个事要记住：房租是 4800 元", "user.rent", "4800 元"),
    ("缓存我们定下来的是 Valkey", "project.cache", "Valkey"),
    ("We settled on MIT for the license", "project.license", "MIT"),
    ("They fixed the deadline of Juniper at 3 July", "project.juniper-deadline", "3 July"),
    ("I was wrong earlier, Juniper's deadline is 5 July", "project.juniper-deadline", "5 July"),
    ("We dropped Netlify, hosting is on Vercel now", "project.hosting", "Vercel"),
    ("The package manager happens to be yarn", "project.package-manager", "yarn"),
    ("The budget stands at 4,000 euros", "project.budget", "4,000 euros"),
]
REPLACED = [
    ("缓存不用 Memcached 了，改成 Valkey", "project.cache", "Memcached", "Valkey"),
    ("缓存不要 Memcached 了，用 Valkey", "project.cache", "Memcached", "Valkey"),
    ("数据库不是 Oracle 了，是 MariaDB", "project.database", "Oracle", "MariaDB"),
    ("消息队列由 RabbitMQ 变成了 NATS", "project.queue", "RabbitMQ", "NATS"),
    ("原来消息队列是 RabbitMQ，现在换成 NATS", "project.queue", "RabbitMQ", "NATS"),
    ("以前默认分支叫 master，现在叫 main", "project.branch", "master", "main"),
    ("之前王敏的时区是 UTC+1，现在改为 UTC+2", "王敏.timezone", "UTC+1", "UTC+2"),
    ("Instead of AWS, we use Fly as the hosting", "project.hosting", "AWS", "Fly"),
    ("The main branch isn't develop any more, it's trunk", "project.branch", "develop", "trunk"),
    ("Our region is no longer Dublin but Frankfurt", "project.region", "Dublin", "Frankfurt"),
    ("In place of AWS, we use Hetzner for the hosting", "project.hosting", "AWS", "Hetzner"),
]


@pytest.mark.parametrize(("clause", "key", "value"), TAKEN)
def test_a_clause_of_the_list_has_its_key_and_value(clause: str, key: str, value: str) -> None:
    slot = slot_of(clause)
    assert slot is not None
    assert (slot.key, slot.value) == (key, value)


@pytest.mark.parametrize(
    "clause",
    [
        "",
        "The job runs at night",
        "Could you look at the database?",
        "If the port is taken, choose another",
        "The database is slow today",
        "I was thinking about my sister",
        "We talked about the deadline for an hour",
        "The company where Tom works is huge",
        "I work on the parser in the evening",
        "He said the port is wrong",
        "Never touch the production database",
        "Thanks, that works",
        "数据库很慢",
        "我在想数据库的事",
        "你觉得端口该怎么改",
        "要是端口被占了就换一个",
        "他住在哪里来着？",
        "我在家里上班很舒服",
        "不要动生产数据库",
        "我开会去了",
        "谢谢，可以了",
        "我对这个结果很满意",
        "我写的代码是给客户看的",
        "他写代码用了两个小时",
        "我们给你看的端口是错的",
        "数据库不是我们的问题，是网络",
        "缓存不要清了，留着",
        "编辑器不是重点，重点是速度",
        "以前数据库挂了，现在好了",
        "Instead of arguing, we use tests",
        "We dropped it early, it was fine",
        "They fixed the bug at noon",
    ],
)
def test_what_is_of_no_slot_has_no_key(clause: str) -> None:
    assert slot_of(clause) is None


def test_what_is_replaced_and_what_is_denied_is_told_apart() -> None:
    moved = slot_of("We migrated from MySQL to Postgres")
    denied = slot_of("I'm not allergic to cats")
    assert moved is not None
    assert (moved.key, moved.value, moved.before) == ("project.database", "Postgres", "MySQL")
    assert denied is not None
    assert denied.denied


@pytest.mark.parametrize(("clause", "key", "before", "value"), REPLACED)
def test_a_clause_names_the_value_that_is_replaced(
    clause: str, key: str, before: str, value: str
) -> None:
    slot = slot_of(clause)
    assert slot is not None
    assert (slot.key, slot.before, slot.value) == (key, before, value)


def test_how_a_thing_is_not_is_no_value_that_was_replaced() -> None:
    assert slot_of("The database is not slow, it is the network") is None


def test_the_name_of_the_project_holds_what_is_the_projects() -> None:
    clause = "Atlas's deadline is 3 May"
    assert (slot_of(clause) or pytest.fail()).key == "project.atlas-deadline"
    assert (slot_of(clause, project="atlas") or pytest.fail()).key == "project.deadline"


def test_another_speaker_holds_what_they_say_of_themselves() -> None:
    slot = slot_of("I live in Turin", holder="caroline")
    assert slot is not None
    assert slot.key == "caroline.home"


def test_of_two_sisters_each_has_a_home() -> None:
    slot = slot_of("My sister Ana lives in Madrid")
    assert slot is not None
    assert (slot.key, slot.many) == ("user.sister.home", True)


def test_which_of_two_things_is_liked_better_is_one_slot() -> None:
    first, second = slot_of("I prefer rice over pasta"), slot_of("I like pasta better than rice")
    assert first is not None
    assert second is not None
    assert first.key == second.key
    assert first.value != second.value


@given(st.text(max_size=200))
def test_any_text_has_a_slot_or_none(text: str) -> None:
    slot = slot_of(text)
    assert slot is None or (slot.key and slot.value)


@pytest.mark.parametrize(
    ("clause", "key", "value"),
    [
        ("麻烦记住，青鸾的区域是苏州。", "project.青鸾-region", "苏州"),
        ("你要知道，青鸾的负责人是秦岚。", "project.青鸾-owner", "秦岚"),
        ("我再确认一下，青鸾的保留期限是三个月。", "project.青鸾-retention", "三个月"),
        ("青鸾的维护者——秦岚。", "project.青鸾-owner", "秦岚"),
        ("许可证从今天起用MIT。", "project.license", "MIT"),
        ("我养了一只猫，叫煤球。", "user.cat", "煤球"),
        ("我有一个妹妹，叫小雨。", "user.sister", "小雨"),
    ],
)
def test_what_leads_into_a_chinese_clause_is_no_holder(clause: str, key: str, value: str) -> None:
    slot = slot_of(clause)
    assert slot is not None
    assert (slot.key, slot.value) == (key, value)


@pytest.mark.parametrize(
    "text",
    [
        "心里一下子豁然开朗",
        "我们要盯住烤箱的温度，别的不管",
        "码头和住宿离得不远",
        "上午和木匠开完短会",
        "第三道工序是做什么的",
        "the server is not running",
        "那台家用烤箱还能再用两年",
        "发布到货架上，再换标签",
    ],
)
def test_a_verb_inside_of_a_word_fills_no_slot(text: str) -> None:
    assert slot_of(text) is None


@pytest.mark.parametrize(
    ("text", "holder", "value"),
    [
        ("何川住在成都", "何川", "成都"),
        ("老罗开面包车", "老罗", "面包车"),
        ("周先生住在宁波", "周先生", "宁波"),
    ],
)
def test_a_chinese_person_has_a_home_and_a_car(text: str, holder: str, value: str) -> None:
    slot = slot_of(text)
    assert slot is not None
    assert (slot.holder, slot.value) == (holder, value)
