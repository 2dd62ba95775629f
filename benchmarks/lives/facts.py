"""Facts of a synthetic life: what is true from when on, and how it is said."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent
FACTS, CHANGED, CONTRADICTED, RETRACTED, DECOYS = 120, 40, 15, 20, 40
DAYS = 182
_WE = {"en": ("Orchard", "Pier"), "zh": ("竹林", "灯塔")}
_WE_ATTRIBUTES = ("database", "cache", "region", "log format", "main branch", "release day")
_OTHER = {"en": "zh", "zh": "en"}


@dataclass(frozen=True, slots=True)
class Saying:
    """One sentence of the script that is about a fact."""

    fact: int
    day: int
    act: str
    """state, again, change, contradict or gone."""
    text: str
    value: str
    lang: str
    project: str = ""
    asked: tuple[str, str] = ("", "")
    """Who says what right before it, such as a question that it answers."""


@dataclass(slots=True)
class Fact:
    """One fact with its values in order of time."""

    n: int
    lang: str
    values: Sequence[str]
    sayings: list[Saying] = field(default_factory=list)
    decoys: list[Saying] = field(default_factory=list)
    """What names the fact with a value that nobody states."""
    questions: Sequence[str] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    """The words for the thing and for what is said of it."""
    fate: str = "stays"
    """stays, changes, contradicted or gone."""

    @property
    def current(self) -> str:
        """The value that holds in the end."""
        return self.sayings[-1].value


@dataclass(frozen=True, slots=True)
class _Matter:
    """What a fact is about, and how it can be said in each language."""

    lang: str
    phrases: Mapping[str, Mapping[str, Sequence[str]]]
    values: Mapping[str, Sequence[str]]
    words: Mapping[str, Mapping[str, str]]
    project: str = ""
    both: bool = False
    """Whether it may be said in the other language too."""


def read(name: str) -> dict[str, Any]:
    """Return a file of phrases or of the world."""
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def phrases_of(bank: str) -> dict[str, Any]:
    """Return the phrases of a bank, or of one half of it: ``fourth-a``, ``fourth-b``."""
    name, _, half = bank.partition("-")
    phrases = read(name)
    if not half:
        return phrases
    first = "ab".index(half)
    return {**phrases, **{lang: _half(phrases[lang], first) for lang in ("en", "zh")}}


def _half(phrases: Any, first: int) -> Any:
    """Keep every other phrase of each list, but all questions and values."""
    if not isinstance(phrases, dict):
        return phrases[first::2]
    whole = ("ask", "values")
    return {k: v if k in whole else _half(v, first) for k, v in phrases.items()}


def world_of(phrases: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a life is about; a bank may bring its own things and people."""
    world, own = read("world"), phrases.get("world", {})
    return {**world, **own, "shared": own.get("shared", _WE_ATTRIBUTES)}


def facts(random: Random, bank: str) -> list[Fact]:
    """Return 120 facts of which 40 change, 15 are contradicted and 20 taken back."""
    phrases = phrases_of(bank)
    world = world_of(phrases)
    chosen = _chosen(random, phrases, world)
    fates = ["changes"] * CHANGED + ["contradicted"] * CONTRADICTED + ["gone"] * RETRACTED
    able = [n for n, matter in enumerate(chosen) if "gone" in matter.phrases[matter.lang]]
    random.shuffle(able)
    gone = set(able[:RETRACTED])
    rest = [n for n in range(len(chosen)) if n not in gone]
    random.shuffle(rest)
    fate = {n: "gone" for n in gone} | dict(
        zip(rest, fates[: CHANGED + CONTRADICTED], strict=False)
    )
    return [_told(random, n, matter, fate.get(n, "stays")) for n, matter in enumerate(chosen)]


def _chosen(random: Random, phrases: Any, world: Any) -> list[_Matter]:
    me = list(_of_me(random, phrases))
    we = list(_of_us(phrases, world))
    people = list(_of_names(phrases, world, "people", "trait"))
    things = list(_of_names(phrases, world, "things", "attribute"))
    for matters in (we, people, things):
        random.shuffle(matters)
    found = [*me, *we[:20], *people[:22]]
    return [*found, *things[: FACTS - len(found)]]


def _of_me(random: Random, phrases: Any) -> Iterator[_Matter]:
    for slot in phrases["en"]["me"]:
        said = {lang: phrases[lang]["me"][slot] for lang in ("en", "zh")}
        values = {lang: said[lang]["values"] for lang in said}
        yield _Matter(
            random.choice(("en", "zh")), said, values, {"en": {}, "zh": {}}, "", both=True
        )


