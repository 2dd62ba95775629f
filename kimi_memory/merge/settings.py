"""Three-way merge of ``memory.toml``, setting by setting, in the text as people wrote it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence

from kimi_memory.merge.lines import keep_both
from kimi_memory.merge.three_way import pick

OWN = (("memory", "id"), ("memory", "parent"))
"""What says which memory it is; no merge changes it."""
MOVED = ("memory", "moved")
"""Says of one folder that the memory left it; no merge brings that to another."""
GATES = "gates"
"""A table of limits: of two changes the stricter one stays, which is the smaller."""
# `[recall]`. A list of tables, `[[a]]`, is not merged by settings: see `_has_only`.
_TABLE = re.compile(r"\s*\[(?P<name>[^\[\]]+)\]\s*(?:#.*)?")
# A comment behind a value is no part of it.
_ENTRY = re.compile(
    r"\s*(?P<key>[A-Za-z0-9_-]+)\s*=\s*"
    r"(?P<value>(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^#\"'\s]|\s+(?=[^#\s]))+)\s*(?:#.*)?"
)

Name = tuple[str, str]
"""Table and key."""


def merge_settings(base: str, ours: str, theirs: str) -> str | None:
    """Return the settings of both sides; None where that needs a person."""
    try:
        return _merge_texts(base, ours, theirs)
    except tomllib.TOMLDecodeError:  # A value on several lines, or a broken file.
        return None


def _merge_texts(base: str, ours: str, theirs: str) -> str | None:
    tables = [_read_entries(text) for text in (base, ours, theirs)]
    merged: dict[Name, str] = {}
    for name in sorted({name for table in tables for name in table}):
        value = _merge_entry(name, *(table.get(name) for table in tables))
        if value is not None:
            merged[name] = value
    # All three say the same settings now, so lines can only differ in comments and order.
    versions = [_write_entries(text, merged).split("\n") for text in (base, ours, theirs)]
    text = "\n".join(keep_both(*versions))
    # Read once more: lines that merged well can still stand under the wrong table.
    return text if _has_only(text, merged) else None


def _merge_entry(name: Name, base: str | None, ours: str | None, theirs: str | None) -> str | None:
    if name in OWN and base is not None:
        return base
    if name[0] == GATES and None not in (ours, theirs):
        return pick(base, ours, theirs, lambda one, other: min(one, other, key=_value_order))
    return pick(base, ours, theirs, lambda one, other: max(one, other, key=_value_order))


def set_entries(text: str, wanted: Mapping[Name, str]) -> str:
    """Return a text of settings in which some have other values, as TOML writes them."""
    return _write_entries(text, {**_read_entries(text), **wanted})


def remove_moved(content: bytes) -> bytes:
    """Return settings without the line that says where the memory went."""
    if MOVED[1].encode() not in content:
        return content
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    scanned = zip(lines, _scan_entries(lines), strict=True)
    kept = "\n".join(line for line, (name, _) in scanned if name != MOVED)
    return kept.encode("utf-8", "surrogateescape")


def _value_order(raw: str | None) -> tuple[bool, float, str]:
    value = None if raw is None else tomllib.loads(f"x = {raw}")["x"]
    number = float(value) if isinstance(value, int | float) else 0.0
    return raw is not None, number, raw or ""


def _read_entries(text: str) -> dict[Name, str]:
    """Return the values on lines of their own as they are written."""
    return {name: raw for name, raw in _scan_entries(text.split("\n")) if name and raw is not None}


def _scan_entries(lines: Sequence[str]) -> list[tuple[Name | None, str | None]]:
    """Return for each line the setting it holds and its value, None and None for others."""
    found: list[tuple[Name | None, str | None]] = []
    table = ""
    for line in lines:
        if heading := _TABLE.fullmatch(line):
            table = heading["name"].strip()
        entry = _ENTRY.fullmatch(line) if not heading else None
        found.append(((table, entry["key"]), entry["value"]) if entry else (None, None))
    return found


def _write_entries(text: str, wanted: Mapping[Name, str]) -> str:
    """Return a text with these settings and no others."""
    lines = text.split("\n")
    kept, seen = list[str](), set[Name]()
    for line, (name, raw) in zip(lines, _scan_entries(lines), strict=True):
        if name is None or raw is None:
            kept.append(line)
        elif name in wanted:
            seen.add(name)
            kept.append(line if raw == wanted[name] else line.replace(raw, wanted[name], 1))
    for name in sorted(wanted.keys() - seen):
        kept = _add_entry(kept, name, wanted[name])
    return "\n".join(kept)


def _add_entry(lines: list[str], name: Name, value: str) -> list[str]:
    """Return the lines with a setting at the end of its table."""
    table, entry = name[0], f"{name[1]} = {value}"
    starts = [n for n, line in enumerate(lines) if _TABLE.fullmatch(line)]
    names = [found["name"].strip() for n in starts if (found := _TABLE.fullmatch(lines[n]))]
    if table and table not in names:
        end = [""] if lines and not lines[-1] else []
        body = lines[: len(lines) - len(end)]
        return [*body, *([""] if body else []), f"[{table}]", entry, *end]
    at = starts[names.index(table)] + 1 if table else 0
    end_of = next((n for n in starts if n >= at), len(lines))
    while end_of > at and not lines[end_of - 1].strip():
        end_of -= 1
    return [*lines[:end_of], entry, *lines[end_of:]]


def _has_only(text: str, wanted: Mapping[Name, str]) -> bool:
    found = tomllib.loads(text)
    flat = {
        (table, key): value
        for table, values in found.items()
        for key, value in (values.items() if isinstance(values, dict) else ())
    }
    flat |= {("", key): value for key, value in found.items() if not isinstance(value, dict)}
    return flat == {name: tomllib.loads(f"x = {raw}")["x"] for name, raw in wanted.items()}
