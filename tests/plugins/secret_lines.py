"""Lines with made-up secrets and lines without any, filled in from patterns when a test runs.

No line of the data files holds a key: ``{h32}`` becomes 32 hexadecimal digits, and what
stands between ``⟪`` and ``⟫`` must not survive the screen.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
WORDS = [
    "amber",
    "birch",
    "copper",
    "dune",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "island",
    "juniper",
    "kelp",
    "lagoon",
]
SIGNS = {
    "h": "0123456789abcdef",
    "a": ALNUM,
    "A": string.ascii_uppercase + "234567",
    "d": "123456789",
    "b": ALNUM + "+/",
}
FIELD = re.compile(r"(?<!\$)\{(\w+)\}")


class Line(NamedTuple):
    """One line of a data file, filled in."""

    kind: str
    text: str
    secrets: tuple[str, ...]
    """What must not survive; none in an ordinary line."""


def read_lines(path: Path, seed: int) -> Iterator[Line]:
    rng = random.Random(seed)
    for row in path.read_text(encoding="utf-8").splitlines():
        if not row or row.startswith("#"):
            continue
        kind, sort, pattern = row.split("|", 2)
        filled = FIELD.sub(lambda m: _value(rng, m[1]), pattern).replace("\\n", "\n")
        secrets = tuple(re.findall(r"⟪(.*?)⟫", filled, re.DOTALL))
        assert bool(secrets) == (sort == "s"), row
        yield Line(kind, filled.replace("⟪", "").replace("⟫", ""), secrets)


def _value(rng: random.Random, name: str) -> str:
    if name in MADE:
        return MADE[name](rng)
    sort, length = name[0], int(name[1:])
    if sort == "w":
        return _password(rng, length)
    made = "".join(rng.choice(SIGNS[sort]) for _ in range(length))
    return made if sort == "d" or length < 8 else f"{made[:-3]}7{made[-2:]}"


def _password(rng: random.Random, length: int) -> str:
    body = "".join(rng.choice(ALNUM) for _ in range(length - 4))
    return (
        f"{rng.choice(string.ascii_uppercase)}{body}{rng.choice('!#$%&*')}{rng.choice('23456789')}x"
    )


def _card(rng: random.Random, prefix: str, length: int) -> str:
    body = prefix + "".join(rng.choice("0123456789") for _ in range(length - len(prefix) - 1))
    doubled = [sum(divmod(2 * int(sign), 10)) for sign in body[::-2]]
    return body + str(-(sum(doubled) + sum(map(int, body[-2::-2]))) % 10)


def _id_card(rng: random.Random, *, right: bool = True) -> str:
    born = f"19{rng.randint(50, 99)}{rng.randint(1, 12):02d}{rng.randint(1, 28):02d}"
    body = f"110105{born}{rng.randint(100, 999)}"
    total = sum(int(sign) * (2 ** (17 - place) % 11) for place, sign in enumerate(body))
    return body + "10X98765432"[total % 11 if right else (total + 3) % 11]


def _iban(rng: random.Random) -> str:
    body = "".join(rng.choice("123456789") for _ in range(18))
    return f"DE{98 - int(body + '131400') % 97:02d}{body}"


def _mobile(rng: random.Random) -> str:
    return "1" + rng.choice("35789") + "".join(rng.choice("0123456789") for _ in range(9))


def _digits(rng: random.Random, *lengths: int) -> str:
    return "-".join("".join(rng.choice("123456789") for _ in range(n)) for n in lengths)


MADE: dict[str, Callable[[random.Random], str]] = {
    "uuid": lambda rng: "-".join(_value(rng, f"h{n}") for n in (8, 4, 4, 4, 12)),
    "word": lambda rng: rng.choice(WORDS),
    "words12": lambda rng: " ".join(rng.sample(WORDS, 12)),
    "card16": lambda rng: _card(rng, "4", 16),
    "card19": lambda rng: _card(rng, "6222", 19),
    "cnid": _id_card,
    "cnidbad": lambda rng: _id_card(rng, right=False),
    "mobile": _mobile,
    "mobilefw": lambda rng: _mobile(rng).translate({48 + n: 0xFF10 + n for n in range(10)}),
    "iban": _iban,
    "ssn": lambda rng: _digits(rng, 3, 2, 4),
}
