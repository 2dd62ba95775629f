"""What every note has: id, times, tags, status, sources."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from kimi_memory.domain.status import Status

if TYPE_CHECKING:
    from kimi_memory.domain.source import Source


class Lang(StrEnum):
    """The languages notes are written in."""

    ZH = "zh"
    EN = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """The part all notes share."""

    kind: ClassVar[str] = "note"
    id: str
    created: datetime
    updated: datetime
    tags: tuple[str, ...] = ()
    status: Status = Status.ACTIVE
    sources: tuple[Source, ...] = ()
    lang: Lang = Lang.EN
