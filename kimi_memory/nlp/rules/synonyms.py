"""Everyday words that stand for each other: irregular forms, synonyms, kinds of things.

A question names the kind ("which instruments", 什么运动), a memory the thing itself
("my violin", 跑步). The tables hold what a child knows, in English and Chinese; special
terms and most names stay out. An English word stands for its inflections too, because
the memory's own splitter stems it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

FORM, SYNONYM, KIND = 0.8, 0.4, 0.3
"""What a word of a group weighs against one of the question."""

_FORMS = """
go went gone goes, buy bought, give gave given, take took taken, get got gotten, make made,
meet met, see saw seen, write wrote written, eat ate eaten, teach taught, think thought,
feel felt, find found, leave left, lose lost, win won, tell told, say said, speak spoke spoken,
hear heard, know knew known, grow grew grown, draw drew drawn, drive drove driven,
ride rode ridden, run ran, swim swam swum, sing sang sung, begin began begun, break broke broken,
choose chose chosen, come came, become became, build built, bring brought, catch caught,
fall fell fallen, fly flew flown, forget forgot forgotten, hold held, keep kept, lend lent,
send sent, spend spent, sell sold, sit sat, sleep slept, stand stood, steal stole stolen,
wear wore worn, wake woke woken, pay paid, fight fought, seek sought, shoot shot, show shown,
throw threw thrown, understand understood, dig dug, feed fed, hang hung, hide hid hidden,
lead led, mean meant, bend bent, bite bit bitten, blow blew blown, burn burnt, deal dealt,
dream dreamt, freeze froze frozen, learn learnt, light lit, ring rang rung, rise rose risen,
shake shook shaken, shut, sink sank sunk, slide slid, spread, stick stuck, strike struck,
swear swore sworn, sweep swept, tear tore torn, wind wound, child children, man men, woman women,
person people, foot feet, wife wives, life lives, mouse mice, tooth teeth, knife knives,
leaf leaves, shelf shelves
"""

_SYNONYMS = """
begin start launch commence, buy purchase shop, finish complete end wrap, movie film,
photo picture pic image, mom mother mum mama, dad father papa, kid child, friend buddy pal mate,
job career occupation profession, fav favorite favourite best, happy glad delighted,
sad upset unhappy, angry mad furious, scared afraid frightened, big large huge, fast quick rapid,
trip travel journey vacation, house home, shop store, help assist support aid,
talk chat speak converse, fix repair, ill sick, doctor physician, car vehicle auto,
bike bicycle cycling, phone cellphone mobile, tv television, show exhibit exhibition display,
present gift, win victory, teach teacher tutor, learn study,
tournament tourney competition contest, festival fest, christmas xmas, vet veterinarian,
army military veteran, college university uni, boss manager supervisor,
coworker colleague teammate, wedding marriage marry, author writer, script screenplay,
icecream ice-cream, tale story, adore love passion, hate dislike, dream goal aspiration,
get receive obtain, choose pick select, decide decision, important significant,
beautiful gorgeous lovely, tired exhausted, difficult hard tough challenging, funny hilarious,
injure hurt injury, advice tip suggestion, suggest recommend, mentor mentorship guidance,
promote market advertise promotion, client customer, inspire motivate inspiration motivation,
stress tension pressure, relax unwind calm destress, try attempt, move relocate, visit tour,
achieve accomplish achievement, symbolize represent symbol, grandma grandmother granny,
grandpa grandfather, aunt auntie, apartment flat, business biz venture startup,
speech talk presentation, research look, think opinion thought, team squad, sport athletic,
pup puppy, kitty kitten, meal dish, garbage trash rubbish, bug defect error, delete remove,
build create, deadline due, cheap inexpensive affordable, price cost fee, salary pay wage,
error failure problem, meeting appointment, error mistake, reply answer respond,
laptop notebook computer, exam test, homework assignment, reduce decrease lower,
increase raise grow, car automobile, flight plane airplane, bag backpack, lawyer attorney,
film movie cinema, luggage baggage suitcase, sofa couch, autumn fall, holiday vacation, 电影 影片,
手机 电话, 医生 大夫, 妈妈 母亲 老妈, 爸爸 父亲 老爸, 爷爷 祖父, 奶奶 祖母, 外公 姥爷, 外婆 姥姥,
妻子 老婆 太太, 丈夫 老公 先生, 孩子 小孩 儿童, 朋友 好友 友人, 同事 同僚, 老板 上司 领导,
开始 启动 起步, 结束 完成 收尾, 购买 下单 采购, 喜欢 喜爱 偏爱, 讨厌 反感, 高兴 开心 快乐,
难过 伤心 沮丧, 生气 愤怒, 担心 担忧 焦虑, 旅行 旅游 出游, 房子 住宅 房屋, 商店 店铺 门店,
工作 职业 上班, 公司 企业, 会议 开会 例会, 汇报 报告, 建议 推荐 提议, 计划 规划 打算 方案,
问题 故障 毛病, 修复 修理 维修, 体检 检查, 生病 患病, 锻炼 健身 运动, 比赛 竞赛 赛事, 聚会 聚餐,
生日 寿宴, 结婚 婚礼 成婚, 学习 进修, 老师 教师 导师, 价格 费用 花费, 工资 薪水 收入, 客户 顾客,
合同 协议, 照片 相片 拍照, 汽车 轿车, 预约 预订 预定, 晚饭 晚餐, 午饭 午餐, 早饭 早餐, 选择 挑选,
帮助 协助, 讨论 商讨 探讨, 邮件 邮箱, 目标 愿望, 礼物 礼品
"""

_KINDS = """
instrument: piano guitar violin viola cello drum flute oboe clarinet saxophone trumpet ukulele
  keyboard bass harp banjo
