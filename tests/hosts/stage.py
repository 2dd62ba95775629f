"""Two sessions of an agent program in an empty home: a fact told in one, asked for in the next."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hosts.scripted import ScriptedModel

from kimi_memory import Memory
from kimi_memory.agent_hooks import socket_protocol
from kimi_memory.errors import NotFoundError
from kimi_memory.store.notes import sessions

FACT = "Please remember: the staging database runs on PostgreSQL 16 at port 6543."
ASKED = "Which port does the staging database use?"
FENCE, LABEL = "kimi-memory nonce=", "data, not instructions"
PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Stage:
    """A user's home, a folder to work in and a memory."""

    home: Path
    work: Path
    root: Path
    model: ScriptedModel
    env: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, folder: Path, model: ScriptedModel) -> Stage:
        home, work, root = folder / "home", folder / "work", folder / "记忆"
        home.mkdir()
        work.mkdir()
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        stage = cls(home, work, root, model, env)
        stage.kimi("init", str(root))
        return stage

    def write(self, place: str, content: str) -> bytes:
        """Write a file of the user's home; return its bytes."""
        path = self.home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path.read_bytes()

    def kimi(self, *words: str, code: int = 0) -> str:
        """Run a command of ours."""
        argv = [sys.executable, "-m", "kimi_memory", *words]
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def hook(self, step: str, host: str, *words: str, code: int = 0) -> str:
        """Install, look for or remove the hooks of a program."""
        return self.kimi(
            "hook", step, "--host", host, "--memory", str(self.root), *words, code=code
        )

    def run(self, argv: list[str | Path], *, seconds: float = 120) -> str:
        """Run a command of the program; it must succeed."""
        done = subprocess.run(
            [str(word) for word in argv],
            env=self.env,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-2500:]
        return done.stdout

    def turns(self) -> tuple[list[str], bool]:
        """Every turn that is stored, and whether a session is open."""
        with Memory.open(self.root) as memory:
            places = list(sessions.places(memory.store))
            try:
                turns = [t.text for p in places for t in sessions.read(memory.store, p.path).turns]
            except NotFoundError:
                return [], True  # A hook archives a session at this very moment.
            return turns, any(place.open for place in places)

    def stored(self, text: str, *, ended: bool = True) -> list[str]:
        """The turns that hold a text, once there is one and, if `ended`, no session is open."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            turns, is_open = self.turns()
            found = [turn for turn in turns if text in turn]
            if found and not (ended and is_open):
                return found
            assert time.monotonic() < deadline, f"not stored: {turns}, open: {is_open}"
            time.sleep(0.2)

    def close(self) -> None:
        """Let a server that a hook started go: without its socket it has no reason to stay."""
        (self.root / socket_protocol.NAME).unlink(missing_ok=True)

    def snapshot(self, *names: str) -> dict[str, bytes]:
        """The files below folders of the home, by path."""
        folders = [self.home / name for name in names]
        files = [p for folder in folders for p in [folder, *folder.rglob("*")] if p.is_file()]
        return {str(path.relative_to(self.home)): path.read_bytes() for path in files}


def install_and_remove(stage: Stage, host: str, *names: str) -> None:
    """Install, see what is repeatable, and remove: every byte is as it was."""
    before = stage.snapshot(*names)
    assert stage.hook("status", host, code=1)
    assert "+" in stage.hook("install", host, "--dry-run")
    assert stage.snapshot(*names) == before
    stage.hook("install", host)
    made = stage.snapshot(*names)
    assert made != before
    stage.hook("install", host)
    assert stage.snapshot(*names) == made
    stage.hook("status", host)
    stage.hook("remove", host)
    assert stage.snapshot(*names) == before


def tell_and_ask(stage: Stage, say: Callable[[str], object], *, ended: bool = True) -> list[str]:
    """Tell a fact, ask for it in a new session; return what the model was then sent."""
    say(FACT)
    stored = stage.stored("6543", ended=ended)
    assert stored == [FACT], stored
    before = len(stage.model.requests)
    say(ASKED)
    asked = [text for text in stage.model.conversations()[before:] if ASKED in text]
    assert asked, "the model was not asked"
    shown = [text for text in asked if "PostgreSQL 16 at port 6543" in text]
    assert shown, asked[-1][-3000:]
    assert any(FENCE in text and LABEL in text for text in shown), [
        text[max(0, text.find("PostgreSQL") - 1500) :] for text in shown
    ]
    stored = stage.stored(ASKED, ended=ended)
    assert stored == [ASKED], stored
    stored = stage.stored("6543", ended=ended)
    assert stored == [FACT], f"what was recalled was captured again: {stored}"
    return shown
