"""Bundles: a memory with its history, or what is new in it, carried as one file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening
from kimi_memory.config import MARKER
from kimi_memory.domain.memory_identity import read_id
from kimi_memory.domain.sync import MergeReport
from kimi_memory.errors import HistoryError, MovedError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.branches import check_name, open_branch
from kimi_memory.operations.bundle_signatures import (
    find_file_signer,
    find_signing_key,
    sign_file,
    signature_of,
)
from kimi_memory.operations.encryption import (
    decrypt_file,
    encrypt_file,
    is_encrypted,
    read_recipients,
)
from kimi_memory.operations.health_checks import find_purged_heads
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.new_copies import make_branch
from kimi_memory.operations.new_folders import (
    File,
    begin_copy,
    borrow_folder,
    lay_folder,
    list_copy,
    make_history,
    write_files,
)
from kimi_memory.operations.open_questions import waiting_files
from kimi_memory.past.naming import means_point
from kimi_memory.store.files.outside import check_new_file
from kimi_memory.store.git.bundle import Bundle, Compression, Manifest, read_bundle
from kimi_memory.store.git.incoming import fill_repository
from kimi_memory.store.git.signers import Signers
from kimi_memory.store.git.tree import scan

__all__ = ["Compression", "export_bundle", "import_as_branch", "import_bundle", "unpack_copy"]


@dataclass(frozen=True, slots=True)
class Exported:
    """What a bundle holds."""

    path: Path
    bytes: int
    commit: str
    version: int
    base: str = ""
    """It holds only what came after this commit; all where empty."""
    left_out: tuple[str, ...] = ()
    """Files that are not in the history, and why."""
    signature: Path | None = None
    """The file with its signature; None where it was not signed."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought."""

    path: Path
    folder: Path
    commit: str
    """The commit that was the current one where the bundle was written."""
    files: int = 0
    """Files of a new copy; 0 where it was merged."""
    merged: MergeReport | None = None
    names: tuple[str, ...] = ()
    """Versions that have a name here now."""
    kept: tuple[str, ...] = ()
    """Names that mean another version here, and go on to."""
    signed: bool = False
    """Whether a signature lies beside the file."""
    signer: str = ""
    """Whose it is; empty for nobody who is known."""


def export_bundle(
    memory: Memory,
    path: Path,
    *,
    since: str = "",
    compress: Compression = "none",
    recipients: Sequence[str] = (),
    signed: bool = False,
) -> Exported:
    """Write a memory and its history into one file; what was not committed yet is, first.

    Args:
        memory: opened for writing.
        path: a new file, outside of the memory.
        since: a point in the history: what came after it, for a copy that has the rest.
        compress: git compresses already; gzip gains a few percent.
        recipients: keys of age or SSH; it is encrypted for them.
        signed: write a signature beside it, with the key of the user's settings.

    Raises:
        UsageError: the file cannot be written, nothing came after the point, or there is no key.
        HistoryError: there is no history.
        SignatureError: the key cannot be used.
    """
    check_new_file(memory.root, path)
    signing = find_signing_key(memory.signing.key, path) if signed else None
    keys = read_recipients(recipients) if recipients else []
    if not memory.store.read_only:
        memory.repair_merges()
        memory.batch.flush()
        memory.sign_last()
    with ExitStack() as after:
        # A plain copy beside the encrypted one could be synced or kept by what looks after it.
        place = after.enter_context(borrow_folder()) / path.name if keys else path
        with memory.store.lock("job"), memory.store.lock("git"):
            manifest = replace(describe_memory(memory, since), compress=compress)
            memory.history.merger().write_bundle(place, manifest)
        if keys:
            encrypt_file(place, path, keys)
    if signing is not None:
        sign_file(signing, path)
    size = path.stat().st_size
    # What no commit holds, such as a file of 60 MB, is not in a bundle either.
    skipped = sorted(scan(memory.root).skipped.items())
    left_out = tuple(f"{path}: {why}" for path, why in skipped)
    beside = signature_of(path) if signed else None
    return Exported(path, size, manifest.head, manifest.version, manifest.base, left_out, beside)


def describe_memory(memory: Memory, since: str = "") -> Manifest:
    """Return what a bundle of the memory as it is now says of itself.

    Raises:
        UsageError: nothing came after the point, or it is none.
    """
    head, merger = memory.points.find("HEAD"), memory.history.merger()
    base = memory.points.find(since).commit if since else ""
    # A bundle that carries no commit is refused by git, in words that say less.
    if base and merger.bases(base, head.commit) == [head.commit]:
        raise UsageError(f"Nothing came after {since}; there is nothing to export.")
    waiting = {one.path: one.content for one in waiting_files(memory)}
    counts = merger.find_blobs(_find_counting(memory, waiting))
    return Manifest(
        memory.settings.memory.id,
        head.commit,
        merger.ref.removeprefix("refs/heads/"),
        head.version,
        memory.settings.memory.name,
        memory.copy_id,
        base,
        names=memory.history.names(),
        waiting={path: counts.get(path, "") for path in waiting},
    )


