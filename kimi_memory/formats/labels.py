"""Labels of note bodies in Chinese and English.

A label's name is that of the attribute it belongs to; the parser reads either
language whatever the note's own language is.
"""

from __future__ import annotations

from kimi_memory.domain.note import Lang

_WORDS: dict[str, tuple[str, str]] = {
    # Titles
    "event": ("事件", "Event"),
    "digest": ("会话摘要", "Session digest"),
    "project": ("项目", "Project"),
    "agent": ("智能体", "Agent"),
    "identity": ("核心身份", "Core identity"),
    "day": ("日志", "Day"),
    "proposal": ("提议", "Proposal"),
    "session": ("会话", "Session"),
    # Events
    "at": ("时间", "Time"),
    "type": ("类型", "Type"),
    "participants": ("参与者", "Participants"),
    "content": ("内容", "Content"),
    "outcome": ("结果", "Outcome"),
    "lesson": ("教训", "Lesson"),
    # Digests
    "asked": ("提出的事", "Asked"),
    "ordered": ("要求", "Orders"),
    "decided": ("决定", "Decided"),
    "told": ("说到的事", "Told"),
    "found": ("查到和做了的（智能体自述）", "Found and done (the agent's account)"),
    "open": ("还没完", "Open"),
    # Cards
    "value": ("定义", "Definition"),
    "applies": ("适用场景", "When to use"),
    "usage": ("使用方法", "How to use"),
    "caveats": ("注意事项", "Caveats"),
    "links": ("相关链接", "Links"),
    "quotes": ("证据", "Evidence"),
    # Projects
    "goal": ("项目目标", "Goal"),
    "state": ("现状", "State"),
    "risks": ("风险", "Risks"),
    "progress": ("进度", "Progress"),
    "todos": ("待办", "To do"),
    "decisions": ("决策", "Decisions"),
    "preferences": ("偏好", "Preferences"),
    # Agents
    "persona": ("人设", "Persona"),
    "skills": ("技能", "Skills"),
    "relationships": ("关系", "Relationships"),
    # Identity
    "who": ("我是谁", "Who I am"),
    "beliefs": ("我相信什么", "What I believe"),
    "mission": ("我的使命", "My mission"),
    "abilities": ("我的能力", "My abilities"),
    "growth": ("我的成长", "My growth"),
    # Days
    "sessions": ("当日会话", "Sessions"),
    "events": ("当日事件", "Events"),
    "knowledge": ("新增知识", "Knowledge"),
    # Proposals
    "target": ("目标", "Target"),
    "section": ("章节", "Section"),
    "text": ("提议内容", "Proposed text"),
    "reason": ("理由", "Reason"),
    # Kinds of events, as people read them
    "decision": ("决策", "decision"),
    "finding": ("发现", "finding"),
    "failure": ("失败", "failure"),
    "success": ("成功", "success"),
}

_ALSO: dict[str, tuple[str, ...]] = {
    "todos": ("待办事项", "todo", "to-do", "to-dos", "todos"),
    "progress": ("项目进度",),
    "preferences": ("用户偏好",),
    "outcome": ("result",),
    "lesson": ("lessons",),
    "value": ("what it is",),
    "sessions": ("会话",),
    "events": ("事件",),
    "knowledge": ("知识",),
    "skills": ("技能进展",),
    "persona": ("角色",),
    "agent": ("代理",),
}


def label(name: str, lang: Lang) -> str:
    """Return the words for a label in a language."""
    chinese, english = _WORDS[name]
    return chinese if lang is Lang.ZH else english


def spellings(name: str) -> frozenset[str]:
    """Return every spelling the parser takes for a label, folded."""
    return frozenset(fold(word) for word in (*_WORDS[name], *_ALSO.get(name, ())))


def fold(text: str) -> str:
    """Return a label as it is compared: case and white space do not count."""
    return " ".join(text.split()).casefold()
