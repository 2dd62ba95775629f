"""A pytest plugin that takes one guard away, named by the variable ``GUARD``."""

from __future__ import annotations

import os

import pytest

from kimi_memory.capture import ingest, log
from kimi_memory.capture.log import Screen
from kimi_memory.domain.note import Quote
from kimi_memory.formats import job_file
from kimi_memory.index import manifest
from kimi_memory.jobs.gates import DraftGate, JobGates
from kimi_memory.store.git import command

GUARDS = {
    "quotes are looked up": lambda patch: patch.setattr(Quote, "stands_in", lambda *_: True),
    "drafts are gated": lambda patch: patch.setattr(DraftGate, "objection", lambda *_: ""),
    "jobs are gated": lambda patch: patch.setattr(JobGates, "check", lambda *_, **__: None),
    "jobs run once": lambda patch: patch.setattr(job_file, "job_id", lambda *_: "none"),
    "secrets are masked": lambda patch: patch.setattr(Screen, "mask", lambda _, text: (text, 0)),
    "recalled blocks are removed": lambda patch: patch.setattr(
        "kimi_memory.capture.log.strip_injected", lambda text: text
    ),
    "turns are stored once": lambda patch: patch.setattr(
        ingest, "_turn_identity", lambda *_: object.__new__(object)
    ),
    "refs are stored once": lambda patch: patch.setattr(
        log.SessionLog, "_track_turn", lambda self, turn, line: None
    ),
    "indexes are signed": lambda patch: patch.setattr(
        manifest.hmac, "compare_digest", lambda *_: True
    ),
    "index files are hashed": lambda patch: patch.setattr(manifest, "_hash_file", lambda path: ""),
    "git syncs everything": lambda patch: patch.setitem(command.SAFE, "core.fsync", "committed"),
}


@pytest.fixture(autouse=True)
def guard_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the guard away for every test of this run."""
    GUARDS[os.environ["GUARD"]](monkeypatch)
