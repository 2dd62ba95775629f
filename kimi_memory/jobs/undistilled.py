"""Which sessions wait to be distilled; asked often, while nearly always none does."""

from __future__ import annotations

from kimi_memory.domain.job import digest_of
from kimi_memory.domain.session import BY_HAND, IMPORTED, Transcript
from kimi_memory.errors import FormatError
from kimi_memory.formats.job_file import record_path
from kimi_memory.store.notes import sessions
from kimi_memory.store.store import Store

KIND = "distil"
"""The kind of the job that distils a session."""


def undistilled(store: Store) -> tuple[list[str], list[str]]:
    """Return the ids of ended sessions that were not distilled yet, oldest first.

    The ids of those that cannot be read come apart.
    """
    found, damaged = [], []
    for place in sessions.places(store):
        try:
            transcript = sessions.read(store, place.path)
        except FormatError:
            damaged.append(place.id)
            continue
        ended = not place.open or transcript.ended is not None
        # What was imported or written by hand has its cards already.
        ended = ended and transcript.session.host not in (IMPORTED, BY_HAND)
        if ended and not store.exists(record_path(KIND, inputs_of(transcript))):
            found.append((transcript.session.started, place.id))
    return [id for _, id in sorted(found)], damaged


def inputs_of(transcript: Transcript) -> str:
    """Return the digest of a session's turns, the same in short-term memory and archive."""
    # By the words alone: the same session in the archive is the same inputs, and is not done
    # twice.
    turns = (f"{turn.n} {turn.role} {turn.text}" for turn in transcript.turns)
    return digest_of([transcript.session.id, *turns])
