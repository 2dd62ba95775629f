"""Patterns that are compiled at their first use, and the characters of Chinese and English.

Compiling all of ours takes longer than answering a question, and most processes use few. Those
that were compiled once are kept from one process to the next, as Python keeps compiled modules,
in a file in ``__pycache__`` that may vanish at any moment. What Python offers for that has no
public name: where it changes, patterns are compiled as ever.

Of characters: which are Chinese, forms that are folded or restored, and the language they make.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib
import importlib.util
import marshal
import os
import re
import sys
import unicodedata
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, wraps
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, cast

__all__ = ["is_han", "language_of"]

_HAN_SET = re.compile(r"\[(?:\\u3400-\\u9fff|A-Za-z|\\d)+\]")

_MOST = 4096
"""A file with more rows holds those of many versions of the program, and begins anew."""
_SUM = 4
"""Bytes of a checksum, and of the length of the head."""
_UNKNOWN = (AttributeError, ImportError, OverflowError, RuntimeError, TypeError, ValueError)
"""What a Python with other inner parts raises, and a row that is not ours."""


class _Rows(NamedTuple):
    """What a file of patterns holds."""

    content: bytes
    start: int
    """Where its first row begins."""
    places: Mapping[bytes, tuple[int, int]]
    """Where each row begins and ends behind that, by the name of the row."""

    def read(self, name: bytes) -> bytes:
        """Return a row behind its sum; nothing where there is none, or it is damaged."""
        begin, end = self.places.get(name, (0, 0))
        row = self.content[self.start + begin : self.start + end]
        # A flipped bit could let a pattern of secrets find nothing.
        return row[_SUM:] if row[:_SUM] == _sum(row[_SUM:]) else b""


class PatternCache:
    """The compiled patterns of a file: looked up one by one, written at the end.

    The file begins with the places of its rows. To read all rows would take a twentieth of the
    time of a command, which needs few of them.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[tuple[str, str, int], Any] = {}
        self._new: dict[bytes, bytes] = {}

    def compile_pattern(self, source: str, flags: int) -> re.Pattern[str]:
        """Return a pattern with its flags, compiled."""
        try:
            row = self.compute_once(("code", source, int(flags)), lambda: _encode(source, flags))
            return _decode(source, row)
        except _UNKNOWN:
            # The inner parts of Python changed: slower, and the same pattern.
            return re.compile(source, flags)

    def compute_once(self, key: tuple[str, str, int], compute: Callable[[], Any]) -> Any:
        """Return what was computed of a pattern before, or compute it now.

        Args:
            key: what was computed, the pattern and its flags. What is computed is kept, so
                none of it must come from anybody's memory.
            compute: returns numbers, texts and tuples of them.
        """
        if key not in self._known:
            name = hashlib.blake2b(repr(key).encode("utf-8", "surrogatepass")).digest()
            row = self._rows.read(name)
            if not row:
                row = marshal.dumps(compute())
                self._new[name] = _sum(row) + row
            self._known[key] = marshal.loads(row)  # noqa: S302  who writes here writes the bytecode beside it
        return self._known[key]

    def write_file(self) -> None:
        """Write what was computed since the file was read, if Python may write its caches."""
        if not self._new or sys.dont_write_bytecode:
            return
        content, start, places = self._rows
        kept = {name: content[start + a : start + b] for name, (a, b) in places.items()}
        rows = kept | self._new
        ends = list(accumulate(map(len, rows.values()), initial=0))
        head = marshal.dumps((sys.version, dict(zip(rows, pairwise(ends), strict=True))))
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        # Where Python's caches cannot be written, patterns are compiled each time.
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(exist_ok=True)
            try:
                size = len(head).to_bytes(_SUM, "big")
                beside.write_bytes(b"".join((size, _sum(head), head, *rows.values())))
                beside.replace(self._path)
            finally:
                beside.unlink(missing_ok=True)

    @cached_property
    def _rows(self) -> _Rows:
        """What the file holds; nothing where its head is damaged or of another Python."""
        # Whatever is wrong with the file, patterns can be compiled.
        with contextlib.suppress(OSError, EOFError, TypeError, ValueError):
            content = self._path.read_bytes()
            start = 2 * _SUM + int.from_bytes(content[:_SUM], "big")
            head = content[2 * _SUM : start]
            if content[_SUM : 2 * _SUM] == _sum(head):
                version, places = marshal.loads(head)  # noqa: S302  who writes here writes the bytecode beside it
                if version == sys.version and len(places) <= _MOST:
                    return _Rows(content, start, places)
        return _Rows(b"", 0, {})