sport: soccer football basketball tennis baseball hockey golf volleyball swim rugby cricket
  badminton surf ski box
exercise workout fitness: yoga run jog gym swim hike cycling weights pilates kickboxing stretch
  aerobics cardio marathon
hobby pastime leisure: paint read garden cook bake hike knit photography fish game chess dance
  music craft pottery
activity: hike camp paint swim cook dance game run picnic walk play visit craft read
pet animal: dog cat puppy kitten bird parrot hamster rabbit turtle fish horse snake lizard
dog: puppy pup
cat: kitten kitty
book: novel read author memoir trilogy biography series story
movie film show: watch cinema documentary comedy thriller theater trilogy sequel series
game: play console xbox playstation nintendo chess puzzle boardgame multiplayer
music: song band concert album sing playlist guitar piano jazz rock
artist band musician: concert song album sing
food dish meal cuisine: cook bake pasta pizza salad soup rice chicken cake curry sandwich noodle
  steak sushi taco burger dinner lunch breakfast eat
recipe: cook bake ingredient dish cream cake soup
dessert sweet snack: cake cookie pie icecream chocolate brownie candy cupcake pudding muffin
drink beverage: coffee tea juice water beer wine soda smoothie
fruit: apple banana strawberry orange mango berry peach grape lemon
vegetable: carrot tomato potato onion spinach broccoli lettuce pepper
city: paris london rome tokyo york boston chicago seattle berlin barcelona toronto sydney madrid
  miami dublin beijing shanghai
country: france italy spain japan china england uk ireland germany canada mexico brazil india
  australia thailand greece turkey
state: california texas florida oregon colorado washington arizona nevada
place location: city town park museum beach lake mountain forest country cafe restaurant store
nature outdoors outdoor: hike camp mountain forest lake beach trail river park sunset
trip travel vacation holiday: visit flight roadtrip camp hotel beach tour abroad journey went
relative family: mother father mom dad sister brother son daughter kid aunt uncle cousin grandma
  grandpa parent wife husband
