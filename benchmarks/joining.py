"""What merging, bisecting and signing cost, by what git needs for the same."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.stopwatch import Stopwatch
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.jobs.merging import join_commits
from kimi_memory.merge.trees import join
from kimi_memory.operations.verify_history import verify_history
from kimi_memory.past.bisect_versions import Verdict, find_version_flips
from kimi_memory.past.points import Point
from kimi_memory.store.git.history import History

JOIN = "join of 200 and 199 cards by git merge-tree"
FINISHED = "the same join by git merge-tree and git merge-file of each conflict"
CARD = "join of one card by git merge-file"
CONFLICTS = "files that a join leaves with marks"
ASKED = "versions that a bisect asks"
SIGNED = "commit that is signed by one that is not"
LATER = "commit that waits for the signature of its sync by one that is not"
FLOOR = "least for it: ssh-keygen and a commit that is not"
BY_GIT = "git commit -S of the same change by git commit"
VERIFIED = "verify --history, first, by git verify-commit of each"
KNOWN = "verify --history, again, by git verify-commit of each"
TARGETS = {
    JOIN: 4.0,
    CARD: 1.0,
    CONFLICTS: 0.0,
    ASKED: 12.0,
    SIGNED: 1.2,
    LATER: 1.2,
    VERIFIED: 1.1,
}
_PERSON = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
_SIGNED, _BOTH = 20, 102


def measure_join(
    root: Path, place: Path, paths: Sequence[str], watch: Stopwatch
) -> dict[str, float]:
    """Return what a merge of two branches costs that changed 200 and 199 cards, 102 in common.

    Args:
        root: the memory.
        place: an empty folder.
        paths: of its cards.
        watch: measures.
    """
    raw = place / "raw"
    git(place, "clone", "-q", "-b", "main", str(root), str(raw))
    base = git(raw, "rev-parse", "HEAD")
    heads = [_branch(raw, "one", base, paths[:200]), _branch(raw, "two", base, paths[98:297])]
    history = History(raw, lock=nullcontext, clock=lambda: datetime.now(UTC))
    joined = {}

    def ours() -> None:
        joined["files"] = join_commits(history.merger(), [base], heads)[1].files

    def theirs() -> None:
        merge = ("git", "merge-tree", "--write-tree", *heads)
        subprocess.run(merge, cwd=raw, check=False, capture_output=True)

    one, other = watch.compare(ours, theirs, watch.runs)
    sides = [git(raw, "show", f"{head}:{paths[150]}").encode() for head in (base, *heads)]
    files = [place / name for name in ("base", "ours", "theirs")]
    for path, content in zip(files, sides, strict=True):
        path.write_bytes(content)
    trees = [{paths[150]: content} for content in sides]
    merge_file = ("git", "merge-file", "-p", str(files[1]), str(files[0]), str(files[2]))
    card, file = watch.compare(
        lambda: join(*trees),
        lambda: subprocess.run(merge_file, check=False, capture_output=True),
        watch.runs * 3,
    )
    return {
        "join of 200 and 199 cards, milliseconds": one * 1000,
        JOIN: one / other,
        FINISHED: one / (other + _BOTH * file),
        CARD: card / file,
        CONFLICTS: float(sum(b"<<<<<<<" in content for content in joined["files"].values())),
    }


def _branch(raw: Path, name: str, base: str, paths: Sequence[str]) -> str:
    git(raw, "checkout", "-q", "-b", name, base)
    for number, path in enumerate(paths):
        text = (raw / path).read_text("utf-8").rpartition(" is at ")[0]
        (raw / path).write_text(f"{text} is at {name} {number}.\n", encoding="utf-8")
    git(raw, *_PERSON, "commit", "-qam", name)
    return git(raw, "rev-parse", "HEAD")


def count_asked(memory: Memory) -> float:
    """Return how many versions a search for the one at which a test began to fail asks."""
    asked = []
    wrong = len(memory.points.graph().line) * 2 // 3

    def judge(point: Point) -> Verdict:
        asked.append(point.version)
        return Verdict(point.version >= wrong)

    first = memory.points.find("v1")
    [flip] = find_version_flips(memory.past, judge, first)
    assert flip.cause.version == wrong
    return float(len(asked) - 2)  # both ends are asked whatever the length


def measure_signing(place: Path, opening: Opening, watch: Stopwatch) -> dict[str, float]:
    """Return what signatures cost: commits with them, and checking a history of them."""
    key = place / "key"
    make = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    subprocess.run(make, check=True)
    signers = place / "signers"
    signers.write_text(f"ann {key.with_suffix('.pub').read_text()}")
    homes = {when: _make_home(place, key, when) for when in ("commit", "sync")}
    with (
        Memory.create(place / "plain", opening=opening) as plain,
        Memory.create(place / "signed", opening=replace(opening, home=homes["commit"])) as signed,
        Memory.create(place / "later", opening=replace(opening, home=homes["sync"])) as later,
    ):
        made = [0]

        def commit(memory: Memory) -> None:
            made[0] += 1
            (memory.root / "USER.md").write_text(f"# Ann {made[0]}\n", encoding="utf-8")
            memory.history.commit("Page", only=["USER.md"])

        runs = max(watch.runs, _SIGNED)
        with_key, without = watch.compare(lambda: commit(signed), lambda: commit(plain), runs)
        waiting, plainly = watch.compare(lambda: commit(later), lambda: commit(plain), runs)
        payload = place / "payload"
        payload.write_text(f"{place}\n", encoding="utf-8")
        sign = ("ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", str(key))
        with payload.open("rb") as said:
            alone = watch.measure(
                lambda: subprocess.run(sign, stdin=said, check=True, capture_output=True), runs
            )
        names = git(signed.root, "rev-list", "HEAD").split()
        allowed = ("-c", f"gpg.ssh.allowedSignersFile={signers}", "-c", "gpg.format=ssh")
        each = watch.measure(
            lambda: [git(signed.root, *allowed, "verify-commit", name) for name in names[:runs]]
        )
        checks = [watch.spend(lambda: verify_history(signed)) for _ in range(2)]
        by_git = _measure_git_signing(plain.root, place / "by-git", key, watch)
    return {
        SIGNED: with_key / without,
        LATER: waiting / plainly,
        FLOOR: (without + alone) / without,
        BY_GIT: by_git,
        VERIFIED: checks[0] / (each * len(names) / runs),
        KNOWN: checks[1] / (each * len(names) / runs),
    }


def _make_home(place: Path, key: Path, when: str) -> Home:
    """Return the folders of a user who has each commit signed, or the last one before a sync."""
    (config := place / f"signing-{when}").mkdir()
    (config / "config.toml").write_text(f'[signing]\nkey = "{key}"\nwhen = "{when}"\n')
    return Home(config, place / f"signing-state-{when}")


def _measure_git_signing(root: Path, raw: Path, key: Path, watch: Stopwatch) -> float:
    """Return what a commit of a memory's page costs that git signs, by one that it does not."""
    git(root, "clone", "-q", str(root), str(raw))
    signing = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}")
    made = [0]

    def commit(*how: str) -> None:
        made[0] += 1
        (raw / "USER.md").write_text(f"# Bob {made[0]}\n", encoding="utf-8")
        git(raw, *signing, *_PERSON, "commit", "-q", "-m", "Page", *how, "USER.md")

    with_key, without = watch.compare(lambda: commit("-S"), commit, max(watch.runs, _SIGNED))
    return with_key / without


def git(place: Path, *words: str) -> str:
    """Run git as a person does; return what it says."""
    done = subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, text=True)
    return done.stdout.strip()
