"""Repositories made by somebody who means harm: nothing runs, nothing escapes, errors are lines."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory import Memory, cli
from kimi_memory.domain.job import Actor

pytestmark = pytest.mark.hostile
COMMANDS = (
    ["status"],
    ["verify"],
    ["recall", "berths"],
    ["consolidate", "daily"],
)
LONGEST_LINE = 1000
Spoil = Callable[[Path, str], None]
"""Spoils a memory folder; what may never run is a path."""


def config(text: str) -> Spoil:
    def spoil(root: Path, evil: str) -> None:
        with (root / ".git/config").open("a", encoding="utf-8") as file:
            file.write("\n" + text.replace("EVIL", evil) + "\n")

    return spoil


def attributes(line: str, settings: str) -> Spoil:
    def spoil(root: Path, evil: str) -> None:
        (root / ".gitattributes").write_text(f"{line}\n", encoding="utf-8")
        (root / ".git/info").mkdir(exist_ok=True)
        (root / ".git/info/attributes").write_text(f"{line}\n", encoding="utf-8")
        config(settings)(root, evil)

    return spoil


def hooks(root: Path, evil: str) -> None:
    folder = root / ".git/hooks"
    folder.mkdir(exist_ok=True)
    for name in (
        *("pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-checkout"),
        *("reference-transaction", "post-index-change", "pre-auto-gc", "post-rewrite"),
    ):
        shutil.copy(evil, folder / name)


def included(root: Path, evil: str) -> None:
    (root / ".git/more").write_text(f"[core]\n\tfsmonitor = {evil}\n\thooksPath = hooks\n")
    hooks(root, evil)
    config('[include]\n\tpath = more\n[includeIf "gitdir:/"]\n\tpath = more')(root, evil)


def file(path: str, content: bytes) -> Spoil:
    def spoil(root: Path, evil: str) -> None:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.replace(b"EVIL", evil.encode()))

    return spoil


def link(path: str, target: str) -> Spoil:
    def spoil(root: Path, evil: str) -> None:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.symlink_to(root.parent / target)

    return spoil


def git_file(root: Path, evil: str) -> None:
    (root / ".git").rename(root.parent / "outside/repository")
    (root / ".git").write_text(f"gitdir: {root.parent}/outside/repository\n")


def alternates(root: Path, evil: str) -> None:
    info = root / ".git/objects/info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{root.parent}/outside\n/nowhere\n../../..\n" * 50)


def submodule(root: Path, evil: str) -> None:
    (root / ".gitmodules").write_text(
        f'[submodule "../../x"]\n\tpath = semantic/sub\n\turl = ext::{evil}\n\tupdate = !{evil}\n'
    )
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()
    entry = f"160000,{head},semantic/sub"
    command = ["git", "update-index", "--add", "--cacheinfo", entry]
    subprocess.run(command, cwd=root, check=True)
    inner = root / "semantic/sub"
    inner.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=inner, check=True)
    config(f"[core]\n\tfsmonitor = {evil}")(inner, evil)


def colliding(root: Path, evil: str) -> None:
    for name in ("Berth.md", "berth.md", "BERTH.md", "\u00e9.md", "e\u0301.md"):
        file(f"semantic/{name}", f"# {name}\n".encode())(root, evil)


def strange_names(root: Path, evil: str) -> None:
    for name in (
        "-rf",
        "--help",
        "a\nb",
        "a\tb",
        'q"q',
        "$(EVIL)",
        "`x`",
        "a;b",
        "\x1b[31m",
        "CON",
    ):
        file(f"semantic/{name}.md", b"# Berths\n")(root, evil)


def huge(root: Path, evil: str) -> None:
    for number in range(3000):
        file(f"semantic/many/{number}.md", b"# Berths\n")(root, evil)


def deep(root: Path, evil: str) -> None:
    file("/".join(["semantic", *(["d"] * 120), "end.md"]), b"# Berths\n")(root, evil)


def broken_objects(root: Path, evil: str) -> None:
    for path in sorted((root / ".git/objects").rglob("*")):
        if path.is_file() and len(path.name) == 38:
            path.chmod(0o644)
            path.write_bytes(b"x\x9cgarbage")


def replaced(root: Path, evil: str) -> None:
    head = (root / ".git/refs/heads/main").read_text().strip()
    file(f".git/refs/replace/{head}", b"0123456789012345678901234567890123456789\n")(root, evil)
    file(".git/info/grafts", f"{head} {'1' * 40}\n".encode())(root, evil)
    file(".git/shallow", f"{head}\n".encode())(root, evil)


REPOSITORIES: dict[str, Spoil] = {
    "hooks": hooks,
    "hooks elsewhere": config("[core]\n\thooksPath = EVIL.d"),
    "fsmonitor": config("[core]\n\tfsmonitor = EVIL"),
    "filter": attributes(
        "* filter=evil",
        '[filter "evil"]\n\tclean = EVIL\n\tsmudge = EVIL\n\tprocess = EVIL\n\trequired = true',
    ),
    "diff driver": attributes(
        "* diff=evil",
        '[diff]\n\texternal = EVIL\n[diff "evil"]\n\ttextconv = EVIL\n\tcommand = EVIL',
    ),
    "merge driver": attributes("* merge=evil", '[merge "evil"]\n\tdriver = EVIL'),
    "pager and editor": config(
        "[core]\n\tpager = EVIL\n\teditor = EVIL\n[pager]\n\tlog = EVIL\n"
        "[sequence]\n\teditor = EVIL"
    ),
    "remote programs": config(
        "[core]\n\tsshCommand = EVIL\n\tgitProxy = EVIL\n\taskPass = EVIL\n[credential]\n"
        '\thelper = EVIL\n[remote "origin"]\n\turl = ext::EVIL\n\tpromisor = true\n'
        "\tpartialclonefilter = blob:none\n[extensions]\n\tpartialClone = origin"
    ),
    "signing": config(
        '[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = EVIL\n[gpg "ssh"]\n\tprogram = EVIL\n'
        "\tdefaultKeyCommand = EVIL\n[user]\n\tsigningKey = x\n[log]\n\tshowSignature = true"
    ),
    "aliases": config("[alias]\n\tlog = !EVIL\n\tcommit = !EVIL\n\trev-parse = !EVIL"),
    "programs of refs": config(
        '[core]\n\talternateRefsCommand = EVIL\n[trailer "x"]\n\tcmd = EVIL'
    ),
    "included settings": included,
    "another work tree": config("[core]\n\tworktree = ../../outside"),
    "bare": config("[core]\n\tbare = true"),
    "future format": config("[core]\n\trepositoryformatversion = 99\n[extensions]\n\tevil = true"),
    "broken settings": file(".git/config", b"[core\n\0\xff not = settings"),
    "git is a file": git_file,
    "alternates": alternates,
    "submodule": submodule,
    "link out of the folder": link("semantic/outside", "outside"),
    "page is a link": link("MEMORY.md", "outside/page.md"),
    "tier is a link": link("episodic", "outside"),
    "git objects are a link": link(".git/objects/info", "outside"),
    "no such branch": file(".git/HEAD", b"ref: refs/heads/../../../outside/page.md\n"),
    "head is garbage": file(".git/HEAD", b"\0\xff garbage"),
    "ref is garbage": file(".git/refs/heads/main", b"not a hash\n"),
    "packed refs are garbage": file(".git/packed-refs", b"# pack-refs\n^^^\n\0\xff refs\n"),
    "index is garbage": file(".git/index", b"DIRC\xff\xff\xff\xff" + b"x" * 999),
    "left lock": file(".git/index.lock", b""),
    "broken objects": broken_objects,
    "replaced commits": replaced,
    "colliding names": colliding,
    "strange names": strange_names,
    "huge tree": huge,
    "deep tree": deep,
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with history that a stranger takes in hand."""
    root = tmp_path_factory.mktemp("base") / "memory"
    with Memory.create(root) as memory:
        memory.actor = Actor("cli")
        memory.remember("The berths are free until nine.", key="berth.until")
        memory.session("s1").turn("user", "We decided to use PostgreSQL because of its search.")
        memory.end("s1")
        memory.index.refresh()
    return root


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not on this machine")
@pytest.mark.parametrize("name", REPOSITORIES)
def test_a_hostile_repository_runs_nothing_and_is_told_in_lines(
    name: str, base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, outside, canary = tmp_path / "memory", tmp_path / "outside", tmp_path / "ran"
    shutil.copytree(base, root, symlinks=True)
    outside.mkdir()
    (outside / "page.md").write_text("# Somebody else's page\n", encoding="utf-8")
    evil = tmp_path / "evil"
    evil.write_text(f'#!/bin/sh\necho "$0 $*" >> {canary}\ncat\n', encoding="utf-8")
    evil.chmod(0o755)
    Path(f"{evil}.d").mkdir()
    shutil.copy(evil, Path(f"{evil}.d") / "pre-commit")
    REPOSITORIES[name](root, str(evil))
    before = seen(outside)
    for words in COMMANDS:
        code = cli.run([*words, "--memory", str(root)])
        told = capsys.readouterr()
        assert isinstance(code, int), words
        assert "Traceback" not in told.err, (words, told.err)
        assert all(len(line) < LONGEST_LINE for line in told.err.splitlines()), told.err
        assert code == 0 or told.err or told.out, f"{words} ended with {code} and said nothing"
    assert not canary.exists(), canary.read_text()
    assert {name: seen(outside).get(name) for name in before} == before
    assert "Somebody else" not in told.out


def seen(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder that git does not keep for itself."""
    found = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if one != "repository"]
        for one in names:
            found[f"{place}/{one}"] = Path(place, one).read_bytes()
    return found
