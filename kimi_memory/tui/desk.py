"""The memory of the panel, asked by one thread at a time, and the words of the panel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeVar

from kimi_memory.api.memory import Memory
from kimi_memory.formats.chinese import translate_finding, translate_message
from kimi_memory.formats.terms import TERMS

T = TypeVar("T")


class Desk:
    """Hands questions to a memory, one after the other.

    Args:
        memory: an open memory; it is closed by its opener.
        lang: ``en`` or ``zh``.
    """

    def __init__(self, memory: Memory, lang: str) -> None:
        self.memory = memory
        self.say: Mapping[str, str] = phrases(lang)
        """The panel's own words, by name."""
        self.tell: Callable[[str], str] = translate_message if lang == "zh" else str
        """Says a message of the library in the language of the panel …"""
        self.tell_finding: Callable[[str], str] = translate_finding if lang == "zh" else str
        """… and what a check found."""
        self._one = threading.Lock()

    def ask(self, question: Callable[[], T]) -> T:
        """Return the answer to a question; others wait meanwhile."""
        with self._one:
            return question()


LANGUAGES = ("en", "zh")

_TEXTS: Mapping[str, tuple[str, str]] = {
    # Tabs
    "held": ("Held", "认定"),
    "search": ("Search", "搜索"),
    "review": ("Review", "待审"),
    "sessions": ("Sessions", "会话"),
    "jobs": ("Jobs", "作业"),
    # Keys
    "key_find": ("search", "搜索"),
    "key_accept": ("accept", "接受"),
    "key_reject": ("reject", "拒绝"),
    "key_edit": ("edit", "改"),
    "key_forget": ("forget", "遗忘"),
    "key_undo": ("undo", "撤销"),
    "key_daily": ("daily", "每日"),
    "key_weekly": ("weekly", "每周"),
    "key_checks": ("checks", "体检"),
    "key_reload": ("reload", "刷新"),
    "key_all": ("replaced too", "含旧的"),
    "key_help": ("keys", "键"),
    "key_quit": ("quit", "退出"),
    "key_both": ("both", "都对"),
    "key_neither": ("neither", "都不对"),
    # What stands in lists and beside them
    "in_all": ("{count} of {total}", "{count} / {total}"),
    "nothing": ("Nothing here.", "这里还没有内容。"),
    "reading": ("Reading …", "正在读……"),
    "conflict": ("conflict", "冲突"),
    "side": ("{number} is right", "{number} 这个对"),
    "open": ("open", "开着"),
    "ended": ("ended", "已结束"),
    "turns": ("{count} turns", "{count} 轮"),
    "since": ("since {day}", "自 {day}"),
    "said_by": ("{mark} {who} {at}", "{mark} {who} {at}"),
    "states": ("What was so", "历史"),
    "because": ("because", "因为"),
    "to": ("to", "写进"),
    "beliefs": ("what it believes", "我相信什么"),
    "abilities": ("what it can do", "我的能力"),
    "problem": ("Cannot be accepted: {why}", "不能接受：{why}"),
    "score": ("Score {score}", "得分 {score}"),
    "file": ("File", "文件"),
    "gone": ("the session is gone", "会话已不在"),
    "finding": ("finding", "发现"),
    "healthy": ("Every check passed.", "检查全部通过。"),
    "ask": ("Ask or search", "提问或搜索"),
    "filter": ("Words or filters, such as type:decision", "词或筛选，如 type:decision"),
    "more": ("{count} lines more", "还有 {count} 行"),
    "books": ("records: {path}", "记录：{path}"),
    # Decisions
    "sure": ("y does it · Esc leaves it", "y 执行 · Esc 不动"),
    "no_change": ("It would change nothing.", "不会有变化。"),
    "would_forget": ("Forget this?", "遗忘这条？"),
    "would_undo": ("Take this back?", "撤销这次作业？"),
    "would_run": ("Run {kind}?", "运行{kind}？"),
    "would_settle": ("Settle it so?", "这样裁决？"),
    "would_correct": ("Correct it so?", "这样更正？"),
    "done": ("Done: {what}. u takes it back.", "已完成：{what}。按 u 撤销。"),
    "undone": ("Taken back: {what}", "已撤销：{what}"),
    "nothing_done": ("Nothing was done here yet.", "这里还没有做过什么。"),
    "unchanged": ("Nothing was changed.", "没有改动。"),
    # Lines of at most 50 columns: in a narrow panel a key would be parted from its word.
    "help": (
        "1-5 tabs   j k rows   Enter the text   Esc back\n"
        "/ search   o replaced too   r reload   q quit\n"
        "a accept   x reject   e edit in $EDITOR\n"
        "f forget   u undo the last\n"
        "In a conflict: 1 2 … which side is right\n"
        "b both   v neither\n"
        "d daily   w weekly   h every check\n"
        "What changes much shows its diff first.\n"
        "y does it; Esc and Enter leave it.",
        "1-5 换页   j k 上下   Enter 看正文   Esc 返回\n"
        "/ 搜索   o 含旧的   r 刷新   q 退出\n"
        "a 接受   x 拒绝   e 用 $EDITOR 改\n"
        "f 遗忘   u 撤销上一个\n"
        "在冲突里：1 2 …… 哪个对\n"
        "b 都对   v 都不对\n"
        "d 每日   w 每周   h 全部检查\n"
        "改动大的先给看差异。\n"
        "按 y 才执行；Esc 和 Enter 不动。",
    ),
}


@lru_cache(maxsize=2)
def phrases(lang: str) -> Mapping[str, str]:
    """Return the texts of a language by name."""
    at = LANGUAGES.index(lang)
    return {name: texts[at] for name, texts in {**TERMS, **_TEXTS}.items()}
