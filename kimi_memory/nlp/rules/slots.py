"""The slot of a clause: what its statement is about, whose it is, and the value it gives.

Two statements of one slot and one holder are about the same thing: their values can be
compared. What has no slot is compared with nothing (`kimi_memory.nlp.rules.slot_list` has the list).
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import lru_cache

from kimi_memory.nlp.basic.patterns import HAN, regex, simplify
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules import slot_nouns
from kimi_memory.nlp.rules.attribute_nouns import english
from kimi_memory.nlp.rules.clause_form import plain_clause, strip_lead, strip_marks, trim_value
from kimi_memory.nlp.rules.cues import split_reason
from kimi_memory.nlp.rules.entity_names import is_name, is_person_zh
from kimi_memory.nlp.rules.possessive_zh import bare_name
from kimi_memory.nlp.rules.slot_frames import KIN, find_frames, find_tool_slot
from kimi_memory.nlp.rules.slot_list import BY_NAME, NOUNS, TOOLS, Definition
from kimi_memory.nlp.rules.slot_type import PROJECT, Slot
from kimi_memory.nlp.rules.subjects import subject_of
from kimi_memory.nlp.rules.topics import KNOWN


def slot_of(clause: str, holder: str = "user", project: str = "") -> Slot | None:
    """Return the slot of a clause with the value it gives, or None where it has none.

    Args:
        clause: one statement, in Chinese or English.
        holder: who says I in it.
        project: the project it was said in.
    """
    found = _find_slot(clause)
    if found is None:
        return None
    if project and found.holder == slug(project, 40):
        found = replace(found, holder=PROJECT)
    if project and found.which == slug(project, 30):
        found = replace(found, which="")
    head, _, rest = found.holder.partition(".")
    if head == "user" and holder != "user":
        found = replace(found, holder=f"{holder}.{rest}".rstrip("."))
    return replace(found, project=project) if found.holder == PROJECT else found


_HAN = regex(f"[{HAN}]")


@lru_cache(maxsize=8192)
def _find_slot(clause: str) -> Slot | None:
    slot = _name_thing(_parse_clause(clause), clause)
    if slot and slot.name == "name" and (person := BY_NAME.get(slot.holder.partition(".")[2])):
        return replace(slot, name=person.name, holder="user", many=person.many)
    kin = BY_NAME.get(slot.holder.partition(".")[2]) if slot else None
    # Of two sisters each has a home.
    return replace(slot, many=True) if slot and kin and kin.many else slot


def _name_thing(slot: Slot | None, clause: str) -> Slot | None:
    """Return a slot of the project with the thing that is named elsewhere in its clause.

    "The new database is SQLite, I mean that of Atlas" says nothing of ours.
    """
    if slot is None or slot.holder != PROJECT or slot.which:
        return slot
    subject = subject_of(strip_lead(clause))
    if subject is None or not subject.known or not subject.name:
        return slot
    # In "released under the BSD licence" the name is the value.
    value = re.split("[,，]", slot.value)[0]
    return slot if subject.name in value else replace(slot, which=_slug_qualifier(subject.name))


def _parse_clause(clause: str) -> Slot | None:
    text = unicodedata.normalize("NFKC", simplify(clause.replace("’", "'"))).strip()
    if instead := _INSTEAD.match(text):
        # "Instead of Tuesday, we use Monday" names the value that is replaced before all else.
        slot = _parse_clause(instead["rest"])
        return slot and replace(slot, before=slot.before or instead["o"])
    if not text or len(text) > 400 or text.endswith("?"):
        return None
    zh = _HAN.search(text) is not None
    plain = plain_clause(strip_marks(text), zh=zh)
    if preferred := _parse_preference(plain, zh=zh):
        return preferred
    # "I cannot eat bread because I am coeliac": here the reason holds the value, so the whole
    # clause is tried before its reason is cut off.
    by_verb = _by_verb(plain, zh=zh) if " because " in plain else None
    plain = strip_marks(split_reason(plain)[0])
    return (
        by_verb
        or _by_verb(plain, zh=zh)
        or (_by_noun_zh(plain) if zh else _by_noun_en(plain))
        or find_tool_slot(plain)
    )


_INSTEAD = regex(r"^(?:instead|in place) of (?P<o>[^,;]{1,30}), ?(?P<rest>.+)$", re.IGNORECASE)

_PREFERENCES = (
    regex(r"^(?P<w>i) (?:would )?(?:much |really |strongly )?(?:prefer|like|favou?r)(?: to)? (?P<v>[^,;]{2,40}?) (?:over|better than|more than|rather than|to) (?P<o>[^,;]{2,40})$", re.IGNORECASE),
    regex(r"^(?P<w>i) would rather (?:have |use |get |take |see )?(?P<v>[^,;]{2,40}?) than (?P<o>[^,;]{2,40})$", re.IGNORECASE),
    regex(r"^(?P<w>我)(?:更)?(?:喜欢|偏好|爱)(?P<v>[^,，]{1,12}?)(?:胜过|超过|多过|甚于|多于)(?P<o>[^,，]{1,12})$"),
    regex(r"^(?:比起|相比|与其|跟|和)(?P<o>[^,，我]{1,12}?)(?:相比|比)?[,，]?(?P<w>我)(?:更|还是)?(?:更喜欢|喜欢|更爱|偏爱|宁可|宁愿)(?P<v>[^,，]{1,12})$"),
    regex(r"^(?P<w>我)(?:宁可|宁愿)(?P<v>[^,，]{1,12}?)[,，]?也不(?:要|想|愿)?(?P<o>[^,，]{1,12})$"),
)  # fmt: skip
_DOING = regex(r"^(?:drinking|having|using|eating|to|喝|吃|用|养|坐|看)")


def _parse_preference(text: str, *, zh: bool) -> Slot | None:
    """Return the slot of two things of which somebody likes one better."""
    for frame in _PREFERENCES:
        if found := frame.match(text):
            liked, other = (
                _DOING.sub("", trim_value(found[name], zh=zh).lower()).strip() for name in "vo"
            )
            # Sorted: "tea over coffee" and "coffee over tea" must meet under one key to be
            # opposed.
            both = "-".join(sorted((liked, other)))
            return Slot("preference", "user", False, liked, _slug_qualifier(both))
    return None


def _by_verb(text: str, *, zh: bool) -> Slot | None:
    for name, found in find_frames(text, zh=zh):
        slot = _of_frame(name, found.groupdict(), zh=zh)
        if slot is not None:
            return slot
    return None


def _of_frame(name: str, said: dict[str, str | None], *, zh: bool) -> Slot | None:
    noun = (said.get("n") or "").lower()
    definition = NOUNS.get(noun) if name == "{n}" else BY_NAME[name]
    if definition is None and noun in {"api", "cli", "app", "worker", "客户端", "项目", "服务"}:
        definition = BY_NAME["language"]
    which = _parse_qualifier(said.get("q") or "", definition)
    if definition is None or which is None:
        return None
    holder = _resolve_holder(said.get("w"), definition, zh=zh)
    if definition.name == "language" and noun:
        which = "" if noun in {"项目", "app"} else english(noun)
    if definition.name == "appointment" and holder == PROJECT:
        holder = "user"
    tail = "" if definition.name == "home" and zh else said.get("t") or ""
    value = f"{said['v'] or ''}{tail}"
    cut = trim_value(value, zh=zh)
    if not holder or not cut or value.lstrip()[:1] in _NO_START:
        return None
    return Slot(
        definition.name,
        holder,
        definition.many,
        cut,
        _slug_qualifier(which),
        trim_value(said.get("o") or "", zh=zh),
        bool(said.get("d")),
        _kin_in(_MINE.sub("", (said.get("w") or "").lower()), zh=zh)[1],
    )


_NO_START = frozenset("，,、：:；;。)）")
"""A value that begins so is the rest of another sentence."""
_NO_WHICH = frozenset(
    ("the", "our", "my", "project", "it", "this", "that", "a", "an", "new", "team", "your", "项目")
) | {"我们", "我们的", "我的", "我", "这个", "新", "新的", "团队"}


def _parse_qualifier(words: str, definition: Definition | None) -> str | None:
    """Return what tells one of several from the others, None where the words are too many."""
    kept = [word for word in words.lower().replace("'s", "").split() if word not in _NO_WHICH]
    if definition is None or len(kept) > 2:
        return None
    if definition.name == "appointment":
        return " ".join(word for word in kept if word not in {"appointment", "预约"})
    joined = english(" ".join(kept)) if kept else ""
    same = NOUNS.get(joined) is definition or joined in {"deadline", "backups", "备份"}
    return "" if same else joined


def _slug_qualifier(words: str) -> str:
    return slug(words, 30) if words else ""


def _resolve_holder(words: str | None, definition: Definition, *, zh: bool) -> str:
    if words is None:
        if definition.name == "name":
            return "user"
        return PROJECT if definition.about in {"project", "any"} else "user"
    low = words.strip().lower()
    bare = _MINE.sub("", low)
    if low in {"i", "me", "my", "我", "我家", "我的"}:
        return "user"
    if low in {"we", "us", "our", "我们", "咱们", "我们的"}:
        return PROJECT if definition.about == "project" else "user"
    noun, _ = _kin_in(bare, zh=zh)
    if noun and (bare == noun or not zh or low.startswith("我")):
        return f"user.{KIN[noun]}" if low != noun else ""
    named = (
        is_name(words, zh=zh) and low not in _NO_HOLDER and low not in NOUNS and low not in TOOLS
    )
    # A frame finds 住 inside of 盯住, 开 inside of 开朗: only a person lives and drives.
    return slug(words, 40) if named and _may_hold(words, definition) else ""


def _may_hold(name: str, definition: Definition) -> bool:
    """Whether what is named so may have what a definition is of."""
    return definition.about not in {"person", "people"} or is_person_zh(name)


_MINE = regex(r"^(?:(?:我家|我们家|我们|我)的?|my |our )")


def _kin_in(words: str, *, zh: bool) -> tuple[str, str]:
    """Return the relation at the beginning of words, and the name after it."""
    # The longest first: "mother-in-law" begins with "mother".
    for noun in sorted(KIN, key=len, reverse=True):
        if words == noun or words.startswith(noun if zh else f"{noun} "):
            return noun, words[len(noun) :].strip()
    return "", ""


_NO_HOLDER = frozenset(
    "everyone everybody nobody someone somebody people 大家 有人 别人 他们".split()  # noqa: SIM905  read as words
)


def _by_noun_en(text: str) -> Slot | None:
    if _ASKS_OR_ORDERS.match(text):
        return None
    for frame in slot_nouns.ENGLISH:
        found = frame.match(text)
        slot = _of_noun(found.groupdict(), zh=False) if found else None
        if slot is not None:
            return slot
    return None


_ASKS_OR_ORDERS = regex(
    r"^(?:if|when|unless|should|could|would|can|maybe|perhaps|what|how|why|do|does|did|never|always|don't|do not|make sure|ensure|i think|i guess|suppose)\b|^(?:如果|要是|假如|万一|也许|可能|不要|别|请|每次|从不|永远)",
    re.IGNORECASE,
)


def _of_noun(said: dict[str, str | None], *, zh: bool) -> Slot | None:
    definition = NOUNS.get((said["n"] or "").lower())
    if definition is None:
        return None
    whose = (said.get("p") or said.get("w") or "").strip()
    if said.get("e"):
        return Slot(definition.name, slug(said["e"] or "", 40), definition.many, said["w"] or "")
    which = (said.get("q") or "").strip()
    of = re.sub(r"^ ?(?:for|of) (?:the |our |my )?", "", said.get("f") or "")
    whose = "" if definition.name == "deadline" and whose.lower() in {"my", "我的", "我"} else whose
    holder, which = _resolve_noun_holder(whose, f"{which} {of}".strip(), definition, zh=zh)
    if definition.name == "appointment":
        which = f"{which} {said['n']}"
    told = _parse_qualifier(which, definition)
    value = trim_value(said["v"] or "", zh=zh)
    if (
        told is None
        or not holder
        or not value
        or value[0] in "，,、；;。"
        or (definition.about != "people" and slot_nouns.names_state(value, said.get("o")))
    ):
        return None
    if definition.about == "people":
        return _of_kin(definition, holder, said, value)
    # Who says "my allergy is" names all there is.
    return Slot(
        definition.name,
        holder,
        definition.many and definition.name != "allergies",
        value,
        _slug_qualifier(told),
        trim_value(said.get("o") or "", zh=zh),
        bool(said.get("d")),
    )


def _of_kin(
    definition: Definition, holder: str, said: dict[str, str | None], value: str
) -> Slot | None:
    """Return the slot of a person or animal, which is known by its name only."""
    if not (said.get("c") or value[:1].isupper()):
        return None
    return Slot(definition.name, "user" if holder == PROJECT else holder, definition.many, value)


_HOUSEHOLD = frozenset(("rent", "fee", "editor", "theme", "font-size"))
"""What "the" may mean of a person's."""


