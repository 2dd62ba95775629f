"""What prompts were given: the blocks of memory of then, as they were."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

from kimi_memory.api.memory import Memory
from kimi_memory.errors import AmbiguousIdError, HistoryError, NotFoundError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.recall.filters import forgotten_ids, tombstones_of
from kimi_memory.recall.query_parser import boundary
from kimi_memory.store.prompt_blocks import PromptBlock, read_blocks

LAST = "last"
WITHHELD = "| - (withheld: you asked to forget this since)"
_RECEIPT = "receipt-"
_MOST_BLOCKS = 20


@dataclass(frozen=True, slots=True)
class ReplayedBlock:
    """A block that a prompt was given, as far as it may be shown now."""

    block: PromptBlock
    withheld: int = 0
    """How many of its lines were forgotten since, and are not shown."""


def list_blocks(memory: Memory, session: str = "") -> list[PromptBlock]:
    """Return the last of the blocks that are kept, the latest first.

    Args:
        memory: an open memory.
        session: only of this one; of all if empty.
    """
    found = (one for one in read_blocks(memory.store) if session in ("", one.session))
    return list(islice(found, _MOST_BLOCKS))


def replay_block(memory: Memory, what: str, session: str = "") -> ReplayedBlock:
    """Return a block that was made for a prompt, byte for byte, but for what was forgotten since.

    Args:
        memory: an open memory.
        what: the id of its receipt, or the beginning of one; ``last``; or a date or a moment,
            which means the last one until then.
        session: only of this one.

    Raises:
        NotFoundError: none is kept.
        AmbiguousIdError: the beginning of an id fits several.
        UsageError: it is neither an id nor a date.
    """
    kept = [one for one in read_blocks(memory.store) if session in ("", one.session)]
    return _withhold(memory, _find(memory, what, kept))


def _find(memory: Memory, what: str, kept: list[PromptBlock]) -> PromptBlock:
    if what.startswith(_RECEIPT):
        found = [one for one in kept if one.id.startswith(what)]
        if len(found) > 1 and found[0].id != found[-1].id:
            raise AmbiguousIdError(what, [one.id for one in found])
    elif what == LAST:
        found = kept
    else:
        moment = boundary("valid-at", what, memory.now(), "--replay")
        found = [one for one in kept if one.at <= moment]
    if not found:
        raise NotFoundError("block", what)
    return found[0]


def _withhold(memory: Memory, block: PromptBlock) -> ReplayedBlock:
    """Take out the lines that say what was forgotten; all where it is not clear which."""
    stones = tombstones_of(memory.store)
    if not stones:
        return ReplayedBlock(block)
    gone = set(forgotten_ids(memory.index.searcher()))
    with suppress(HistoryError):  # Without a history, what the files say is all there is.
        gone |= memory.past.table().forgotten()
    scopes = {stone.scope for stone in stones if stone.value}
    lines = block.text.split("\n")
    shown = [WITHHELD if stones.hides(line, scopes) else line for line in lines]
    hidden, forgotten = shown.count(WITHHELD), len(gone.intersection(block.lines))
    if forgotten > hidden:
        hidden = forgotten
        shown = [WITHHELD if line.startswith("| ") else line for line in lines]
    return ReplayedBlock(block._replace(text="\n".join(shown)), hidden)
