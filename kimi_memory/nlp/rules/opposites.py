"""Opposite words: two statements that differ in one pair of them cannot both be true.

The one table of them. Of some pairs both may hold when nothing says that the statements are
about the same: "back up before, back up after". Only those of a value or claim that is
compared with an earlier one count these, see `kimi_memory.nlp.rules.values`.
"""

# ruff: noqa: E501, SIM905  lists of words are read by their groups, not by their width

from __future__ import annotations

import re
from functools import lru_cache

from kimi_memory.nlp.basic.patterns import normalise, regex, simplify

_EN = """
always/never  allow/forbid  allows/forbids  allowed/forbidden  allowed/prohibited  allowed/banned
permits/prohibits  permitted/prohibited  permitted/forbidden  accepts/rejects  accepted/rejected
accepts/refuses  accepted/refused  approved/rejected  enables/disables  enabled/disabled  like/hate
likes/hates  like/dislike  likes/dislikes  love/hate  loves/hates  prefer/avoid  prefers/avoids
public/private  required/optional  mandatory/optional  safe/unsafe  possible/impossible
succeeded/failed  passed/failed  works/fails  true/false  valid/invalid  agree/disagree
agrees/disagrees  agreed/disagreed  online/offline  synchronous/asynchronous  sync/async
everyone/nobody  everybody/nobody  all/none  keep/delete  keeps/deletes  with/without  must/cannot
trusts/distrusts  ascending/descending  manual/automatic  manually/automatically
encrypted/unencrypted  increased/decreased  raised/lowered
""".split()
_ZH = """
允许/禁止 允许/不准 可以/禁止 可以/不可以 准许/禁止 启用/停用 启用/禁用 同意/拒绝 同意/反对
接受/拒绝 批准/驳回 赞成/反对 支持/反对 喜欢/讨厌 爱吃/不吃 总是/从不 一直/从不 每次/从不
必须/不必 必须/禁止 必填/选填 公开/私有 公开/保密 安全/危险 成功/失败 通过/失败 有效/无效
在线/离线 同步/异步 升序/降序 手动/自动 加密/明文 保留/删除 全部/没有 所有人/没有人
""".split()
_EITHER = """
always never|enable disable|faster slower|fast slow|quick slow|love hate|like hate|like dislike|love dislike|pass fail|alive dead|public private
increase decrease|increased decreased|raised lowered|grow shrink|empty full|on off|upstairs downstairs|with not|with without|newest oldest|new old|mandatory optional|required optional
accept reject|accepted rejected|allow forbid|allowed forbidden|open closed|open close|start stop|more less|most least|first last|before after|above below|up down|left right
early late|earlier later|hot cold|high low|higher lower|include exclude|add remove|show hide|lock unlock|sync async|synchronous asynchronous|local remote|true false|yes no
buy sell|win lose|won lost|safe unsafe|visible hidden|active inactive|online offline|minimum maximum|min max|good bad|easy hard|strict loose|static dynamic|inside outside
indoors outdoors|internal external|short long|shorter longer|small large|big small|bigger smaller|cheap expensive|ascending descending|light dark|single multiple|manual automatic|encrypted plain
开启 关闭|打开 关闭|启用 禁用|启用 停用|快 慢|爱 讨厌|喜欢 讨厌|喜欢 厌恶|通过 失败|成功 失败|健 去世|活着 去世|公开 私密|公开 私有|提高 降低|上升 下降|增加 减少|空 满|楼上 楼下|新 旧|必须 可选|必 可选|必填 选填
接受 拒绝|同意 反对|允许 禁止|前 后|早 晚|大 小|多 少|高 低|长 短|加 减|显示 隐藏|买 卖|升 降|开 关|内 外|安全 危险|手动 自动|同步 异步|静态 动态|本地 远程|深色 浅色|升序 降序|有 无|支持 反对|便宜 贵|容易 难|保留 删除|进 出
"""
_STRICT = tuple(tuple(pair.split("/")) for pair in (*_EN, *_ZH))
PAIRS = frozenset(map(frozenset, _STRICT)) | {
    frozenset(pair.split()) for line in _EITHER.strip().splitlines() for pair in line.split("|")
}
"""Every pair of opposite words."""
_SPACE = regex(r"[\s,.;:!?，。；：！？、\"'“”‘’]+")


def opposed(one: str, two: str) -> bool:
    """Whether two statements are the same but for one word and its opposite."""
    first, second = _normalise_text(one), _normalise_text(two)
    # Only one word may differ: "always back up" and "never delete" are not opposed.
    return first != second and any(
        _is_swapped(first, a, b, second) or _is_swapped(first, b, a, second) for a, b in _STRICT
    )


def _normalise_text(text: str) -> str:
    return _SPACE.sub(" ", simplify(normalise(text))).strip()


def _is_swapped(text: str, word: str, other: str, wanted: str) -> bool:
    """Whether one use of a word, replaced by the other, makes the wanted text."""
    if word not in text or other not in wanted:
        return False
    return any(
        f"{text[: found.start()]}{other}{text[found.end() :]}" == wanted
        for found in _word_pattern(word).finditer(text)
    )


@lru_cache(maxsize=512)
def _word_pattern(word: str) -> re.Pattern[str]:
    """Return what finds a word as a whole; Chinese words have no borders."""
    return re.compile(rf"\b{word}\b" if word.isascii() else word)