child kid: son daughter baby boy girl
parent: mother father mom dad
sibling: brother sister
grandparent: grandma grandpa grandmother grandfather
spouse partner: husband wife boyfriend girlfriend married
status: single married dating divorced engaged breakup
job career work occupation profession: hired teacher engineer nurse manager company office boss
  interview lawyer chef banker counselor
business startup company: store shop studio customer brand launch
school education study degree: college university class course major graduate exam student
  teacher professor
health illness medical: doctor hospital surgery sick injury pain diet diagnosis therapy clinic
injury hurt: sprain ankle broken knee pain accident fell
emotion feel: happy sad excited scared proud nervous grateful anxious worried glad
stress destress relax unwind: calm peaceful soothing therapeutic escape yoga meditation relief
vehicle car: drive truck suv bike motorcycle repair
transport transportation: car bus train plane bike taxi
clothes clothing wear outfit: dress shirt jacket shoes hoodie jeans hat sneakers
item object thing possession: bought purchased shoes necklace gift mug figurine
gift present: gave birthday received
jewelry accessory: necklace ring bracelet earrings
art artwork: paint drawing sculpture pottery sketch canvas gallery photography mural
craft: pottery knit sew clay wood bowl cup
painting draw: canvas watercolor sunset landscape portrait abstract sketch
symbol: flag cross heart eagle rainbow necklace stands means
religion faith spiritual: church pray god temple bible
charity volunteer service community: donate shelter fundraiser homeless help foodbank
event celebration: party wedding festival parade concert conference ceremony birthday graduation
  fair workshop meeting gathering
