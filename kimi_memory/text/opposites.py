"""Opposite words: two statements that differ in one pair of them cannot both be true."""

# ruff: noqa: SIM905  lists of words are read by their groups

from __future__ import annotations

import re
from functools import lru_cache

from kimi_memory.text.han import simplify
from kimi_memory.text.normal import normalise
from kimi_memory.text.regex import regex

# Both of a pair such as start/stop or before/after may hold: "back up before, back up after".
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
_PAIRS = tuple(tuple(pair.split("/")) for pair in (*_EN, *_ZH))
_SPACE = regex(r"[\s,.;:!?，。；：！？、\"'“”‘’]+")


def opposed(one: str, two: str) -> bool:
    """Whether two statements are the same but for one word and its opposite."""
    first, second = _plain(one), _plain(two)
    return first != second and any(
        _swapped(first, a, b, second) or _swapped(first, b, a, second) for a, b in _PAIRS
    )


def _plain(text: str) -> str:
    return _SPACE.sub(" ", simplify(normalise(text))).strip()


def _swapped(text: str, word: str, other: str, wanted: str) -> bool:
    """Whether one use of a word, replaced by the other, makes the wanted text."""
    if word not in text or other not in wanted:
        return False
    return any(
        f"{text[: found.start()]}{other}{text[found.end() :]}" == wanted
        for found in _whole(word).finditer(text)
    )


@lru_cache(maxsize=512)
def _whole(word: str) -> re.Pattern[str]:
    """Return what finds a word as a whole; Chinese words have no borders."""
    return re.compile(rf"\b{word}\b" if word.isascii() else word)
