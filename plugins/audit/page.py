"""The page of an audit: stores of memories in the owner's home, and what rots in one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory.domain.plugin_page import Given, PluginPage
from kimi_memory.errors import NotFoundError

from .report import audit

if TYPE_CHECKING:
    from kimi_memory import Memory

SHOWN = 100
_PLACES = (
    ".claude/CLAUDE.md", ".claude/projects/*/memory", ".claude-mem/claude-mem.db",
    ".codex/AGENTS.md", ".codex/memories", ".gemini/GEMINI.md", ".mem0", ".memex",
    ".openclaw/workspace", ".config/opencode/AGENTS.md",
)  # fmt: skip
"""Where agent programs keep what they remember, below the home directory."""
_TEMPLATE = '{% include "plugins/audit.html.j2" %}'
_LABELS = {
    "audit_help": (
        "Looks for what is outdated, twice there or contradictory, here or in the memory of "
        "another program on this machine. Nothing is changed.",
        "查找过时、重复、矛盾的内容：这里的，或本机别的程序的记忆。什么都不会改。",
    ),
    "store": ("Store", "记忆库"),
    "this_memory": ("This memory", "这个记忆"),
    "look": ("Look for it", "开始审计"),
    "statements": ("statements", "条陈述"),
    "findings": ("Found", "发现"),
    "no_rot": ("Nothing was found.", "没有发现问题。"),
    "not_read": ("not read", "没有读"),
    "no_stores": (
        "No memory of another program lies in your home directory.",
        "您的主目录里没有别的程序的记忆。",
    ),
    "secret": ("secret", "密钥"),
    "re-captured": ("taken in again", "重复录入"),
    "contradiction": ("contradiction", "矛盾"),
    "duplicate": ("duplicate", "重复"),
    "near-duplicate": ("nearly the same", "近似重复"),
    "stale": ("outdated", "过时"),
    "no-evidence": ("no evidence", "没有依据"),
    "language": ("other language", "语言不一"),
    "unreadable": ("cannot be read", "读不了"),
}


def audit_page() -> PluginPage:
    """Return the page."""
    return PluginPage(
        name="audit", titles=("Audit", "审计"), template=_TEMPLATE, find=_find, labels=_LABELS
    )


def _find(memory: Memory, given: Given) -> Mapping[str, object]:
    home = Path.home()
    stores = list(find_stores(home))
    store = (given.get("store") or ("",))[-1]
    if store and store not in stores:
        # Chosen from the list and never typed: a page must not look at any file there is.
        raise NotFoundError("store in the list", store[:80])
    root = home / store.removeprefix("~/") if store else memory.root
    report = audit(root, memory.host, memory.now()) if given.get("go") else None
    return {"stores": stores, "store": store, "report": report, "shown": SHOWN}


def find_stores(home: Path) -> Iterator[str]:
    """Yield the stores of agent programs below a home directory, such as ``~/.codex/AGENTS.md``."""
    inside = home.resolve()
    for place in _PLACES:
        for path in sorted(home.glob(place)):
            # A link may lead out of the home directory.
            if path.resolve().is_relative_to(inside):
                yield f"~/{path.relative_to(home).as_posix()}"
