"""What agents and tools say on the way: what comes next, and that something was done."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import sentences

LONGEST = 300
"""A longer message of an agent says more than what comes next."""
_LEAD = (
    r"^\W*(?:(?:good|great|perfect|excellent|ok(?:ay)?|sure|right|alright|yes|now|next|first|then|so|and"
    r"|absolutely|understood|got it|of course|done|thanks?(?: you)?|fair point"
    r"|(?:great|good|nice) (?:question|idea|direction|point|catch|call))\b[\s,.!:—–-]{0,40}){0,4}"
)
# "Let me know", "I'll be honest" and 我来自 are no steps of work.
_NEXT = regex(
    _LEAD
    + r"(?:let me (?!know|be |put it|stress)|i'll (?!be |have |never|always|not)|i will (?!be |have |never|always|not)"
    r"|i'm (?:now |also )?going to |i need to |now i (?:need|have to|will|want to)|let's (?:start|begin|see|look|check|first) ?"
    r"|i'm (?:now |also )?(?:checking|reading|looking|searching|running|updating|starting))"
    r"|^\W*(?:好的?|可以|行|没问题|明白|收到|现在|接下来|首先|然后)?[，,。！ ]{0,2}(?:现在|接下来|首先|然后)?"
    r"(?:正在|让我(?!们?[想觉])|我(?:来(?!自)|先|这就|马上|现在就?(?:去|来|开始)|接下来|将(?:先|会)?|会先)|我们先来)",
    2,
)
_NOD = regex(
    _LEAD
    + r"(?:\W*$|i (?:now )?have (?:everything|what i need|(?:the |a )?(?:full|complete|clear) (?:context|picture))"
    r"|the (?:\w+ ){0,2}(?:section|file|part|step|function|one)s?\W*$)"
    r"|^\W*(?:好的?|可以|行|没问题|明白了?|收到|完成了?)\W*$",
    2,
)
_ECHO = regex(
    r"^\W*(?:todos? (?:list )?(?:has|have) been|(?:the )?(?:file|edit|todo|task|change|directory|folder)\b.{0,200}?"
    r"\b(?:has been |was |were |have been )?(?:created|updated|modified|written|saved|applied|deleted|removed)\b"
    r"(?: success\w*)?|success(?:fully)?\b|exit code:? ?0\W*$|no (?:matches|files|results|output)\b"
    r"|found \d+ (?:files?|match(?:es)?)|wrote \d+ (?:bytes|lines)|\(?(?:no|empty) (?:content|output)\)?\W*$"
    r"|ok\W*$|done\W*$|(?:文件|任务|待办)(?:列表)?已(?:经)?(?:成功)?(?:创建|更新|修改|写入|保存|删除)|(?:操作|写入|保存)成功)",
    2,
)
_NAME = regex(
    r"^\s*(?:[-dlrwx]{10}\s.*|(?:[-*├└│─]\s{0,8}){0,20}[\w./\\@~-]{0,300}(?:/|\.\w{1,8}))\s*$"
)
"""A name of a file or a folder, or a line of a long list of files."""


_MARKER = regex(
    r"^\s*\[(?:request interrupted|no response|image|local command|command output)[^\]]{0,80}\]\s*$",
    2,
)
_UNDER_WAY = regex(
    _LEAD
    + r"(?:i'm |i am |currently )?(?:creat|implement|updat|add|fix|remov|modify|prepar|provid|organi[sz]|inspect|consider|plann|review|check|runn|start|scann|search|evaluat|simplify|mov|delet|deploy|install|refactor|build|test|verify|analy[sz]|explor|investigat|sett|rewrit|generat|committ|push|read|look|wir|apply|proceed|mak|writ|mark|finali[sz]|complet|restructur|adjust|clean|replac|renam|convert|integrat|fetch|locat|identify|examin|document|summari[sz])ing\b"
    # "Adding it by hand creates two attempts" tells what comes of it.
    r"(?!.{0,240}\b(?:is|are|was|were|has|have|would|will|creates?|causes?|ensures?|means|requires?|allows?|helps?|gives?|makes?|fixe[sd]|solved|works|breaks|needs?|because|since)\b)",
    2,
)


def is_marker(text: str) -> bool:
    """Whether a program wrote a turn in the person's place: "[Request interrupted by user]"."""
    return _MARKER.search(text) is not None


def only_announces(text: str) -> bool:
    """Whether a message of an agent says what it is about to do, and nothing else."""
    plain = text.replace("’", "'")
    if len(plain) > LONGEST:
        return False
    said = [plain[start:end].strip() for start, end in sentences(plain)]
    steps = [one for one in said if not _NOD.search(one)]
    return bool(steps) and all(_NEXT.search(one) for one in steps)


def only_echoes(text: str) -> bool:
    """Whether the output of a tool says that it worked, or lists files, and nothing else."""
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and _ECHO.search(lines[0]) and len(text) <= 2 * LONGEST:
        return True
    return len(lines) > 1 and all(_NAME.match(line) for line in lines)


def is_under_way(text: str) -> bool:
    """Whether a sentence only says what is being done: "Updating the version strings"."""
    return _UNDER_WAY.search(text.replace("’", "'")) is not None