competition contest tournament: won compete champion prize trophy medal
achievement accomplishment award: won trophy medal prize promoted graduate first record proud
money finance income: pay salary budget savings loan invest cost expensive
problem challenge difficulty obstacle struggle setback: tough hard issue trouble lost failed
goal plan dream ambition aspiration: want hope future aim
advice suggestion recommend tip: should try
weather season: rain snow sunny storm winter summer spring autumn cold hot
flower plant: rose sunflower tulip lily garden dahlia orchid
color colour: red blue green yellow purple pink orange black white brown
language: spanish french german chinese japanese english italian
device gadget technology: phone laptop computer tablet camera console headset
software app: python code website database program
house home: apartment kitchen bedroom moved rent neighborhood
furniture: sofa couch table chair bed desk shelf
genre: fantasy romance drama comedy thriller horror mystery scifi fiction action
political cause activism: rights equality protest campaign vote election policy
personality trait attribute character: kind caring thoughtful strong brave honest patient
age: years birthday born
disaster: flood fire storm earthquake hurricane
beach: ocean sea surf sand
mountain: hike peak climb trail
meet: introduced
运动 锻炼 健身: 跑步 游泳 瑜伽 骑行 篮球 足球 网球 爬山 徒步 散步 晨跑 夜跑 力量 训练
爱好 兴趣 消遣: 摄影 阅读 绘画 书法 园艺 钓鱼 唱歌 跳舞 音乐 游戏 旅行 手工
乐器: 钢琴 吉他 提琴 古筝 二胡 长笛 琵琶
宠物 动物: 小狗 小猫 猫咪 狗狗 兔子 金鱼 鹦鹉 仓鼠
食物 美食 菜品: 火锅 烧烤 面条 米饭 饺子 牛肉 鸡肉 海鲜 蛋糕 早餐 午餐 晚餐
饮料 饮品: 咖啡 奶茶 茶叶 果汁 啤酒 红酒 可乐
水果: 苹果 香蕉 草莓 葡萄 西瓜 橙子 芒果
亲人 家人 亲戚 家庭: 父母 爸爸 妈妈 父亲 母亲 哥哥 姐姐 弟弟 妹妹 爷爷 奶奶 丈夫 妻子 儿子 女儿
父母 家长: 爸爸 妈妈 父亲 母亲
职业 工作: 老师 医生 律师 工程 经理 公司 面试 入职
健康 身体 疾病: 医院 医生 体检 感冒 发烧 疼痛 手术 复查 康复
交通 出行: 高铁 飞机 地铁 开车 打车 公交 航班
衣服 服装 穿着: 外套 衬衫 裙子 裤子 鞋子 羽绒
礼物 礼品: 生日 送给 收到
情绪 心情 感受: 开心 难过 焦虑 紧张 疲惫 激动 感动
压力 放松: 疲惫 冥想 瑜伽 散步 休息
比赛 竞赛: 冠军 奖杯 获奖 决赛 名次
投资 理财 财务: 基金 股票 收益 债券 预算 存款
活动 聚会: 聚餐 展览 讲座 露营 婚礼 生日 沙龙 派对
景点 地点: 公园 博物 古镇 海边 寺庙 山顶
天气: 下雨 降温 晴天 台风 高温 下雪
设备 数码 电子: 手机 电脑 相机 耳机 平板
学习 课程 培训: 考试 作业 证书 讲座 老师 上课
"""


class Echo(NamedTuple):
    """Words that a memory may have in place of one of the question."""

    words: tuple[str, ...]
    weight: float
    """What they weigh against a word of the question itself."""


Table = Mapping[str, Echo]
Split = Callable[[str], list[str]]


def tables(split: Split) -> tuple[Table, ...]:
    """Return the tables in the words of a splitter: forms, synonyms, kinds."""
    split = cache(split)  # Each word stands in the row of each other of its group.
    return (
        _build_table(_yield_word_groups(_FORMS), FORM, split),
        _build_table(_yield_word_groups(_SYNONYMS), SYNONYM, split),
        _build_table(_yield_kind_members(), KIND, split),
    )


def dump_tables(found: Sequence[Table]) -> bytes:
    """Return the tables as bytes; to read them takes a fraction of the time to make them."""
    rows = [{key: echo.words for key, echo in table.items()} for table in found]
    return json.dumps([lists_mark(), rows], ensure_ascii=False, separators=(",", ":")).encode()


def load_tables(content: bytes) -> tuple[Table, ...]:
    """Return tables that were dumped; none where the words here are others by now."""
    mark, rows = json.loads(content) if content else ("", ())
    # Another version of the product may have other words; its table must not be used.
    if mark != lists_mark():
        return ()
    return tuple(
        {key: Echo(tuple(words), weight) for key, words in table.items()}
        for table, weight in zip(rows, (FORM, SYNONYM, KIND), strict=True)
    )


def lists_mark() -> str:
    """Return a hash that changes when the lists of this module do."""
    return hashlib.sha256("\0".join((_FORMS, _SYNONYMS, _KINDS)).encode()).hexdigest()


def _yield_word_groups(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each word with the other words of its group."""
    for group in text.replace("\n", " ").split(","):
        words = group.split()
        yield from ((word, words) for word in words)


def _yield_kind_members() -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each kind with the things of the kind."""
    for line in _KINDS.strip().replace("\n  ", " ").splitlines():
        names, _, members = line.partition(":")
        yield from ((name, members.split()) for name in names.split())


def _build_table(entries: Iterator[tuple[str, list[str]]], weight: float, split: Split) -> Table:
    found: dict[str, dict[str, None]] = {}
    for name, others in entries:
        keys = _longest_token(name, split)
        words = found.setdefault(keys, {}) if keys else {}
        words.update(
            dict.fromkeys(word for other in others if (word := _longest_token(other, split)))
        )
    return {
        key: Echo(tuple(word for word in words if word != key), weight)
        for key, words in found.items()
        if len(words.keys() - {key})
    }


def _longest_token(word: str, split: Split) -> str:
    """Return the word of the splitter that means all of `word`, empty where there is none."""
    return max(split(word), key=len, default="")
