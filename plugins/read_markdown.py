"""Conversations as plain Markdown or text: exports, logs and pasted chats.

Why it exists: what people save of a chat is seldom JSON. A file is a transcript when
its head opens at least two turns in one of the styles below, both of a user and of an
assistant where the style names roles (one turn is enough for the first style):

* ``_**User (2026-03-01 10:00:00Z)**_`` as SpecStory writes it
* ``## User`` / ``### 助手 (2026-03-01)``
* ``**User:** text`` / ``**助手：** text``
* ``User: text`` / ``用户：text``
* ``[2026-03-01 10:00] 张三: text``
* ``张三 2026-03-01 10:00`` or ``2026-03-01 10:00 张三`` over the text, as chat programs export

Only openings of the file's own style count, and none inside a code fence or a tool
block. A *spoken turn* is an opening of a user, an assistant or a named person with text
left after thoughts, tool calls and command lines are taken out; sub-agents
(``Agent - sidechain``), tools and systems do not speak. Named people are not known
to be the owner: their words have the origin ``import``.
"""

from __future__ import annotations

import codecs
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import PurePath

from kimi_memory import hookimpl
from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import CODING_RECORDER, Session, Transcript, Turn
from kimi_memory.formats.transcripts import TurnRefs, file_date, name_by_words
from kimi_memory.nlp.dates.timestamps import find_moment, moment

_USERS = "user|human|you|me|用户|我|人类|提问者|问"
_AGENTS = (
    "assistant|agent|ai|bot|chatgpt|gpt-?[\\w.]*|claude|codex|copilot|gemini|kimi|deepseek"
    "|助手|助理|机器人|智能体|答"
)
_OTHERS = "system|tool|developer|系统|工具"
_ROLE = f"(?P<role>{_USERS}|{_AGENTS}|{_OTHERS})"
_MARK = r"(?:\s*[(（](?P<mark>[^)）]*)[)）])?"
# `2026-03-01 10:00`, `2026/3/1 9:05:30 PM`, `2026年3月1日 星期日 下午 3:05`.
_WHEN = (
    r"(?P<when>\d{4}[-/.年]\s?\d{1,2}[-/.月]\s?\d{1,2}日?[T ,]*(?:(?:星期|周).\s*)?"
    r"(?:上午|中午|下午|凌晨|晚上|早上)?\s?\d{1,2}[:：]\d{2}(?:[:：]\d{2})?(?:\s?[AaPp][Mm])?)"
)
# A name begins with no digit and no sign of Markdown, and holds no colon: `12:30`, `- item`.
_NAME = r"(?P<name>[^\s\d:：#>*|\[\]()<`\"'-][^:：|<>`\"]{0,30}?)"
# In this order: a heading that names a role would be a plain line of it, too.
_STYLES = {
    "specstory": rf"_\*\*{_ROLE}(?P<side> - \w+)?(?: \((?P<mark>[^)]*)\))*\*\*_\s*",
    "heading": rf"#{{1,4}} (?:\W{{1,3}} )?\**{_ROLE}\**{_MARK}\**\s*[:：]?\s*",
    "bold": rf"\*\*{_ROLE}{_MARK}(?:\s*[:：]\s*\*\*|\*\*\s*[:：])(?P<text>.*)",
    # `tool://host` is an address, no turn.
    "plain": rf"{_ROLE}{_MARK}\s*[:：](?!//)(?P<text>.*)",
    "chat": rf"\[{_WHEN}\]\s*{_NAME}\s*[:：](?P<text>.*)",
    "export": rf"{_NAME}\s+{_WHEN}\s*",
    "stamped": rf"{_WHEN}\s+{_NAME}\s*",
}
_NAMED = ("chat", "export", "stamped")
# "2026-03-01 10:00 ERROR" has the form of a name with a time: a log is no chat.
_LEVELS = frozenset(
    ["trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical"]
)
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_JOINT = re.compile(r"\d{4}-\d\d-\d\d(?P<joint>\D)")
_TAKEN_OUT = re.compile(
    r"<(?P<tag>think|command-(?:name|message|args)|local-command-[a-z]+|system-reminder"
    r"|bash-(?:input|stdout|stderr))>.*?(?:</(?P=tag)>|\Z)",
    re.DOTALL,
)
_IMAGE = re.compile(r"^User provided an image \([\w/+.-]+\)\.\s*$", re.MULTILINE)
_TOOL_TURN = re.compile(r"Tool use: \*\*|\*\*Agent task list:\*\*|Result:\s*\n")
"""How older SpecStory files begin a turn that only shows what a tool did."""
_SIDE = "sidechain"
"""Marks what another agent heard and said."""
# A line that programs draw between turns; nobody said it.
_RULE = re.compile(r"(?:\A|\n)[ \t]*(?:---+|\*\*\*+|___+)\s*\Z")
_TITLE = re.compile(rf"#{{1,2}} \S.{{0,300}} \({_WHEN}\)\s*")
"""The title of a session in a file of several: its turns have no times of their own."""
_SESSION = re.compile(r"<!-- (?P<program>[\w ]+?) Session (?P<id>[\w.-]+)(?: \([^)]*\))? -->")
_MEMBER = re.compile(
    r"(?P<key>title|project|session_id|session|标题|项目)\s*[:：]\s*(?P<value>\S.*)"
)
_KEYS = {"标题": "title", "项目": "project", "session_id": "session"}
_MODEL_DATE = re.compile(r"(?<![\w.-])[a-z][\w.]{0,40}(?:-[\w.]{1,40}){1,8}", re.IGNORECASE)
"""A model's name may end in a date: ``claude-opus-4-5-20251101``."""
_SUFFIXES = frozenset({"", ".md", ".markdown", ".txt", ".text"})