def _sum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(_SUM, "big")


def _encode(source: str, flags: int) -> tuple[Any, ...]:
    """Return what `re.compile` hands to the engine, as it may be stored."""
    compiler = importlib.import_module("re._compiler")
    tree = importlib.import_module("re._parser").parse(source, flags)
    order: list[str | None] = [None] * tree.state.groups
    for name, number in tree.state.groupdict.items():
        order[number] = name
    code = array("I", compiler._code(tree, flags)).tobytes()
    names = tuple(tree.state.groupdict.items())
    return code, int(flags) | int(tree.state.flags), tree.state.groups - 1, names, tuple(order)


def _decode(source: str, row: tuple[Any, ...]) -> re.Pattern[str]:
    code, flags, groups, names, order = row
    numbers = array("I", code).tolist()
    engine = importlib.import_module("_sre")
    pattern: re.Pattern[str] = engine.compile(source, flags, numbers, groups, dict(names), order)
    return pattern


PATTERNS = PatternCache(Path(importlib.util.cache_from_source(__file__)).with_suffix(".patterns"))
atexit.register(PATTERNS.write_file)


def regex(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like `re.compile`; a mistake in it shows at its first use."""
    return cast("re.Pattern[str]", _Regex(source, flags))  # it has every attribute of one


def rare(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like `regex` that few texts hold: `search` looks for its words first.

    To look for a dozen words takes a fifth of what a long alternation takes to find nothing.
    """
    return cast("re.Pattern[str]", _Rare(source, flags))


class Phrases:
    """Several patterns that are asked together.

    Args:
        sources: the patterns.
        flags: flags of all of them.
    """

    def __init__(self, *sources: str, flags: int = 0) -> None:
        self._each = [_Rare(source, flags) for source in sources]

    def found_in(self, text: str) -> bool:
        """Whether a text has a match of one of them."""
        low = folded(text)
        for each in self._each:
            for word in each.words:
                if word in low:
                    if each.search(text):
                        return True
                    break
        return False


class _Regex:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def _compiled_pattern(self) -> re.Pattern[str]:
        source = self._source
        if self._flags & re.IGNORECASE:
            # Python asks of each of 27,000 hanzi for its other case: 3 ms for every such set.
            source = _HAN_SET.sub(r"(?-i:\g<0>)", source)
        return PATTERNS.compile_pattern(source, self._flags)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it for the next time."""
        found = getattr(self._compiled_pattern, name)
        setattr(self, name, found)
        return found


class _Rare(_Regex):
    @cached_property
    def words(self) -> tuple[str, ...]:
        """One of which stands, `folded`, in what it is found in; "" where none is known."""
        return tuple(literals(self._source, self._flags)) or ("",)

    def search(self, text: str, *bounds: int) -> re.Match[str] | None:
        """Search like a compiled pattern."""
        low = text.lower() if text.isascii() else folded(text)
        for word in self.words:  # A generator would take as long as all the looking.
            if word in low:
                return self._compiled_pattern.search(text, *bounds)
        return None


# A named group, (?P<name>…), belongs to the pattern and is no part to write out.
_NAMED_PART = re.compile(r"(?<!\(\?P)<(\w+)>")


def rule(parts: Mapping[str, str], form: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of a form in which ``<name>`` stands for the part of that name."""
    return regex(spelled(parts, form), flags)


def spelled(parts: Mapping[str, str], form: str) -> str:
    """Return a form with every part written out."""
    return _NAMED_PART.sub(lambda found: f"(?:{spelled(parts, parts[found[1]])})", form)


# To compile every form of a slot takes a tenth of a second. A form is compiled for the first
# clause that holds one of its literals; most processes meet few.
MOST_LITERALS = 256
"""A pattern with more words than this is in most texts, or is no pattern of phrases."""
_FEW = 12
"""Letters a set may have to be worth looking for."""
_COMMON = frozenset(
    ("the", "for", "with", "our", "are", "was", "and", "that", "this", "you", "your", "will")
)
_Step = tuple[Any, Any]
_Words = frozenset[str]


def folded(text: str) -> str:
    """Return a text in which letters are the same that a pattern takes for the same."""
    if text.isascii():
        return text.lower()
    # These two are "i" to a pattern without case, and not to `str.casefold`.
    return text.replace("İ", "i").replace("ı", "i").casefold()


def literals(source: str, flags: int) -> _Words:
    """Return words of which every text holds one that a pattern is found in.

    Args:
        source: the pattern.
        flags: its flags.

    Returns:
        The words, `folded`, to be looked for in a text that is folded too; none where
        nothing can be said, or nothing that is worth it.
    """
    key = ("literals", source, int(flags))
    return frozenset(PATTERNS.compute_once(key, lambda: tuple(_find_literals(source, flags))))


def _find_literals(source: str, flags: int) -> _Words:
    # What parses a pattern has no public name. Where it changes, patterns are as slow as ever.
    parse = getattr(getattr(re, "_parser", None), "parse", None)
    if parse is None:
        return frozenset()
    tree = parse(source, flags)
    found = _required_words(list(tree), ignoring=bool(tree.state.flags & re.IGNORECASE))
    is_of_use = 0 < len(found) <= MOST_LITERALS and _rank_words(found)[0] > 1
    return found if is_of_use else frozenset()


def _weigh_word(word: str) -> int:
    """How much the presence of a word tells: 1 is as good as nothing, 4 as good as any."""
    if word.strip() in _COMMON:
        return 2
    return min(4, sum(1 if letter.isascii() else 2 for letter in word))


def _required_words(steps: Iterable[_Step], *, ignoring: bool) -> _Words:
    """Return the best words of a sequence: of each of its parts one must be there."""
    offers = [words for words in _candidate_words(steps, ignoring=ignoring) if words]
    return max(offers, key=_rank_words, default=frozenset())


def _rank_words(words: _Words) -> tuple[int, int]:
    return min(map(_weigh_word, words)), -len(words)


def _candidate_words(steps: Iterable[_Step], *, ignoring: bool) -> Iterator[_Words]:
    run = ""
    for step in steps:
        name, value = str(step[0]), step[1]
        if name == "LITERAL" and _is_steady(chr(value), ignoring=ignoring):
            run += folded(chr(value))
        elif name not in {"AT", "ASSERT", "ASSERT_NOT"}:  # these three take no room
            yield frozenset({run} - {""})
            yield _words_of_part(name, value, ignoring=ignoring)
            run = ""
    yield frozenset({run} - {""})


def _is_steady(letter: str, *, ignoring: bool) -> bool:
    """Whether a letter has no other forms than those that `folded` brings together."""
    if "\ud800" <= letter <= "\udfff":
        return False
    return not ignoring or letter.isascii() or letter.lower() == letter.upper()


def _words_of_part(name: str, value: Any, *, ignoring: bool) -> _Words:
    """Return the words of a part that holds parts."""
    if name == "BRANCH":
        each = [_required_words(steps, ignoring=ignoring) for steps in value[1]]
        return frozenset[str]().union(*each) if all(each) else frozenset()
    if name == "IN":
        return _letters_of_set(value, ignoring=ignoring)
    if name == "SUBPATTERN" and not (value[1] or value[2]):  # it changes no flags
        return _required_words(value[3], ignoring=ignoring)
    if name == "ATOMIC_GROUP":
        return _required_words(value, ignoring=ignoring)
    if name.endswith("_REPEAT") and value[0] > 0:
        return _required_words(value[2], ignoring=ignoring)
    return frozenset()


def _letters_of_set(choice: Iterable[_Step], *, ignoring: bool) -> _Words:
    """Return the letters of a set, where it is a small one and no more than that."""
    found: list[str] = []
    for kind, value in choice:
        first, last = (value, value) if str(kind) == "LITERAL" else _range_ends(str(kind), value)
        found += map(chr, range(first, min(last, first + _FEW) + 1))
    sure = len(found) <= _FEW and all(_is_steady(one, ignoring=ignoring) for one in found)
    return frozenset(map(folded, found)) if sure else frozenset()


def _range_ends(kind: str, value: Any) -> tuple[int, int]:
    """Return the ends of a range of letters; of anything else, of one that is too long."""
    return value if kind == "RANGE" else (0, _FEW)


# A session asks ten times what of each turn is its speaker's own, and each job weighs the lines
# of the last sessions for MEMORY.md anew: without this, its end takes half as long again.
LONGEST_KEPT = 4096
"""A longer text is read anew each time, so that a server keeps no large ones."""
_Result = TypeVar("_Result")


def keep_results(most: int) -> Callable[[Callable[[str], _Result]], Callable[[str], _Result]]:
    """Keep the latest results of a pure function of one text; they must not be changed."""

    def kept(function: Callable[[str], _Result]) -> Callable[[str], _Result]:
        known = lru_cache(maxsize=most)(function)

        @wraps(function)
        def ask(text: str) -> _Result:
            return known(text) if len(text) <= LONGEST_KEPT else function(text)

        return ask

    return kept


HAN = (
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f\U00030000-\U000323af"
)
"""Body of a regular-expression class that matches one Chinese character."""

# Traditional and simplified form in turn: the frequent characters that differ and
# that have one simplified form whatever the word, so that folding needs no dictionary.
_PAIRS = (
    "們们個个這这來来為为會会對对時时說说國国過过學学還还樣样發发經经頭头現现長长問问開开見见動动間间從从無无種种關关點点裡里裏里後后氣气實实話话業业電电機机當当親亲"
    "應应體体給给進进產产東东書书車车門门馬马風风錢钱員员務务報报場场認认識识讓让請请謝谢語语讀读課课誰谁調调論论設设計计記记訂订討讨許许訴诉評评詞词試试詢询該该詳详"
    "誤误誠诚談谈證证護护譯译變变議议訊讯訓训託托訪访註注詐诈診诊詩诗誌志誕诞諒谅講讲謊谎謎谜謹谨貓猫貝贝負负財财貢贡責责貨货貧贫貪贪貿贸費费貼贴貴贵買买賣卖資资賓宾"
    "賞赏賠赔質质賬账賴赖賺赚購购贈赠贊赞贏赢軌轨軍军軟软較较載载輕轻輛辆輩辈輪轮輯辑輸输轉转轟轰辦办辭辞農农運运達达違违遠远適适遲迟遷迁選选遺遗邊边連连鄉乡鄭郑鄰邻"
    "醫医釋释針针釘钉鈔钞鈴铃鉛铅銀银銅铜銷销鋪铺鋼钢錄录錯错錦锦鍋锅鍵键鎖锁鎮镇鏡镜鐘钟鐵铁鑰钥閃闪閉闭閒闲閱阅闆板隊队階阶際际陸陆陳陈陰阴陽阳隨随險险隱隐雖虽雙双"
    "雜杂雞鸡離离難难雲云霧雾靜静頁页頂顶項项順顺須须預预頓顿領领頻频題题額额顏颜願愿類类顧顾顯显飛飞飯饭飲饮餓饿館馆餅饼養养驗验駕驾騎骑騙骗驚惊髮发鬆松鬥斗鬧闹魚鱼"
    "鮮鲜鳥鸟鳴鸣鴨鸭鵝鹅麗丽麥麦麼么黃黄黨党齊齐齒齿齡龄龍龙龜龟與与專专叢丛絲丝兩两嚴严喪丧豐丰臨临義义烏乌樂乐喬乔習习爭争虧亏亞亚畝亩億亿僅仅倉仓儀仪價价眾众優优"
    "夥伙傘伞偉伟傳传傷伤倫伦偽伪側侧僑侨債债傾倾償偿儲储兒儿兌兑蘭兰興兴獸兽岡冈冊册寫写馮冯沖冲決决況况凍冻淨净涼凉減减湊凑幾几鳳凤憑凭凱凯擊击鑿凿則则剛刚創创刪删"
    "別别劑剂劍剑劇剧勸劝勵励勁劲勞劳勢势勝胜區区協协單单盧卢衛卫卻却廠厂廳厅歷历曆历厲厉壓压廁厕廂厢縣县參参敘叙葉叶號号嘆叹嚇吓嗎吗啟启吳吴嗚呜響响啞哑嘩哗喲哟嘗尝"
    "喚唤噴喷圍围園园圓圆圖图團团聖圣壞坏塊块堅坚壇坛壩坝墳坟墜坠壘垒墊垫塵尘牆墙壯壮聲声殼壳處处備备複复夠够奪夺奮奋奧奥妝妆婦妇媽妈姍姗娛娱婁娄嬰婴孫孙寧宁寶宝審审"
    "憲宪宮宫寬宽寢寝將将爾尔堯尧屍尸盡尽層层屆届屬属嶼屿歲岁島岛峽峡幣币帥帅師师帳帐簾帘幟帜帶带幫帮庫库廟庙廢废廣广莊庄慶庆張张彌弥彎弯彈弹強强歸归徹彻徑径憶忆懷怀"
    "態态憐怜總总戀恋惡恶惱恼悅悦懸悬懶懒慘惨慚惭慣惯憤愤戲戏戰战戶户撲扑執执擴扩掃扫揚扬擾扰撫抚拋抛搶抢擔担擬拟擁拥攔拦擇择掛挂揮挥擠挤換换據据擋挡損损撿捡搖摇攝摄"
    "擺摆攜携攤摊攪搅敵敌數数齋斋斷断舊旧曠旷曬晒曉晓暈晕暫暂術术朮术樸朴殺杀權权條条楊杨極极構构槍枪柵栅標标棧栈棟栋樹树欄栏橋桥檔档夢梦檢检樓楼歡欢歐欧殘残毀毁畢毕"
    "氫氢漢汉湯汤溝沟沒没滬沪瀏浏淚泪瀉泻潑泼澤泽潔洁灑洒濃浓測测濟济渾浑濁浊塗涂濤涛澀涩潤润漲涨滲渗溫温灣湾濕湿潰溃滾滚滿满濾滤濫滥灘滩滅灭燈灯靈灵災灾爐炉煉炼爛烂"
    "煩烦燒烧熱热愛爱爺爷牽牵犧牺狀状獨独獄狱獎奖獲获獻献環环瑪玛畫画暢畅療疗瘋疯癢痒癒愈皺皱盤盘監监蓋盖盜盗矚瞩礦矿碼码磚砖確确礙碍禮礼禍祸禪禅禿秃積积稱称穩稳窮穷"
    "竊窃競竞筆笔筍笋籤签簡简籃篮籌筹籠笼糧粮緊紧糾纠紅红約约級级紀纪純纯紙纸紛纷紋纹線线練练組组細细終终結结絕绝統统絡络綁绑續续維维綜综綠绿網网緒绪編编緣缘縮缩績绩"
    "織织繪绘繞绕繼继纖纤罰罚罷罢羅罗聞闻聯联聰聪職职聽听肅肃腸肠膚肤腫肿脹胀腦脑腳脚臉脸膽胆艦舰艙舱艱艰藝艺節节蘇苏蘋苹莖茎薦荐藥药榮荣營营蕭萧藍蓝蟲虫蝦虾螞蚂蠟蜡"
    "補补襯衬襲袭裝装製制規规視视覽览覺觉觀观觸触譽誉豬猪趙赵趨趋跡迹踐践踴踊軀躯闊阔鬱郁鹽盐麵面黴霉煙烟週周祕秘峯峰羣群臺台佈布佔占僱雇啓启喫吃囑嘱擱搁攢攒昇升歎叹"
    "汙污牠它癥症眞真睏困睜睁矽硅紮扎綫线纔才脫脱艷艳莢荚蔥葱薑姜衝冲訃讣詆诋詛诅詫诧誇夸諷讽諾诺譴谴貶贬賄贿賊贼賽赛蹤踪軸轴輔辅輝辉轎轿遙遥遞递鄧邓醬酱鉤钩銳锐錶表"
    "鍊炼鐮镰閘闸閣阁闖闯闡阐闢辟韓韩韌韧頌颂頒颁頸颈頹颓顆颗顛颠飄飘飼饲飽饱飾饰餘余饋馈饒饶馳驰駐驻駛驶駱骆騰腾驅驱驟骤鯨鲸鯊鲨鴻鸿鷹鹰鼴鼹籲吁氾泛迴回於于徵征範范"
    "彙汇匯汇獃呆係系繫系纍累儘尽準准嚮向鬍胡誒诶謂谓諮咨贓赃辯辩辮辫郵邮鋒锋鋁铝錘锤鑒鉴鑑鉴鑽钻陣阵隸隶雛雏霽霁"
    "隻只祇只傢家遊游採采捨舍鬚须麪面罈坛嚐尝復复乾干鞦秋韆千颱台檯台穫获穀谷鍾钟盃杯砲炮綵彩醜丑讚赞吋寸廚厨廈厦櫃柜櫥橱窩窝螢萤萬万釀酿鋸锯錐锥鍛锻鎚锤陝陕韻韵頗颇"
    "顱颅餵喂饑饥饞馋髒脏鬢鬓魯鲁鮭鲑鱷鳄鴿鸽鵡鹉鶴鹤麩麸齣出鹼碱鹹咸壺壶嬌娇寵宠屜屉嶺岭巖岩慮虑懇恳撐撑斃毙斬斩枱台桿杆棄弃棗枣樁桩樞枢櫻樱氈毡淺浅渦涡滯滞漁渔滷卤"
    "潛潜燙烫犢犊猶犹獅狮獵猎瑩莹瓊琼甕瓮異异瘡疮禱祷稅税穎颖築筑紳绅綱纲緩缓縫缝繡绣繩绳繳缴罵骂羨羡聳耸脅胁脈脉膩腻臘腊臥卧蔣蒋蔔卜蘿萝蠶蚕蠻蛮褲裤襪袜諜谍謙谦譜谱"
    "賀贺賤贱贖赎趕赶躍跃轄辖遼辽醞酝鈕钮鉗钳銘铭鏈链鐲镯韋韦顫颤餃饺餡馅饅馒駝驼騾骡鰻鳗鱗鳞鵑鹃鸚鹦齦龈癱瘫礎础稜棱竄窜箏筝篩筛簽签粵粤糞粪納纳紐纽紡纺絆绊絞绞絨绒"
    "綻绽緬缅緯纬縛缚縱纵繃绷繆缪羈羁翹翘膠胶臟脏茲兹菸烟蓮莲蔭荫蕩荡薩萨蘆芦虜虏蝕蚀蟻蚁蟬蝉蠅蝇覓觅訛讹訝讶詠咏誘诱誼谊諧谐諱讳謀谋謠谣譏讥販贩貫贯賦赋賜赐贅赘贍赡"
    "蹟迹軒轩輒辄輾辗逕径邁迈邏逻鄒邹醃腌釣钓釦扣鈍钝鉑铂銜衔鋤锄鋰锂錫锡錳锰鍍镀鍬锹鎂镁鎧铠鏟铲鏽锈鐳镭鑄铸鑲镶鑼锣閏闰閨闺閩闽隕陨靂雳鞏巩韁缰頃顷頤颐頰颊顎颚飆飙"
    "餌饵餒馁餞饯駁驳駿骏騷骚驕骄驢驴骯肮髏髅鯉鲤鯽鲫鰓鳃鱔鳝鱸鲈鳩鸠鴉鸦鴛鸳鴦鸯鵬鹏鷗鸥鸞鸾亂乱佇伫併并偵侦傑杰傭佣僕仆儉俭兇凶剎刹劃划劉刘匱匮厭厌呂吕嗆呛嘔呕嘯啸"
    "嘰叽噸吨囂嚣塢坞墮堕墾垦壟垄嫻娴孿孪尋寻導导屢屡崗岗嶄崭嶽岳幹干彆别恆恒悶闷憂忧憊惫懲惩懼惧挾挟捲卷掙挣揀拣搗捣摯挚摳抠摺折撈捞撓挠撥拨擰拧擲掷攏拢攙搀敗败斂敛"
    "斕斓晝昼朧胧枴拐槳桨橫横欖榄殞殒殤殇毆殴洩泄滄沧滌涤漸渐漿浆澆浇澗涧澱淀溼湿濘泞濛蒙濱滨濺溅瀆渎瀕濒瀝沥瀟潇瀾澜煥焕熒荧熾炽燁烨燜焖燦灿燭烛燴烩爍烁牘牍狹狭狽狈"
    "獰狞珮佩琺珐瑤瑶瑣琐璽玺瓏珑産产疊叠痙痉瘓痪癆痨癡痴癮瘾癬癣癲癫皚皑瞞瞒瞭了瞇眯矯矫碩硕磯矶禦御稈秆稟禀穌稣窪洼窯窑窺窥竅窍篤笃簍篓簫箫籬篱粧妆紗纱綢绸綴缀緋绯"
    "緘缄緝缉締缔緻致縈萦縷缕繕缮繭茧纏缠纜缆缽钵罌罂聾聋腎肾臍脐舉举芻刍華华萊莱蒼苍蕎荞蕪芜薈荟薔蔷薺荠蘊蕴蘚藓虛虚蜆蚬蝟猬蝸蜗蟄蛰蟈蝈蠍蝎蠣蛎蠱蛊裊袅褻亵証证説说"
    "豎竖豈岂賭赌躋跻軋轧輟辍輻辐輿舆轍辙遜逊釐厘牀床衆众姪侄汎泛慾欲噹当囉啰嘍喽唄呗紹绍姦奸嬸婶嬤嬷孃娘摟搂撣掸攬揽櫟栎櫚榈滸浒燉炖爲为獼猕皰疱矇蒙硯砚祐佑秈籼糉粽"
    "糰团絃弦緞缎縐绉縴纤羋芈翫玩耬耧脛胫膿脓茍苟荊荆莧苋蓽荜蕁荨虯虬蛻蜕螻蝼衹只襖袄覈核觴觞詰诘誣诬諂谄諭谕謬谬謔谑讒谗讖谶貞贞賁贲賑赈賢贤蹣蹒躊踌躡蹑轆辘轢轹邇迩"
    "酈郦釅酽釵钗鈣钙鈦钛鈾铀鉀钾鉚铆鉸铰鋅锌銬铐鋃锒鋯锆錠锭錨锚鎊镑鎢钨鎳镍鏢镖鏗铿鐐镣鑣镳閂闩閥阀闈闱闌阑隴陇雋隽靄霭鞝绱顥颢飩饨飪饪餚肴餛馄餾馏饌馔饗飨駒驹駟驷"
    "駭骇騁骋騖骛騫骞驀蓦驊骅驛驿髖髋魎魉魘魇鮑鲍鮪鲔鯧鲳鰱鲢鰾鳔鱈鳕鱉鳖鱒鳟鱘鲟鳶鸢鴕鸵鵲鹊鶯莺鷺鹭鸛鹳麴曲"
)
_SIMPLE = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
_TRADITIONAL = regex(f"[{_PAIRS[::2]}]")
_LIMITS = (
    (0x3005, 0x3005),
    (0x3007, 0x3007),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2FA1F),
    (0x30000, 0x323AF),
)