def _resolve_noun_holder(
    whose: str, which: str, definition: Definition, *, zh: bool
) -> tuple[str, str]:
    """Return who holds what a noun names, and which of several it is."""
    low = whose.lower().removesuffix("'s")
    kin = KIN.get(which.lower().removesuffix("'s").removesuffix("的"))
    if kin and (low in {"my", "our", "我", "我的", "我家", "我家的", "我们", "我们的"}):
        return f"user.{kin}", ""
    if low in {"my", "i", "我", "我的", "我家", "我家的", "我用的", "我平时用的", "我常用的"}:
        return "user", which
    if low in {
        "",
        "the",
        "our",
        "we",
        "let us",
        "我们",
        "我们的",
        "咱们",
        "咱们的",
        "项目",
        "项目的",
    }:
        if definition.about in {"person", "people"}:
            # "The job runs at night" is about no person's job.
            shared = low not in {"", "the", "项目", "项目的"} or definition.name in _HOUSEHOLD
            return ("user" if shared else ""), which
        return ("user" if definition.name == "appointment" else PROJECT), which
    name = whose.removesuffix("'s").removesuffix("的")
    name = bare_name(name) if zh else name
    thing = definition.about in {"project", "any"} and definition.name != "name"
    if thing or (zh and (not is_name(name, zh=True) or english(name).isascii())):
        # The port of Atlas and the Atlas port are one.
        return PROJECT, f"{name}{'' if zh else ' '}{which}".strip()
    return slug(name, 40) if _may_hold(name, definition) else "", which


