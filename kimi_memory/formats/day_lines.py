"""Lines of a day's page that show what was said: when, by whom, in which turn."""

from __future__ import annotations

import re
from datetime import date

from kimi_memory.domain.job import Spoken
from kimi_memory.domain.note import Lang
from kimi_memory.domain.pages import DigestLine, Part
from kimi_memory.formats.body_layout import TURN, turn_link
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone

# "09:30 Anna: I moved to Bern. [[session_x#^t4|#4-5]]", in earlier versions "[[session_x]] #4-5";
# the day stands before the hour where it is another than the page's.
_SAID = re.compile(
    r"(?:\d\d-\d\d )?\d\d:\d\d (?P<who>.{1,80}?)(?:: |：)(?P<text>.*) "
    rf"{TURN}(?:-(?P<last>\d{{1,9}}))?(?(m)\]\])"
)


def said_line(spoken: Spoken, page: date, zone: Zone, lang: Lang) -> str:
    """Return the line of something said, with its hour on the clocks of a zone.

    A session may go on for days; what is not of the page's own day names its day.
    """
    at = in_zone(spoken.at, zone)
    hour = f"{at:%H:%M}" if at.date() == page else f"{at:%m-%d %H:%M}"
    colon = "：" if lang is Lang.ZH else ": "
    text = " ".join(spoken.text.split())
    where = turn_link(spoken.session, spoken.first, spoken.last)
    return f"{hour} {spoken.who}{colon}{text} {where}"


def read_said(line: str) -> tuple[str, DigestLine] | None:
    """Return the session of such a line and what it quotes; None for any other line."""
    found = _SAID.fullmatch(line.strip())
    if found is None:
        return None
    first = int(found["n"] or found["m"])
    last = int(found["last"] or first)
    return found["session"], DigestLine(Part.TOLD, found["text"], first, last, found["who"])
