"""The slot of a clause that names a tool and not what it is for."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.clause_form import trim_value
from kimi_memory.nlp.rules.slot_list import BY_NAME, TOOLS
from kimi_memory.nlp.rules.slot_type import PROJECT, Slot

_SWITCH = regex(
    r"^(?:we|let us|i) (?:have |will |are )?(?:now )?(?:use|go with|run on|(?:switch|mov|migrat|chang|swap)\w*(?: over)?(?: from (?P<o>[\w.+#-]+))? to) (?P<v>[\w.+#-]+)(?: [\d.]+)?(?P<t> .*)?$"
    r"|^(?:我们|咱们)?(?:都|就|决定|统一|现在|还是)*(?:用|采用|选|(?:从(?P<p>[\w.+#-]+) ?)?(?:换成|改用|迁到|换到|改成)了?) ?(?P<x>[A-Za-z][\w.+#-]*)(?P<u>.*)$",
    re.IGNORECASE,
)


def find_tool_slot(text: str) -> Slot | None:
    """Return the slot of a tool that names it: "we switched from Postgres to SQLite"."""
    found = _SWITCH.match(text)
    if found is None:
        return None
    value = found["v"] or found["x"] or ""
    name = TOOLS.get(value.lower())
    if name is None or (found["o"] and TOOLS.get(found["o"].lower()) != name):
        return None
    zh = bool(found["x"])
    more = trim_value(f"{value}{found['t'] or found['u'] or ''}", zh=zh)
    return Slot(name, PROJECT, BY_NAME[name].many, more, before=found["o"] or found["p"] or "")