def _by_noun_zh(text: str) -> Slot | None:
    if _ASKS_OR_ORDERS.match(text):
        return None
    for frame in slot_nouns.CHINESE:
        found = frame.match(text)
        if found is None:
            continue
        said = found.groupdict()
        said["q"] = _NO_QUALIFIER.sub("", said.get("q") or "").removesuffix("的")
        if set_for := _SET_FOR.match(said["q"]):
            said["w"], said["q"] = set_for["w"], ""
        if _DOES.match(said["q"]):
            continue  # In 我写代码用…编辑器 nobody speaks of where the code lies.
        named = NOUNS.get((said["n"] or "").lower())
        if named and named.name == "home" and said.get("c") == "用":
            continue  # 家用烤箱 is no home.
        placed = said.get("c") not in {"在", "跑在", "放在"} or (named and named.name in _PLACED)
        if placed and (slot := _of_noun(said, zh=True)):
            return slot
    return None


_NO_QUALIFIER = regex(
    r"^(?:[把将]|最[后终初]|现在|目前|如今|还是|暂时|之前的?|以前的?|原[来先]的?|本来|起初|先前)+"
)
"""Before a noun, what says when or does something, and tells no one of several from another."""
_DOES = regex(r"^(?:[写用做看在]$|给|[你他她它]们?)")
_SET_FOR = regex(r"^[给为帮](?P<w>.{1,5}?)[定选设配](?:好|下|置)?的?$")
_PLACED = frozenset(
    ("home", "address", "repo", "deploy-target", "hosting", "host", "region", "ci", "meeting")
) | {"deploy-time", "release-day", "deadline"}
"""What has a place or a day, and so may be 在 something."""


def holds_one(key: str) -> bool:
    """Whether the last word of a key names a slot of one value, or a topic of one choice."""
    first, _, last = key.rpartition(".")
    if first.endswith(("lesson", "pattern", "finding", "rule", "order")):
        return False
    named = BY_NAME.get(last) or BY_NAME.get(last.rpartition("-")[2])
    return not named.many if named else last in KNOWN
