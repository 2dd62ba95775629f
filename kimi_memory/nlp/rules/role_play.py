"""Talk that is a game or a scene: who somebody is in it, and what they decide, is not so."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import keep_results, regex

_SCENE = regex(
    r"\b(?:dungeon|game) master\b|\byou (?:are|will be|be|act as) (?:the |a |my )?(?:dm|gm|narrator)\b|\brole-?play\w*|\btext[- ]?based (?:\w+ )?(?:game|adventure|rpg)|\btext adventure\b|\bchoose your own adventure\b"
    r"|\blet'?s play (?:an? |the |some )?(?:\w+ ){0,4}(?:game|adventure|rpg|campaign|round|dnd|d&d)\b|\b(?:play|playing|start|run|running|continue) (?:an? |the |my |our |this )?(?:\w+ ){0,3}(?:rpg|d&d|dnd|campaign|adventure game|single player game|simulation game|simulator)\b|\bin[- ]character\b|\bstay in character\b|\bact like a (?:\w+ ){0,3}(?:game|adventure)\b"
    r"|角色扮演|文字(?:冒险)?(?:游戏|版)|冒险游戏|跑团|(?:我们来|一起|来)玩(?:一[个款场局])?[^，。]{0,16}(?:游戏|吧)|(?:像|是|作为|基于)[^，。]{0,8}文本的?[^，。]{0,8}游戏|重开模拟器|人生模拟|你(?:来|现在)?(?:扮演|饰演)(?!专业|资深|专家|顾问|工程师|老师)|(?:当前|主线|支线)任务[:：]|生命值|血量",
    2,
)


@keep_results(4096)
def sets_scene(text: str) -> bool:
    """Whether a message opens a game or a scene: "you are the dungeon master"."""
    return _SCENE.search(text.replace("’", "'")) is not None