def _find_counting(memory: Memory, waiting: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the versions in force of the files that wait for review."""
    served = {path: memory.store.served(path) for path in waiting}
    return {path: one.content for path, one in served.items() if one.cap is None}


def import_bundle(
    memory: Memory, path: Path, *, identity: Path | None = None, dry_run: bool = False
) -> Imported:
    """Merge what a bundle brings of the same memory, as the folder of another copy is merged.

    Args:
        memory: opened for writing.
        path: the file.
        identity: a file with the key that it is encrypted for.
        dry_run: report, and write nothing but objects that git does not show.

    Raises:
        UsageError: the file is damaged, no bundle, or holds what no memory has.
        SignatureError: the signature beside it is not of this file.
        HistoryError: it is of another memory, or builds on commits that are not here.
        GateError: too many notes would go.
    """
    told = find_file_signer(memory.signing.signers, path)
    with open_bundle(path, identity) as bundle:
        manifest = bundle.manifest
        if memory.store.moved:  # Before any of its objects are ours.
            raise MovedError(memory.store.moved)
        _check_memory(memory.settings.memory.id, bundle)
        memory.batch.flush()
        with memory.store.lock("job"):
            memory.history.merger().take_bundle(bundle, purged=bool(find_purged_heads(memory)))
        report = merge_copy(memory, manifest.head, dry_run=dry_run)
        given, kept = take_names(memory, manifest.names, dry_run=dry_run)
    merged = replace(report, source=str(bundle.path))
    found = Imported(path, memory.root, manifest.head, merged=merged, names=given, kept=kept)
    return _name_signer(found, told)


def _name_signer(found: Imported, signer: str | None) -> Imported:
    return replace(found, signed=True, signer=signer) if signer is not None else found


def import_as_branch(
    memory: Memory,
    path: Path,
    name: str,
    folder: Path,
    *,
    identity: Path | None = None,
    dry_run: bool = False,
) -> Imported:
    """Merge what a bundle brings into a new branch of this memory, as `import_bundle` does.

    Args:
        memory: opened for writing; only the branch changes.
        path: the file.
        name: of the branch.
        folder: of the branch, new or empty.
        identity: a file with the key that it is encrypted for.
        dry_run: report, and write nothing but objects that git does not show.
    """
    check_name(memory, name)
    # What would be refused is refused before there is a branch.
    tried = import_bundle(memory, path, identity=identity, dry_run=True)
    if dry_run:
        return tried
    make_branch(memory, name, folder)
    with open_branch(memory, name) as branch:
        return import_bundle(branch, path, identity=identity)


@contextmanager
def open_bundle(path: Path, identity: Path | None) -> Iterator[Bundle]:
    """Give a bundle of which every byte was checked, decrypted where it is not plain."""
    if not is_encrypted(path):
        yield read_bundle(path)
        return
    with borrow_folder() as folder:
        decrypt_file(path, folder / path.name, identity)
        yield read_bundle(folder / path.name)


def take_names(
    memory: Memory, names: Mapping[str, str], *, dry_run: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give versions the names that they have in another copy.

    Returns:
        The names that are new here, and those that mean another version here and go on to.
    """
    here, points = memory.history.names(), memory.points
    # Anybody writes a bundle: git would keep a secret, and "today" would choose what today is.
    told = {name: commit for name, commit in names.items() if not memory.is_secret(name)}
    hiding = {name for name in told if name not in here and means_point(points, name)}
    given = tuple(name for name in told if name not in here and name not in hiding)
    if not dry_run:
        for name in given:
            memory.history.set_name(name, names[name])
    other = {name for name, commit in told.items() if here.get(name, commit) != commit}
    return given, tuple(name for name in told if name in other | hiding)


def _check_memory(id: str, bundle: Bundle) -> None:
    if bundle.manifest.memory != id:
        raise HistoryError(
            f"{bundle.path} is of another memory (id {bundle.manifest.memory}). Import it into a "
            "folder of its own."
        )


def unpack_copy(
    path: Path,
    folder: Path,
    opening: Opening,
    *,
    identity: Path | None = None,
    dry_run: bool = False,
) -> Imported:
    """Make a copy of a memory in a new or empty folder, as a clone is made.

    What waits for a person's word where the bundle was written waits here as well.

    Args:
        path: a bundle of the whole memory.
        folder: where to.
        opening: how the copy is opened.
        identity: a file with the key that it is encrypted for.
        dry_run: unpack it, look through it, and remove it again.

    Raises:
        UsageError: the file is damaged, no bundle or holds what no memory has; or the folder
            cannot be used.
        SignatureError: the signature beside it is not of this file.
        HistoryError: the bundle holds only what came after some commit.
    """
    home = opening.home or Home.of_user()
    told = find_file_signer(Signers(home.config), path)
    with open_bundle(path, identity) as bundle, lay_folder(folder, keep=not dry_run) as part:
        history = make_history(part, opening)
        found = fill_repository(part, bundle)
        files = {path: File(one, found.counts.get(path, one)) for path, one in found.files.items()}
        marker = files.get(MARKER)
        if marker is None or marker.counts is None:
            raise UsageError(f"{path} holds no {MARKER}, so it is no memory.")
        _check_memory(read_id(marker.content), bundle)
        # The versions in force come first: what waits is laid over them, and counts for nothing
        # yet.
        write_files(part, files)
        begin_copy(part, opening, files, "What waits for a word")
        commit = history.head()
    if not dry_run:
        list_copy(folder, opening)
    names = tuple(bundle.manifest.names)
    return _name_signer(Imported(path, folder, commit, len(files), names=names), told)