@hookimpl
def read_transcript(file: TranscriptFile) -> Iterable[Transcript] | None:
    """Read a Markdown or text transcript; None for any other file."""
    if PurePath(file.name).suffix.lower() not in _SUFFIXES or b"\0" in file.head:
        return None
    encoding = _detect_encoding(file.head)
    lines = file.head.decode(encoding, "replace").splitlines()
    style = next((name for name in _STYLES if _fits_style(name, lines)), None)
    return _read_sessions(file, style, encoding) if style is not None else None


@dataclass(slots=True)
class _Growing:
    """The session while its lines are read."""

    style: str
    at: datetime
    joint: str = ""
    """What stands between date and time in the openings of this file."""
    opening: re.Match[str] | None = None
    lines: list[str] = field(default_factory=list)
    is_fenced: bool = False
    is_tool: bool = False
    turns: list[Turn] = field(default_factory=list)
    refs: TurnRefs = field(default_factory=TurnRefs)
    preamble: list[str] = field(default_factory=list)

    def read(self, line: str) -> None:
        """Take one line, which opens a turn, belongs to one, or comes before the first."""
        opening = self._find_opening(line)
        if opening is not None:
            title = self._take_title()
            self.close()
            self.at = (_parse_time(title) if title else None) or self.at
            self.opening, self.is_fenced = opening, False
            self.lines = [opening.groupdict().get("text") or ""]
        elif self.opening is None:
            self.preamble.append(line[:500])
            del self.preamble[200:]
        elif not self._is_tool(line):
            self.is_fenced ^= bool(_FENCE.match(line))
            self.lines.append(line)

    def close(self) -> None:
        """Make a turn of the lines since the last opening, if something was said."""
        if self.opening is None:
            return
        self.at = _parse_time(self.opening) or self.at
        role, origin, speaker = _parse_speaker(self.opening)
        text = _TAKEN_OUT.sub("", "\n".join(self.lines)).strip()
        text = _RULE.sub("", text).strip()
        # A turn that is nothing but an image keeps its remark, or it would be lost.
        text = _IMAGE.sub("", text).strip() or text
        if role == Role.ASSISTANT and self.style == "specstory" and _TOOL_TURN.match(text):
            return
        if role is not None and text:
            ref = self.refs.make_ref(role, speaker, text)
            at, n = self.at, len(self.turns) + 1
            self.turns.append(Turn(n, at, role, text, speaker=speaker, origin=origin, ref=ref))

    def _find_opening(self, line: str) -> re.Match[str] | None:
        is_hidden = self.is_fenced and self.style != "specstory"
        # The patterns of names try every place of a line; no opening is that long.
        if self.is_tool or is_hidden or (len(line) > 10_000 and self.style != "plain"):
            return None
        found = _match_opening(self.style, line)
        if found is None or self.style != "specstory":
            return found
        # A quoted transcript of another version writes its times differently.
        joint = _JOINT.search(found["mark"] or "")
        if joint is None:
            return found
        self.joint = self.joint or joint["joint"]
        return found if joint["joint"] == self.joint else None

    def _take_title(self) -> re.Match[str] | None:
        """Take the title of the next session off what was read; it stands right above its turns."""
        lines = self.lines if self.opening is not None else self.preamble
        last = next((at for at in reversed(range(len(lines))) if lines[at].strip()), 0)
        if self.style != "specstory" or self.is_fenced or not lines or len(lines[last]) > 500:
            return None
        title = _TITLE.fullmatch(lines[last])
        if title is not None and lines is self.lines:
            del lines[last:]
        return title

    def _is_tool(self, line: str) -> bool:
        """Whether a line belongs to a tool block; SpecStory puts each in one element."""
        if self.style != "specstory":
            return False
        was, opens = self.is_tool, line.startswith("<tool-use")
        if was or opens:
            self.is_tool = "</tool-use>" not in line
        return was or opens