def _of_us(phrases: Any, world: Any) -> Iterator[_Matter]:
    known = [a for a in world["attribute"] if a["en"] in world["shared"]]
    for lang, projects in _WE.items():
        for project in projects:
            for one in known:
                words = {"en": {"a": one["en"]}, "zh": {"a": one["zh"]}}
                said = {which: phrases[which]["we"] for which in words}
                yield _Matter(lang, said, _values(one), words, project)


def _of_names(phrases: Any, world: Any, names: str, table: str) -> Iterator[_Matter]:
    taken = set()
    for lang in ("en", "zh"):
        for name in world[lang][names]:
            for one in world[table]:
                if (name, one["en"]) in taken:
                    continue
                taken.add((name, one["en"]))
                words = {w: {"a": one[w], "e": name} for w in ("en", "zh")}
                said = {which: phrases[which]["thing"] for which in words}
                # Only words that a table knows mean the same in both languages.
                both = name.isascii() and names == "things" and one["en"] in world["shared"]
                yield _Matter(lang, said, _values(one), words, "", both)


def _values(one: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    return {"en": one["values_en"], "zh": one["values_zh"]}


def _told(random: Random, n: int, matter: _Matter, fate: str) -> Fact:
    order = random.sample(range(4), 4)
    values = [matter.values[matter.lang][at] for at in order]
    fact = Fact(n, matter.lang, values, fate=fate, about=matter.words[matter.lang])
    day = random.randrange(0, 100)
    fact.sayings.append(_say(random, matter, fact, "state", (day, values[0])))
    if random.random() < 0.35:
        day += random.randrange(1, 15)
        fact.sayings.append(_say(random, matter, fact, "again", (day, values[0])))
    for act, value, later in _events(random, fate, values):
        day += later
        fact.sayings.append(_say(random, matter, fact, act, (day, value)))
    # Asked in the language it was last said in: no words lead from one to the other.
    last = fact.sayings[-1].lang
    fact.questions = [_fill(one, matter.words[last], "", "") for one in matter.phrases[last]["ask"]]
    return fact


def _events(random: Random, fate: str, values: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    if fate == "changes":
        yield "change", values[1], random.randrange(5, 40)
        if random.random() < 0.25:
            yield "change", values[2], random.randrange(5, 25)
    if fate == "contradicted":
        yield "contradict", values[1], random.randrange(0, 20)
    if fate == "gone":
        yield "gone", values[0], random.randrange(3, 40)


def _say(random: Random, matter: _Matter, fact: Fact, act: str, told: tuple[int, str]) -> Saying:
    day, value = told
    lang, words = matter.lang, dict(matter.words[matter.lang])
    before = fact.sayings[-1].value if fact.sayings else ""
    said = value
    # In the other language nobody says what was so before: a form must do without it.
    free = any("{o}" not in form for form in matter.phrases[_OTHER[lang]].get("change", ()))
    if matter.both and act == "change" and random.random() < 0.3 and free:
        mine, lang = matter.values[lang], _OTHER[lang]
        # The same value in the other language; what was so before is left as it was said.
        said = matter.values[lang][list(mine).index(value)]
        words = dict(matter.words[lang])
    name = {"again": "state", "contradict": "state"}.get(act, act)
    template = random.choice(matter.phrases[lang][name])
    if lang != matter.lang and "{o}" in template:
        template = next(t for t in matter.phrases[lang][name] if "{o}" not in t)
    asked, _, text = _fill(template, words, said, before).rpartition(" || ")
    who, _, question = asked.partition(": ")
    role = {"A": "assistant", "U": "user"}.get(who, "")
    return Saying(fact.n, day, act, text, said, lang, matter.project, (role, question))


def decoys(random: Random, bank: str, known: Sequence[Fact]) -> Iterator[Saying]:
    """Yield sentences that name a fact and another value, and do not state it."""
    half = "ab".find(bank.partition("-")[2] or "a")
    phrases, named = read("decoys"), [fact for fact in known if fact.about.get("e")]
    for fact in random.sample(named, DECOYS):
        first, last = fact.sayings[0], fact.sayings[-1]
        template = random.choice(phrases[fact.lang]["thing"][half::2])
        text = _fill(template, fact.about, fact.values[3], "")
        day = random.randrange(first.day, last.day + 20)
        fact.decoys.append(Saying(fact.n, day, "decoy", text, fact.values[3], fact.lang))
        yield fact.decoys[-1]


def _fill(template: str, words: Mapping[str, str], value: str, old: str) -> str:
    text = template
    for mark, word in (*words.items(), ("v", value), ("o", old)):
        text = text.replace("{" + mark + "}", word)
    return text
