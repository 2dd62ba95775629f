"""Contents, trees and a commit, written by one `git fast-import`.

Contents reach git as a stream, never as a path: what we read is what is committed, and
no filter of the repository runs. Only folders in which something changed are looked at,
so a commit costs what it changes and not what there is.
Format: https://git-scm.com/docs/git-fast-import#_input_format
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable
from threading import Event, Thread

from kimi_memory.store.git.command import Git, call_timeout, encode, end_group, refusal
from kimi_memory.store.git.tree import NOTHING, Difference

_COMMAND = ("fast-import",)
_PASSING = b"refs/kimi-memory-commit"
"""The branch that a commit needs while it is made; it is never written."""


class Import:
    """A stream of objects into a repository; git starts with the first."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._broken = False
        # Of each step: the stream as a whole may take as long as it has contents.
        self._seconds = call_timeout(())
        self._waits_since, self._hangs, self._ended = 0.0, False, Event()

    def __enter__(self) -> Import:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._process is None:
            return
        if error is not None:
            # The end of a stream counts as a good one, so git would keep what it got until then.
            end_group(self._process)
        try:
            _, err = self._process.communicate(timeout=call_timeout(_COMMAND))
        except subprocess.TimeoutExpired:
            self._hangs = True
            end_group(self._process)
            _, err = self._process.communicate()
        self._ended.set()
        failed = self._broken or self._process.returncode != 0
        if failed:
            self._remove_crash_report(self._process.pid)
        if self._hangs:
            raise self._git.give_up(_COMMAND, self._seconds) from error
        if failed and error is None:
            raise refusal(_COMMAND, err.decode("utf-8", "replace"))

    def _remove_crash_report(self, pid: int) -> None:
        """Remove the report that git leaves of its failure: it repeats what it was sent."""
        folder = self._git.folder or self._git.root / ".git"
        (folder / f"fast_import_crash_{pid}").unlink(missing_ok=True)

    def add(self, content: bytes) -> None:
        """Add one content."""
        self._feed_stream(b"blob\n" + _format_data(content))

    def commit(
        self, head: str, differences: Iterable[Difference], message: bytes, who: bytes
    ) -> str:
        """Add a commit; it may be published once the stream has ended well.

        Args:
            head: the commit it follows, empty for none.
            differences: what it changes; their contents were added before.
            message: the whole of it.
            who: author and committer, see `log.ident`.

        Returns:
            The name of the commit, empty where git failed, as the end of the stream tells.
        """
        parent = b"from %b\n" % head.encode() if head else b""
        return self._add_commit(message, who, parent + _format_differences(differences))

    def describe(self, head: str, message: bytes, who: bytes) -> bytes:
        """Return what the last commit says, given what it was made of; empty where git failed."""
        self._feed_stream(b'ls :1 ""\n')
        # Mode, kind and name of the tree, then an empty path.
        tree = self._read_answer().split("\t")[0].rpartition(" ")[2]
        parent = f"parent {head}\n" if head else ""
        start = f"tree {tree}\n{parent}".encode()
        return start + b"author %b\ncommitter %b\n\n%b" % (who, who, message) if tree else b""

    def merge(
        self, parents: tuple[str, str], files: Iterable[Difference], message: bytes, who: bytes
    ) -> str:
        """Add a commit of two parents that has these files and no others; return its name."""
        first, second = (one.encode() for one in parents)
        heads = b"from %b\nmerge %b\ndeleteall\n" % (first, second)
        return self._add_commit(message, who, heads + _format_differences(files))

    def _add_commit(self, message: bytes, who: bytes, rest: bytes) -> str:
        self._feed_stream(
            b"commit %b\nmark :1\nauthor %b\ncommitter %b\n%b%b"
            % (
                _PASSING,
                who,
                who,
                _format_data(message),
                rest,
            )
        )
        # The commit is named but no branch of git's moves: that happens with a check, see
        # `Committer`.
        self._feed_stream(b"get-mark :1\nreset %b\nfrom %b\n\n" % (_PASSING, NOTHING.encode()))
        return self._read_answer()

    def _feed_stream(self, part: bytes) -> None:
        if self._process is None:
            # To look for likeness to the last content takes longer than it saves.
            self._process = self._git.stream(*_COMMAND, "--quiet", "--depth=0")
            Thread(target=self._stop_hanging, args=(self._process,), daemon=True).start()
        if self._broken or self._process.stdin is None:
            return
        try:
            self._waits_since = time.monotonic()
            self._process.stdin.write(part)
        except BrokenPipeError:
            # Its exit code and words are read when the stream is closed.
            self._broken = True
        finally:
            self._waits_since = 0.0

    def _stop_hanging(self, process: subprocess.Popen[bytes]) -> None:
        """End a git that takes nothing in, or gives no answer, for too long."""
        while not self._hangs:
            if self._ended.wait(self._seconds / 8):
                return
            since = self._waits_since
            self._hangs = bool(since) and time.monotonic() - since >= self._seconds
        end_group(process)

    def _read_answer(self) -> str:
        process = self._process
        if self._broken or process is None or process.stdin is None or process.stdout is None:
            return ""
        try:
            self._waits_since = time.monotonic()
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        finally:
            self._waits_since = 0.0
        self._broken = not answer
        # What is no name of an object is refused by the command that it is given to.
        return answer.decode("ascii", "replace").strip()


def _format_data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _format_differences(differences: Iterable[Difference]) -> bytes:
    """Return the differences as the stream has them; absences first, they make room."""
    # A folder may become a file of the same name: first it has to be empty.
    ordered = sorted(differences, key=lambda difference: difference.new is not None)
    return b"".join(map(_format_difference, ordered))


def _format_difference(difference: Difference) -> bytes:
    path, new = quoted(difference.path), difference.new
    if new is None:
        return b"D %b\n" % path
    return b"M %b %b %b\n" % (new.mode.encode(), new.blob.encode(), path)


def quoted(path: str) -> bytes:
    """Return a path as the stream has it, whatever it holds."""
    # Quoted always: a path may hold a line break, which would begin a command of the stream.
    plain = encode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'"%b"' % plain.replace(b"\n", b"\\n")