def is_han(ch: str) -> bool:
    """Whether one character is Chinese: an ideograph, the repeat mark 々 or the zero 〇."""
    code = ord(ch)
    return any(first <= code <= last for first, last in _LIMITS)


def simplify(text: str) -> str:
    """Return `text` with frequent traditional characters in their simplified form.

    The length never changes. It serves matching, not display: what two words share in one
    form only, such as 乾, becomes the same on both sides. 著 is left alone, because 著名 is
    simplified already.
    """
    # `str.translate` takes twenty times as long, as it looks up each sign.
    return text if text.isascii() else _TRADITIONAL.sub(lambda sign: _SIMPLE[sign[0]], text)


_SPACE = regex(r"\s+")
_HAN_SPACE = regex(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")


def normalise(text: str) -> str:
    """Return `text` with compatibility forms, case and white space folded.

    Two texts that a reader would call the same words normalise to the same
    string; spaces between Chinese characters vanish.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _HAN_SPACE.sub("", _SPACE.sub(" ", folded).strip())


# What changes a meaning stays: the point of 1.5, the minus of -5, the plus of C++.
_MARKS = regex(
    r"[\s_]+|(?<=\d),(?=\d{3})|(?<!\d)[.,:/]|[.,:/](?!\d)|-(?!\d)|(?<=[^\W\d])-"
    r"|[^\w.,:/\-+#%@&$<>=^~|*€£¥]"
)


@keep_results(4096)
def letters_of(text: str) -> str:
    """Return the letters, hanzi and digits of a text in lower case, with nothing between them."""
    return "".join(filter(str.isalnum, text.casefold()))


@keep_results(4096)
def bare(text: str) -> str:
    """Return `text` as it is compared with what must not come back.

    Beyond `normalise`, punctuation and white space go and traditional characters
    become simplified ones, so that no other way to type a text is another text.
    """
    return _MARKS.sub("", simplify(normalise(text)))


_EMBLEMS = (0x1F150, 0x1F170, 0x1F1E6)
"""Where letters in black circles, in black squares and of flags begin."""
_LIKE = str.maketrans(
    {
        **dict(zip("абвгԁеһіјкӏмнорԛѕтуѵԝхүґє", "abbrdehijklmhopqstyvwxyre", strict=True)),
        **dict(zip("αβγεηικνορτυχωμ", "abyenikvoptuxwm", strict=True)),
        **dict(zip("ıɩɡɑɪʏᴍᴇᴏʀᴋꜱօոհյսց", "iigaiymeorksonhjug", strict=True)),
        **dict(zip("ꙇᎥഠဝ〇ǝɿɾᴦꞣ", "iioooerrrk", strict=True)),
        **{chr(first + n): chr(97 + n) for first in _EMBLEMS for n in range(26)},
        **dict.fromkeys("‹〈⟨《﹤˂ᐸ❮❬⟪≺〈«❰⧼˱ᚲ𝈶≪≤⩽", "<"),
        **dict.fromkeys("›〉⟩》﹥˃ᐳ❯❭⟫≻〉»❱⧽˲≫≥⩾", ">"),
        **dict.fromkeys("∕⁄⧸╱⟋᜵〳ノ丿⫽", "/"),
        **dict.fromkeys("∣│ǀ❘┃丨ⵏ¦ㅣ׀", "|"),
        **dict.fromkeys("‐‑‒–—―−﹣⁃ー一➖˗۔", "-"),
        **dict.fromkeys("▁＿‿", "_"),
        **dict.fromkeys("【［〔", "["),
        **dict.fromkeys("】］〕", "]"),
    }
)
_UNSEEN = frozenset("\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800\ufffc\ufffd")
"""Letters by name that nobody sees, and what stands for nothing."""
_NO_SIGNS = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me"))
"""Categories of what has no shape of its own: controls, marks, what no font knows."""


def appearance(text: str) -> tuple[str, list[int]]:
    """Return how a text looks, in small Latin letters, and where each sign of that stands.

    ``＜∕кimi‑memory`` looks like ``</kimi-memory``.
    """
    signs = [(seen, place) for place, sign in enumerate(text) for seen in _fold_sign(sign)]
    return "".join(seen for seen, _ in signs), [place for _, place in signs]


@lru_cache(maxsize=4096)
def _fold_sign(sign: str) -> str:
    if sign in _UNSEEN:
        return ""
    # Twice: a mathematical 𝛼 becomes a plain Greek α first, which looks like an "a" then.
    parts = unicodedata.normalize("NFKD", sign.translate(_LIKE)).casefold().translate(_LIKE)
    return "".join(part for part in parts if unicodedata.category(part) not in _NO_SIGNS)


_HAN_CHARACTER = regex(f"[{HAN}]")
# Code, addresses and identifiers have no language.
_NEUTRAL = regex(
    r"```.*?(?:```|\Z)|`[^`\n]*`|(?<!\w)\w+://[^\s，。；！？）】」]+"
    # Within a long word nothing begins: looking there again would take its length squared.
    r"|(?<![A-Za-z0-9-])[A-Za-z0-9-]*(?:[_./@:\\][A-Za-z0-9-]+)+",
    re.DOTALL | re.ASCII,
)
_WORD = regex(r"[A-Za-z]+(?:['’][a-z]+)?")
# Small words prove an English sentence; names of products and people prove nothing.
_SMALL_WORDS = (
    "a an and are as at be but by can could did do does for from had has have he her him his how "
    "i if in into is it its just me my need not of on or our please she should so than that the "
    "their them then there they this to us was we were what when where which who why will with "
    "would you your don't doesn't i'm it's can't"
)
_SMALL = frozenset(_SMALL_WORDS.split())


@keep_results(4096)
def language_of(text: str) -> Literal["zh", "en"]:
    """Return the language a reader would say `text` is in; English without letters.

    A Chinese sentence full of English product names is Chinese, an English one
    that quotes Chinese words is English.
    """
    prose = text if text.isascii() else _NEUTRAL.sub(" ", text)
    han = len(_HAN_CHARACTER.findall(prose))
    if not han:
        return "zh" if _HAN_CHARACTER.search(text) and not _WORD.search(prose) else "en"
    words = [word.lower() for word in _WORD.findall(prose)]
    small = sum(word in _SMALL for word in words)
    # A Chinese word has about 1.6 characters.
    return "zh" if han / 1.6 > len(words) * 0.35 + small * 1.5 else "en"


_WORDS = {
    **{f"{verb}nt": f"{verb}n't" for verb in ("do", "does", "did", "is", "are", "was", "were")},
    **{f"{verb}nt": f"{verb}n't" for verb in ("have", "has", "had", "would", "could", "should")},
    **{"cant": "can't", "wont": "won't", "aint": "ain't", "mustnt": "mustn't", "lets": "let's"},
    **{"im": "i'm", "ive": "i've", "youre": "you're", "youve": "you've", "youll": "you'll"},
    **{"theyre": "they're", "theyve": "they've", "weve": "we've", "hes": "he's", "shes": "she's"},
    **{"thats": "that's", "theres": "there's", "heres": "here's", "whats": "what's"},
    **{"wheres": "where's", "whos": "who's", "hows": "how's", "whens": "when's"},
}
"""Words that are nothing but a contraction; "its", "were", "well" and "ill" are words."""
_LEFT_OUT = regex(rf"(?<![\w'-])(?:{'|'.join(sorted(_WORDS))})(?![\w'-])")


def restore_apostrophes(low: str) -> str:
    """Return a text in lower case with the apostrophes of contractions: "dont" is "don't"."""
    return _LEFT_OUT.sub(lambda found: _WORDS[found[0]], low)


def fold_case(sentence: str) -> str:
    """Return a sentence in lower case with straight apostrophes, of the same length."""
    low = sentence.replace("’", "'").lower()
    # İ is two characters in lower case; places in the one must hold in the other.
    return low if len(low) == len(sentence) else sentence.replace("’", "'")
