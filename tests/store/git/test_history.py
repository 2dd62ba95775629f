"""History with real git: what is committed, what is left alone, what is survived."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.domain.health import Severity
from kimi_memory.errors import HistoryError
from kimi_memory.store.git import command as git_cache
from kimi_memory.store.git import commit, tree
from kimi_memory.store.git import commit as git_commit
from kimi_memory.store.git.command import load_cache
from kimi_memory.store.git.history import History
from kimi_memory.store.store import Store
from tests.store.git.repositories import NOW, git, make, tracked, write

# A repository is made


def test_without_a_repository_nothing_arrives(root):
    assert make(root).arrivals(0.0) == {}


def test_init_makes_a_repository_with_the_safe_settings(root):
    history = make(root)
    assert not history.ready()
    assert history.init() == []
    assert history.ready()
    config = {name: git(root, "config", "--local", name) for name in ("core.fsync", "gc.auto")}
    assert config == {"core.fsync": "all", "gc.auto": "0"}
    assert git(root, "config", "maintenance.auto") == "false"
    assert git(root, "config", "core.autocrlf") == "false"
    assert "/.kimi/" in (root / ".gitignore").read_text(encoding="utf-8")
    assert "* -text" in (root / ".gitattributes").read_text(encoding="utf-8")
    assert git(root, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert not (root / ".git" / "hooks").exists()


def test_init_again_renews_settings_and_keeps_the_persons_files(history, root):
    (root / ".gitignore").write_text("mine\n")
    git(root, "config", "core.fsync", "none")
    git(root, "config", "--add", "core.fsync", "loose-object")
    git(root, "config", "merge.kimi-memory.driver", "evil %A")
    assert {"core.fsync", "merge.kimi-memory.driver"} <= {
        found.message.split()[1] for found in history.check()
    }
    head = history.head()
    assert make(root).init() == []
    assert (root / ".gitignore").read_text() == "mine\n"
    assert git(root, "config", "--get-all", "core.fsync") == "all"
    assert "kimi_memory git merge-file" in git(root, "config", "merge.kimi-memory.driver")
    assert history.head() == head


def test_without_history_nothing_is_done(root):
    history = make(root, enabled=False)
    assert history.init() == []
    assert history.commit("x") == ""
    assert (history.ready(), history.head(), history.log(), history.check()) == (False, "", [], [])
    assert history.find("Job", "x") is None
    assert not (root / ".git").exists()
    with pytest.raises(HistoryError, match="switched off"):
        history.diff()


def test_without_git_the_error_names_the_remedy(root, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HistoryError, match="Install git"):
        make(root).init()
    assert list(root.iterdir()) == []


def test_a_lost_git_is_reported_not_raised_by_ready(history, root, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    fresh = make(root)
    assert not fresh.ready()
    (finding,) = fresh.check()
    assert finding.severity is Severity.ERROR
    assert "git is not installed" in finding.message


def test_before_init_there_is_nothing_to_commit_to(root):
    history = make(root)
    with pytest.raises(HistoryError, match=r"no history here.*kimi-memory init"):
        history.commit("x")
    (finding,) = history.check()
    assert "no history" in finding.message


def test_an_init_that_was_killed_is_completed(root):
    history = make(root)
    (root / ".git" / "objects").mkdir(parents=True)
    history.init()
    write(root, "a.md")
    assert history.commit("x")


# Commits


def test_a_commit_holds_what_is_on_disk(history, root):
    write(root, "semantic/决策/a b.md", "一\r\n二\n")
    write(root, "short-term/session_1.jsonl", "{}\n")
    write(root, "short-term/session_1.json", "{}")
    commit = history.commit("Remember", trailers={"Job": "job-1", "Kind": "daily"})
    assert git(root, "rev-parse", "HEAD") == commit == history.head()
    assert tracked(root) >= {"semantic/决策/a b.md", "short-term/session_1.jsonl"}
    assert "short-term/session_1.json" not in tracked(root)
    assert history.content(commit, "semantic/决策/a b.md") == "一\r\n二\n".encode()
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "fsck", "--strict") == ""
    shown = git(root, "log", "-1", "--format=%an <%ae>|%cn <%ce>|%aI|%cI")
    assert shown == (
        "kimi_memory <kimi-memory@localhost>|kimi_memory <kimi-memory@localhost>"
        "|2026-02-27T10:15:00+08:00|2026-02-27T10:15:00+08:00"
    )


def test_no_change_makes_no_commit(history, root):
    head = history.head()
    assert history.commit("again") == ""
    (root / "memory.toml").touch()
    assert history.commit("again") == ""
    assert history.head() == head


def test_changes_deletions_and_renames_are_followed(history, root):
    write(root, "a.md", "1\n")
    write(root, "d/b.md", "2\n")
    history.commit("one")
    write(root, "a.md", "3\n")
    (root / "d" / "b.md").rename(root / "c.md")
    commit = history.commit("two")
    assert sorted(history.changed(commit)) == [("A", "c.md"), ("D", "d/b.md"), ("M", "a.md")]


def test_a_change_within_one_tick_of_the_clock_is_seen(history, root):
    for n in range(8):
        write(root, "a.md", f"{n:04}\n")
        commit = history.commit("tick")
        assert history.content(commit, "a.md") == f"{n:04}\n".encode()


def test_a_change_that_forges_its_time_is_seen(history, root):
    path = write(root, "a.md", "one\n")
    os.utime(path, ns=(1, 1))
    history.commit("one")
    path.write_text("two\n")
    os.utime(path, ns=(1, 1))
    assert history.content(history.commit("two"), "a.md") == b"two\n"


UNUSUAL = [
    "空 格.md",
    "quote\"'`$(x).md",
    "new\nline.md",
    "-rf.md",
    "--help",
    ":(exclude)x.md",
    ":!x.md",
    "star*[a]?.md",
    "back\\slash.md",
    "tab\t.md",
    "é.md",
    "长" * 84 + ".md",
    ".hidden",
    "a/:(glob)/**/b.md",
]


def test_unusual_names_make_the_whole_round(history, root):
    for name in UNUSUAL:
        write(root, name, "一\n")
    first = history.commit("in")
    assert sorted(history.changed(first)) == sorted(("A", name) for name in UNUSUAL)
    assert git(root, "status", "--porcelain") == ""
    write(root, "-rf.md", "二\n")
    assert history.diff(path="-rf.md") == history.diff() != ""
    assert history.diff(path=":(exclude)x.md") == ""
    second = history.commit("change")
    assert [c.hash for c in history.log(path="-rf.md")] == [second, first]
    for name in UNUSUAL:
        assert history.content(first, name) == "一\n".encode()
        assert history.log(path=name)[-1].hash == first
        (root / name).unlink()
    out = history.commit("out")
    assert sorted(history.changed(out)) == sorted(("D", name) for name in UNUSUAL)
    assert git(root, "status", "--porcelain") == ""


def test_a_name_that_is_not_utf8_is_committed(history, root):
    (Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.md"))).write_bytes(b"x")
    commit = history.commit("latin")
    assert [kind for kind, _ in history.changed(commit)] == ["A"]
    assert git(root, "status", "--porcelain") == ""
    assert history.commit("again") == ""


def test_a_plain_c_locale_is_no_obstacle(root):
    root.mkdir()
    write(root, "笔记.md", "内容\n")
    code = (
        "import sys\nfrom contextlib import nullcontext\nfrom datetime import datetime, UTC\n"
        "from pathlib import Path\nfrom kimi_memory.store.git.history import History\n"
        "h = History(Path(sys.argv[1]), lock=nullcontext, clock=lambda: datetime.now(UTC))\n"
        "h.init()\nc = h.commit('记住')\nassert h.content(c, '笔记.md')\n"
        "assert h.log()[0].subject == '记住', h.log()\n"
    )
    plain = {"PATH": os.environ["PATH"], "LANG": "C", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", code, str(root)], env=plain, check=True)
    assert "笔记.md" in tracked(root)


def test_what_the_owner_ignores_is_not_committed(history, root):
    (root / ".gitignore").write_text("/.kimi/\ndrafts/\n*.pdf\n")
    write(root, "drafts/a.md")
    write(root, "b.pdf")
    write(root, "b.md")
    history.commit("x")
    assert tracked(root).isdisjoint({"drafts/a.md", "b.pdf"})
    assert "b.md" in tracked(root)
    git(root, "add", "-f", "b.pdf")
    git(root, "commit", "-qm", "kept")
    write(root, "b.pdf", "new\n")
    commit = history.commit("y")
    assert history.changed(commit) == [("M", "b.pdf")]


def test_what_cannot_be_committed_is_left_as_it_was(history, root):
    (root / "link.md").symlink_to("memory.toml")
    git(root, "add", "link.md")
    git(root, "commit", "-qm", "a link")
    write(root, "inner/.git/HEAD", "ref: refs/heads/x")
    write(root, "inner/a.md")
    write(root, "a.md")
    history.commit("x")
    assert {"link.md", "a.md"} <= tracked(root)
    assert not any(path.startswith("inner") for path in tracked(root))
    messages = {finding.path: finding.message for finding in history.check()}
    assert "another git repository" in messages["inner"]
    assert "symbolic link" in messages["link.md"]


def test_a_file_that_becomes_a_folder_and_back_is_followed(history, root):
    write(root, "a", "file\n")
    (root / "b").symlink_to("a")
    git(root, "add", "b")
    git(root, "commit", "-qm", "a link")
    history.commit("file")
    (root / "a").unlink()
    (root / "b").unlink()
    write(root, "a/x.md")
    write(root, "b/x.md")
    history.commit("folder")
    assert {"a/x.md", "b/x.md"} <= tracked(root)
    shutil.rmtree(root / "a")
    write(root, "a", "file\n")
    history.commit("file")
    assert "a" in tracked(root)
    assert git(root, "status", "--porcelain") == ""


def test_an_executable_note_keeps_its_mode(history, root):
    path = write(root, "run.md")
    path.chmod(0o755)
    git(root, "add", "run.md")
    git(root, "update-index", "--chmod=+x", "run.md")
    git(root, "commit", "-qm", "x")
    write(root, "run.md", "changed\n")
    history.commit("y")
    assert git(root, "ls-tree", "HEAD", "run.md").startswith("100755")


def test_a_file_larger_than_the_limit_is_left_out(history, root):
    with (root / "huge.md").open("wb") as file:
        file.truncate(50 * 1024 * 1024 + 1)
    assert history.commit("x") == ""
    assert any("larger than 50 MB" in finding.message for finding in history.check())


def test_many_files_are_one_pack(history, root):
    for n in range(300):
        write(root, f"semantic/{n}.md", f"笔记 {n}\n")
    history.commit("many")
    assert len(tracked(root)) >= 300
    assert len(list((root / ".git/objects/pack").glob("*.pack"))) == 1
    assert git(root, "status", "--porcelain") == ""
    for n in range(300):
        write(root, f"semantic/{n}.md", f"note {n}\n")
    assert len(history.changed(history.commit("all"))) == 300
    assert git(root, "status", "--porcelain") == ""


def test_a_branch_without_a_past_starts_anew(history, root):
    write(root, "a.md")
    history.commit("x")
    git(root, "switch", "-q", "--orphan", "fresh")
    write(root, "b.md")
    commit = history.commit("first of fresh")
    assert history.content(commit, "b.md") == b"x\n"
    assert len(history.log()) == 1
    assert git(root, "status", "--porcelain") == ""


# The person at the same repository


def test_what_the_person_staged_stays_staged_and_out_of_our_commit(history, root):
    write(root, "mine.md", "staged\n")
    write(root, "old.md", "1\n")
    history.commit("base")
    write(root, "old.md", "staged 2\n")
    git(root, "add", "old.md")
    write(root, "old.md", "on disk 3\n")
    write(root, "ours.md", "ours\n")
    commit = history.commit("ours")
    assert history.content(commit, "old.md") == b"on disk 3\n"
    assert git(root, "show", ":old.md") == "staged 2"
    assert git(root, "show", ":ours.md") == "ours"
    assert git(root, "status", "--porcelain") == "MM old.md"


def test_a_staged_removal_stays(history, root):
    write(root, "a.md")
    history.commit("a")
    git(root, "rm", "-q", "--cached", "a.md")
    write(root, "b.md")
    history.commit("b")
    assert git(root, "status", "--porcelain").splitlines() == ["D  a.md", "?? a.md"]
    assert "a.md" in tracked(root)


def test_a_commit_of_the_persons_own_is_built_upon(history, root):
    write(root, "a.md", "1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "person")
    theirs = history.head()
    write(root, "a.md", "2\n")
    commit = history.commit("ours")
    assert git(root, "rev-parse", f"{commit}^") == theirs
    assert history.changed(commit) == [("M", "a.md")]


def test_commits_go_to_the_branch_the_person_is_on(history, root):
    git(root, "switch", "-qc", "试验")
    write(root, "a.md")
    commit = history.commit("x")
    assert git(root, "rev-parse", "试验") == commit
    assert git(root, "rev-parse", "main") != commit
    git(root, "switch", "-q", "main")
    assert not (root / "a.md").exists()
    assert history.commit("y") == ""


def test_a_branch_without_commits_gets_its_first(root):
    history = make(root)
    history.init()
    git(root, "switch", "-qc", "other")
    write(root, "a.md")
    assert history.diff() != ""
    assert history.commit("first") == git(root, "rev-parse", "other")


def test_nothing_is_committed_to_a_detached_head(history, root):
    git(root, "checkout", "-q", "--detach")
    write(root, "a.md")
    with pytest.raises(HistoryError, match="git switch -"):
        history.commit("x")
    assert any("detached" in finding.message for finding in history.check())
    assert "+x" in history.diff()
    git(root, "switch", "-q", "main")
    assert history.commit("x")


def conflict(root: Path, history: History) -> None:
    write(root, "a.md", "base\n")
    history.commit("base")
    git(root, "switch", "-qc", "side")
    write(root, "a.md", "side\n")
    history.commit("side")
    git(root, "switch", "-q", "main")
    write(root, "a.md", "main\n")
    history.commit("main")


@pytest.mark.parametrize(
    ("start", "stop", "verb"),
    [
        (["merge", "side"], ["merge", "--abort"], "merge"),
        (["rebase", "side"], ["rebase", "--abort"], "rebase"),
        (["rebase", "--apply", "side"], ["rebase", "--abort"], "rebase"),
        (["cherry-pick", "side"], ["cherry-pick", "--abort"], "cherry-pick"),
        (["revert", "--no-edit", "HEAD~1"], ["revert", "--abort"], "revert"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_merge_under_way_is_waited_for(history, root, start, stop, verb):
    conflict(root, history)
    head = history.head()
    git(root, *start, check=False)
    with pytest.raises(HistoryError, match=f"A {verb} is under way") as raised:
        history.commit("x")
    assert ("merge --continue" in str(raised.value)) == (verb == "merge")
    assert any(f"a {verb} is under way" in finding.message for finding in history.check())
    git(root, *stop)
    assert history.head() == head
    write(root, "b.md")
    assert history.commit("after")


def test_a_branch_that_cannot_move_is_an_error(history, root):
    write(root, "a.md")
    (root / ".git/refs/heads/main.lock").touch()
    with pytest.raises(HistoryError, match="Another git command"):
        history.commit("x")
    (root / ".git/refs/heads/main.lock").unlink()
    assert history.commit("x")
    assert git(root, "status", "--porcelain") == ""


# Crashes


def test_a_killed_gits_lock_does_not_block_us(history, root):
    write(root, "a.md")
    blocked = subprocess.Popen(
        ["git", "-C", str(root), "update-index", "--index-info"], stdin=subprocess.PIPE
    )
    lock = root / ".git/index.lock"
    deadline = time.monotonic() + 60
    while not lock.exists():
        assert time.monotonic() < deadline
    blocked.send_signal(signal.SIGKILL)
    blocked.communicate()
    assert lock.exists()
    os.utime(lock, (time.time() - 60, time.time() - 60))
    assert history.commit("x")
    assert not lock.exists()
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("step", ["fast-import", "update-ref", "adopt", "settle"])
def test_a_crash_between_any_two_steps_is_made_good(history, root, monkeypatch, step):
    write(root, "a.md", "1\n")
    write(root, "b.md", "1\n")
    history.commit("base")
    write(root, "a.md", "crash\n")
    (root / "b.md").unlink()
    write(root, "c.md", "new\n")
    crash_at(monkeypatch, step)
    with pytest.raises(KeyboardInterrupt):
        history.commit("crashes")
    monkeypatch.undo()
    write(root, "a.md", "1\n")
    made = make(root)
    made.commit("after")
    assert made.content("HEAD", "a.md") == b"1\n"
    assert tracked(root) >= {"a.md", "c.md"}
    assert "b.md" not in tracked(root)
    assert git(root, "status", "--porcelain") == ""
    assert made.commit("nothing left") == ""
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


def crash_at(monkeypatch, step: str) -> None:
    def crash(*_arguments, **_options):
        raise KeyboardInterrupt

    if step == "adopt":
        monkeypatch.setattr(git_commit, "_update_cache", crash)
    elif step == "fast-import":
        monkeypatch.setattr(commit.Import, "_read_answer", crash)
    elif step == "settle":
        monkeypatch.setattr(tree, "_write_index", crash)
    else:
        real = git_commit.Git.call

        def call(self, *arguments, **options):
            if arguments[0] == step:
                raise KeyboardInterrupt
            return real(self, *arguments, **options)

        monkeypatch.setattr(git_commit.Git, "call", call)


def test_derived_files_may_vanish_or_be_damaged(history, root):
    for n in range(3):
        write(root, f"{n}.md")
    history.commit("x")
    for damage in (b"", b"garbage\n[]", None):
        for name in ("git-cache", "git-owed"):
            path = root / ".kimi" / name
            if damage is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(damage)
        write(root, "0.md", f"{damage!r}\n")
        commit = history.commit("y")
        assert history.changed(commit) == [("M", "0.md")]
        assert git(root, "status", "--porcelain") == ""


def test_a_commit_by_how_files_look_holds_what_a_whole_one_would(history, root):
    """Changed, new and deleted files go in; a repository inside and what git ignores do not."""
    for name in ("a.md", "b.md", "c.md", "d/e.md"):
        write(root, name)
    history.commit("x")
    write(root, "a.md", "changed\n")
    write(root, "d/new.md")
    (root / "b.md").unlink()
    (root / "d/e.md").unlink()
    write(root, "inner/f.md")
    git(root / "inner", "init", "-q")
    write(root, "g.md.tmp")
    with Store.open(root, key=b"k") as store:
        looks = store.folder_scan.look().files
    assert "inner/f.md" in looks
    assert history.commit("y", looks=looks)
    assert {"a.md", "c.md", "d/new.md"} == {p for p in tracked(root) if p.endswith(".md")}
    assert git(root, "show", "HEAD:a.md") == "changed"
    assert git(root, "status", "--porcelain", "--", "*.md").splitlines() in ([], ["?? inner/"])
    assert history.commit("z", looks=looks) == ""
    assert history.commit("z") == ""


def test_the_next_process_goes_on_from_what_was_kept(history, root):
    write(root, "a.md")
    history.commit("x")
    write(root, "b.md")
    history.commit("y")
    history.close()
    assert load_cache(root / ".kimi/git-cache").head == git(root, "rev-parse", "HEAD")


def test_what_cannot_be_kept_is_found_again(history, root, monkeypatch):
    write(root, "a.md")
    history.commit("x")
    write(root, "b.md")
    history.commit("y")

    def full(path, cache):
        raise HistoryError("the disk is full")

    monkeypatch.setattr(git_cache, "save_cache", full)
    history.close()
    monkeypatch.undo()
    again = make(root)
    assert again.commit("z") == ""


def test_left_temporaries_are_swept(history, root):
    old, young = root / ".kimi/git-owed-1-a", root / ".kimi/git-cache-2-b"
    old.touch()
    young.touch()
    os.utime(old, (1, 1))
    history.commit("x")
    assert not old.exists()
    assert young.exists()


def test_the_cache_that_cannot_be_written_is_an_error_with_a_remedy(history, root):
    write(root, "a.md")
    cache = root / ".kimi/git-cache"
    cache.unlink()
    cache.mkdir()
    (cache / "x").touch()
    with pytest.raises(HistoryError, match="could not be written"):
        history.commit("x")
    assert list((root / ".kimi").glob("git-cache-*")) == []


def test_a_folder_that_history_lost_cannot_be_committed_to(history, root):
    write(root, "d/a.md")
    history.commit("x")
    lose(root, "HEAD:d")
    write(root, "d/b.md")
    with pytest.raises(HistoryError, match="doctor"):
        history.commit("cannot")
    assert (root / "d/b.md").exists()
    assert not list((root / ".git").glob("fast_import_crash_*"))


def lose(root: Path, name: str) -> str:
    """Remove an object of the repository; return its hash."""
    found = git(root, "rev-parse", name)
    lost = root / ".git/objects" / found[:2] / found[2:]
    lost.chmod(0o644)
    lost.unlink()
    return found


def test_the_reflog_names_us(history, root):
    write(root, "a.md")
    history.commit("x")
    assert git(root, "log", "-g", "-1", "--format=%gn <%ge>") == (
        "kimi_memory <kimi-memory@localhost>"
    )


def test_a_folder_that_is_gone_is_said(history, root):
    shutil.rmtree(root)
    with pytest.raises(HistoryError, match="is gone"):
        History(root, lock=nullcontext, clock=lambda: NOW).init()


def test_a_stream_that_breaks_is_an_error(history, root):
    for n in range(50):
        write(root, f"{n}.md", "x" * 100_000 + str(n))
    objects = root / ".git/objects/pack"
    shutil.rmtree(objects, ignore_errors=True)
    objects.write_text("not a folder")
    with pytest.raises(HistoryError, match="fast-import"):
        history.commit("x")


def test_processes_that_share_a_lock_all_commit(history, root):
    start = multiprocessing.get_context("fork").Barrier(4)
    workers = [
        multiprocessing.get_context("fork").Process(target=_worker, args=(root, n, start))
        for n in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert {f"{n}-{k}.md" for n in range(4) for k in range(5)} <= tracked(root)
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


def _worker(root: Path, n: int, start) -> None:
    import fcntl

    @contextmanager
    def lock():
        with (root / ".kimi/lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    history = History(root, lock=lock, clock=lambda: datetime.now(UTC))
    start.wait()
    for k in range(5):
        write(root, f"{n}-{k}.md", f"{n} {k}\n")
        history.commit(f"{n} {k}")


# Hostile repositories


def test_nothing_a_repository_names_is_run(history, root, tmp_path):
    canary = tmp_path / "canary"
    script = tmp_path / "run.sh"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> "{canary}"\ncat\n')
    script.chmod(0o755)
    hooks = root / ".git/hooks"
    hooks.mkdir()
    for hook in ("reference-transaction", "pre-commit", "post-commit", "post-index-change"):
        shutil.copy(script, hooks / hook)
    shutil.copy(script, hooks / "pre-push.sample")
    (hooks / "README").touch()
    for name in (
        "core.fsmonitor",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "core.pager",
        "core.editor",
        "gpg.program",
        "core.sshCommand",
        "remote.origin.uploadpack",
    ):
        git(root, "config", name, str(script))
    git(root, "config", "filter.evil.required", "true")
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "log.showSignature", "true")
    git(root, "config", "remote.origin.url", str(tmp_path))
    git(root, "config", "remote.origin.promisor", "true")
    git(root, "config", "extensions.partialClone", "origin")
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    write(root, "a.md", "content\n")
    canary.unlink(missing_ok=True)
    fresh = make(root)
    first = fresh.commit("x")
    write(root, "a.md", "changed\n")
    assert "changed" in fresh.diff()
    second = fresh.commit("y")
    assert "changed" in fresh.diff(first, second)
    assert fresh.content(second, "a.md") == b"changed\n"
    with pytest.raises(HistoryError):
        fresh.content("1" * 40, "a.md")
    fresh.log()
    fresh.changed(second)
    names = " ".join(finding.message for finding in fresh.check())
    fresh.init()
    assert not canary.exists(), canary.read_text()
    assert "filter.evil.clean" in names
    assert "core.fsmonitor" in names
    assert names.count("a hook that runs") == 4


def test_a_linked_git_folder_is_refused(root, tmp_path):
    git(tmp_path, "init", "-q", "elsewhere")
    history = make(root)
    (root / ".git").symlink_to(tmp_path / "elsewhere/.git")
    assert not history.ready()
    with pytest.raises(HistoryError, match="symbolic link"):
        history.init()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_a_repository_of_another_user_is_refused_until_trusted(
    history, root, monkeypatch, tmp_path
):
    monkeypatch.setenv("HOME", str(tmp_path))
    os.chown(root / ".git", 12345, 12345)
    write(root, "a.md")
    with pytest.raises(HistoryError, match=r"belongs to another user.*safe\.directory"):
        history.commit("x")
    (finding,) = history.check()
    assert "safe.directory" in finding.remedy
    (tmp_path / ".gitconfig").write_text(f'[safe]\n\tdirectory = "{root}"\n', encoding="utf-8")
    assert history.commit("x")


# Reading


def test_log_tells_trailers_and_finds_by_them(history, root):
    write(root, "a.md", "1\n")
    one = history.commit("记住 a", trailers={"Job": "job-1", "Kind": "daily", "Empty": " "})
    write(root, "a.md", "2\n")
    two = history.commit("Remember a", trailers={"Job": "job-12", "Prompt Sha": "ab\nJob: fake"})
    commits = history.log()
    assert [c.subject for c in commits] == ["Remember a", "记住 a", "Start"]
    assert commits[0].trailers == {"Job": "job-12", "Prompt-Sha": "ab Job: fake"}
    assert commits[1].trailers == {"Job": "job-1", "Kind": "daily"}
    assert commits[0].at == NOW
    assert history.find("Job", "job-1").hash == one
    assert history.find("Job", "job-12").hash == two
    assert history.find("Job", "fake") is None
    assert [c.hash for c in history.log(limit=1)] == [two]
    assert history.log(path="absent.md") == []
    shown = git(root, "log", "-1", "--format=%(trailers:key=Job,valueonly)", one)
    assert shown.strip() == "job-1"


def test_an_empty_repository_answers_with_nothing(root):
    history = make(root)
    history.init()
    assert history.head() == ""
    assert history.log() == []
    assert history.find("Job", "1") is None
    write(root, "a.md", "未提交\n")
    assert "+未提交" in history.diff()
    with pytest.raises(HistoryError, match="No commit 'HEAD'"):
        history.content("HEAD", "a.md")
    assert history.check() == []


def test_diff_shows_new_changed_and_deleted_files_and_changes_nothing(history, root):
    write(root, "a.md", "一\n")
    write(root, "b.md", "b\n")
    first = history.commit("base")
    write(root, "a.md", "二\n")
    (root / "b.md").unlink()
    write(root, "新.md", "新\n")
    before = sorted((p, p.stat().st_mtime_ns) for p in (root / ".git").rglob("*"))
    diff = history.diff()
    for line in ("-一", "+二", "-b", "+新", "b/新.md"):
        assert line in diff
    assert sorted((p, p.stat().st_mtime_ns) for p in (root / ".git").rglob("*")) == before
    assert history.diff(path="a.md").count("diff --git") == 1
    second = history.commit("next")
    assert history.diff() == ""
    assert history.diff(first, second) == diff
    assert history.diff(first, second, "新.md").count("diff --git") == 1


@pytest.mark.parametrize("name", ["", "no-such", "--all", "-h", "HEAD:memory.toml"])
def test_an_unknown_commit_is_said(history, name):
    with pytest.raises(HistoryError, match="No commit"):
        history.content(name, "memory.toml")


def test_content_is_none_where_a_file_is_not(history, root):
    write(root, "d/a.md")
    commit = history.commit("x")
    assert history.content(commit, "d") is None
    assert history.content(commit, "absent.md") is None
    assert history.content(commit[:12], "d/a.md") == b"x\n"


def test_changed_follows_the_first_parent_of_a_merge(history, root):
    git(root, "switch", "-qc", "side")
    write(root, "side.md")
    history.commit("side")
    git(root, "switch", "-q", "main")
    write(root, "main.md")
    history.commit("main")
    git(root, "merge", "-q", "--no-edit", "side")
    assert history.changed("HEAD") == [("A", "side.md")]


# The doctor


def test_versions_of_the_files_in_a_folder_are_told_newest_first(history, root):
    assert history.versions("a") == []
    write(root, "a/x", "1\n")
    write(root, "b/x")
    first = history.commit("one")
    write(root, "a/x", "2\n")
    second = history.commit("two")
    (root / "a/x").unlink()
    history.commit("three")
    found = history.versions("a")
    assert [(one.commit, one.path) for one in found] == [(second, "a/x"), (first, "a/x")]
    contents = history.blobs(one.blob for one in found)
    assert [contents[one.blob] for one in found] == [b"2\n", b"1\n"]
    assert history.blobs([]) == {}


def test_a_worktree_of_a_memory_has_its_own_commits(history, root, tmp_path):
    git(root, "worktree", "add", "-qb", "fork", str(tmp_path / "fork"))
    fork = make(tmp_path / "fork")
    assert fork.ready()
    assert fork.init() == []
    write(tmp_path / "fork", "a.md")
    assert "+x" in fork.diff()
    commit = fork.commit("in the fork")
    assert git(root, "rev-parse", "fork") == commit
    assert history.head() != commit
    assert git(tmp_path / "fork", "status", "--porcelain") == ""
    assert fork.check() == []


def test_threads_may_read_while_one_commits(history, root):
    stop, failures = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                history.log()
                history.diff()
            except HistoryError as error:
                failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(5):
        write(root, "a.md", f"{n}\n")
        history.commit(f"{n}")
    stop.set()
    reader.join()
    assert failures == []


def test_a_commit_of_some_paths_leaves_the_others_to_the_next(history, root):
    for name in ("mine.md", "gone.md", "kept.md"):
        write(root, name)
    history.commit("three")
    write(root, "mine.md", "mine\n")
    write(root, "theirs.md")
    write(root, "kept.md", "edited\n")
    (root / "gone.md").unlink()
    made = history.commit("some", only=["mine.md", "gone.md"])
    assert sorted(history.changed(made)) == [("D", "gone.md"), ("M", "mine.md")]
    assert history.commit("none", only=["mine.md"]) == ""
    rest = history.commit("the rest")
    assert sorted(history.changed(rest)) == [("A", "theirs.md"), ("M", "kept.md")]
    assert git(root, "status", "--porcelain") == ""


def test_the_graph_has_every_commit_after_its_parents(history: History) -> None:
    first = history.head()
    write(history.root, "USER.md", "one\n")
    second = history.commit("Second")
    assert [(row.commit, row.parents) for row in history.graph()] == [
        (first, ()), (second, (first,)),
    ]  # fmt: skip
    assert [row.commit for row in history.graph(first)] == [first]
    assert [one.hash for one in history.since(first)] == [second]
    assert history.resolve(second[:9]) == second


def test_a_commit_can_have_names(history: History) -> None:
    head = history.head()
    history.set_name("start", head)
    history.set_name("搬家之前", head)
    assert history.names() == {"start": head, "搬家之前": head}
    history.set_name("start", "")
    assert history.names() == {"搬家之前": head}
    with pytest.raises(HistoryError, match="cannot be a name"):
        history.set_name("a..b", head)


def test_without_history_there_are_no_names(root: Path) -> None:
    off = make(root, enabled=False)
    assert (off.names(), off.since()) == ({}, [])


def test_what_commits_did_to_files_is_told_with_what_was_before(history: History) -> None:
    write(history.root, "a.md", "one\n")
    added = history.commit("Add")
    write(history.root, "a.md", "two\n")
    changed = history.commit("Change")
    (history.root / "a.md").unlink()
    gone = history.commit("Remove")
    found = [one for one in history.touched([added, changed, gone]) if one.path == "a.md"]
    assert [one.commit for one in found] == [added, changed, gone]
    blobs = [(one.before, one.blob) for one in found]
    assert blobs[0][0] == blobs[2][1] == "" and blobs[1] == (blobs[0][1], blobs[2][0])
    assert [(one.old, one.new) for one in history.pairs(added, changed)] == [(b"one\n", b"two\n")]
    assert [one.new for one in history.pairs(added) if one.path == "a.md"] == [None]
    asked = [(added, "a.md"), (gone, "a.md"), (added, "../x"), (added, "no\nsuch")]
    assert history.contents(asked) == {(added, "a.md"): b"one\n"}
    assert history.contents([(added, "")]) == {}
    write(history.root, "deep/b.md", "b\n")
    assert history.contents([(history.commit("Deep"), "deep")]) == {}


def test_a_merge_is_told_with_what_no_parent_has(history: History) -> None:
    write(history.root, "a.md", "base\n\n\nend\n")
    history.commit("Base")
    git(history.root, "switch", "-qc", "aside")
    write(history.root, "a.md", "base\n\n\nend of theirs\n")
    write(history.root, "theirs.md")
    history.commit("Theirs")
    git(history.root, "switch", "-q", "main")
    write(history.root, "a.md", "base of ours\n\n\nend\n")
    history.commit("Ours")
    git(history.root, "merge", "-q", "--no-edit", "aside")
    assert [one.path for one in history.touched([history.head()])] == ["a.md"]


def test_lines_are_blamed_without_running_programs_of_the_repository(
    history: History, tmp_path: Path
) -> None:
    write(history.root, "a.md", "one\ntwo\n")
    first = history.commit("First")
    write(history.root, "a.md", "one\n\ttwo of it\n")
    write(history.root, ".gitattributes", "*.md diff=evil\n")
    second = history.commit("Second")
    git(history.root, "config", "diff.evil.textconv", f"touch {tmp_path / 'ran'}; cat")
    assert history.blame("HEAD", "a.md", [1, 2]) == {1: first, 2: second}
    assert history.blame("HEAD", "a.md", [2]) == {2: second}
    assert history.blame("HEAD", "a.md", []) == {}
    assert not (tmp_path / "ran").exists()
