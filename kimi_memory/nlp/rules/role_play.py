"""Talk that is a game or a scene: who somebody is in it, and what they decide, is not so."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterable

from kimi_memory.nlp.basic.patterns import regex

# What begins one, and not what speaks of one: an ads campaign is run, a text adventure written.
_OPENS = regex(
    r"\byou(?:'re| are| will be| act as| play) (?:the |an? |my |our )?(?:dungeon master|game master|dm|gm|narrator)\b"
    r"|\b(?:act|behave) (?:as|like) (?:the |an? )?(?:(?:[\w-]+ ){0,3}(?:game|adventure|rpg)|dungeon master|game master)\b"
    r"|\blet'?s (?:role-?play|play (?:an? |the |some )?(?:[\w&-]+ ){0,4}(?:game|adventure|rpg|dnd|d&d))\b|\b(?:i (?:want|would like|'d like) (?:you )?to|can (?:we|you)) role-?play\b"
    r"|\bplay(?:ing)? (?:an? |the |my |our )?(?:[\w-]+ ){0,3}(?:rpg|dnd|d&d|adventure game|single player game|simulation game|text adventure)\b|\b(?:start|run|continue) (?:an? |the |my |our )?(?:[\w-]+ ){0,2}(?:rpg|dnd|d&d)\b"
    r"|\b(?:play|start|run) (?:an? |the )?choose your own adventure\b|\bstay in character\b"
    r"|(?:来|一起|开始|进行)(?:玩|做)?(?:一[个場场局款])?角色扮演|(?:来|一起|开始|继续)跑团|(?:我们来|一起|来)玩(?:一[个款场局])?[^，。]{0,16}游戏"
    r"|(?:表现得?像|扮演|充当|作为)(?:是)?(?:一[个款])?[^，。]{0,8}(?:文字|文本|冒险)[^，。]{0,8}游戏|你(?:来|现在)?(?:扮演|饰演)(?!(?:一[位名个])?(?:专业|资深|专家|顾问|工程师|老师))",
    2,
)
_FIRST = 3
"""It is opened in one of the first turns of a person."""
# *She opens the door.* and (I hide the key), at the start of what somebody says, or at the end of
# the only line of it.
_DOES = regex(
    r"\A\W?(?:[(（][^()（）\n]{6,600}[)）]|\*(?!\*)\w[^*\n]{5,600}\*(?!\*))"
    r"|\A[^\n]{1,1000}(?:[(（][^()（）\n]{6,600}[)）]|(?<!\*)\*(?!\*)\w[^*\n]{5,600}\*)[.!。]?\s*\Z"
)
_SEVERAL = 3
"""So many turns that tell what a figure does make a scene, if they are half of all."""


def opens_scene(spoken: Iterable[str]) -> bool:
    """Whether a talk is a game or a scene: "you are the dungeon master", (I hide the key).

    Args:
        spoken: the turns of a person, in order.
    """
    said = [text.replace("’", "'").strip() for text in spoken]
    if any(_OPENS.search(text) for text in said[:_FIRST]):
        return True
    acted = sum(_DOES.search(text) is not None for text in said)
    return acted >= max(_SEVERAL, len(said) / 2)