@cache
def _style_pattern(style: str) -> re.Pattern[str]:
    return re.compile(_STYLES[style], re.IGNORECASE)


def _match_opening(style: str, line: str) -> re.Match[str] | None:
    found = _style_pattern(style).fullmatch(line.rstrip())
    if found is None or style not in _NAMED:
        return found
    return None if found["name"].strip().lower() in _LEVELS else found


def _fits_style(style: str, lines: list[str]) -> bool:
    """Whether the head opens enough turns in a style to be a transcript of it."""
    found = [
        match for line in lines if len(line) <= 10_000 and (match := _match_opening(style, line))
    ]
    if style == "specstory":
        return bool(found)
    if style == "stamped":  # a diary looks the same, but nobody speaks twice in it
        names = Counter(_plain_name(match["name"]) for match in found)
        return any(count > 1 for count in names.values())
    if style in _NAMED:
        return len(found) > 1
    roles = {_parse_speaker(match)[0] for match in found}
    return {Role.USER, Role.ASSISTANT} <= roles


def _parse_speaker(opening: re.Match[str]) -> tuple[Role | None, Origin, str]:
    """Return role, origin and name of who speaks; no role for those who do not."""
    found = opening.groupdict()
    name = (found.get("role") or found.get("name") or "").strip()
    if found.get("side") or found.get("mark") == _SIDE:
        return None, Origin.IMPORT, ""
    if re.fullmatch(_USERS, name, re.IGNORECASE):
        return Role.USER, Origin.HUMAN, ""
    if re.fullmatch(_AGENTS, name, re.IGNORECASE):
        return Role.ASSISTANT, Origin.AGENT, ""
    if re.fullmatch(_OTHERS, name, re.IGNORECASE):
        return None, Origin.IMPORT, ""
    return Role.USER, Origin.IMPORT, _plain_name(name)


def _plain_name(name: str) -> str:
    """Return a name without the number that chat programs put after it."""
    return re.sub(r"\s*[(（]\d+[)）]$", "", name.strip())


def _parse_time(opening: re.Match[str]) -> datetime | None:
    found = opening.groupdict()
    if found.get("when"):
        return moment(found["when"])
    return find_moment(_MODEL_DATE.sub("", found.get("mark") or ""))


def _detect_encoding(head: bytes) -> str:
    """Return UTF-8 or, for other bytes, the encoding that older Chinese programs write."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "gb18030"
    return "utf-8-sig"


def _read_sessions(file: TranscriptFile, style: str, encoding: str) -> Iterator[Transcript]:
    with io.TextIOWrapper(file.open(), encoding, "replace") as stream:
        growing = _Growing(style, file_date(file, stream.buffer))
        for line in stream:
            growing.read(line.rstrip("\r\n"))
        growing.close()
    if growing.turns:
        yield Transcript(_make_session(file, growing), tuple(growing.turns))


def _make_session(file: TranscriptFile, growing: _Growing) -> Session:
    path = PurePath(file.name.replace("\\", "/"))
    members = _parse_preamble(growing.preamble)
    first = growing.turns[0]
    made = name_by_words(path.stem, first)
    if ".specstory" in path.parts[1:]:
        members.setdefault("project", path.parts[path.parts.index(".specstory") - 1])
    return Session(
        members.get("session") or made,
        first.at,
        agent=members.get("agent", ""),
        project=members.get("project", ""),
        host=CODING_RECORDER if growing.style == "specstory" else "markdown",
        title=members.get("title", "")[:120],
    )


def _parse_preamble(preamble: list[str]) -> dict[str, str]:
    """Return what stands above the first turn: title, project, session, agent."""
    found: dict[str, str] = {}
    for line in preamble:
        if header := _SESSION.search(line):
            # The same session may come from the host's own file: keep the two apart.
            found["session"] = f"specstory-{header['id']}"
            found["agent"] = header["program"].split()[0].lower()
        elif line.startswith("# "):
            found.setdefault("title", line[2:].strip())
        elif member := _MEMBER.fullmatch(line.strip()):
            key = _KEYS.get(member["key"], member["key"])
            found.setdefault(key, member["value"].strip().strip("\"'"))
    return found
