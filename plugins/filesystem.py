"""Checks that the memory lies on storage that can keep its promises.

Why it exists: locks and durable writes hold on local disks; network mounts and
folders of cloud drives may break both without a word, and a full disk takes no turn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kimi_memory import hookimpl
from kimi_memory.domain.health import Finding, Severity

# Locks of these are kept by a server, or not at all; a write may return before it is safe.
WEAK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "fuse.rclone", "afs"}
FULL = 8 * 2**20
"""With less room in bytes, a turn, its index and its commit may fail half-way."""
# A day of writing and a commit need less; below it, the next large job may fail.
SCARCE = 128 * 2**20
CLOUD = ("Dropbox", "OneDrive", "Google Drive", "iCloud", "Mobile Documents", "坚果云", "Nutstore")


@hookimpl
def check_health(root: Path) -> list[Finding]:
    """Report a file system or folder with weaker locks, and one that is full or nearly so."""
    try:
        room = list(_check_room(os.statvfs(root), root))
    except OSError:
        room = []  # Where no folder is, nothing can be full.
    return [*room, *_check_kind(root)]


def _check_room(found: os.statvfs_result, root: Path) -> Iterator[Finding]:
    free = found.f_bavail * found.f_frsize
    # Some file systems count no files: both figures are 0 there.
    full = free < FULL or (found.f_files > 0 and found.f_favail == 0)
    if full or free < SCARCE:
        what = "no file can be made" if free >= SCARCE else f"{free // 2**20} MiB are left"
        message = f"the disk of {root} is {'full' if full else 'nearly full'}: {what}"
        severity = Severity.ERROR if full else Severity.WARNING
        yield Finding("disk", severity, message, "Free some space; no turn can be stored without.")


def _check_kind(root: Path) -> list[Finding]:
    kind = filesystem_of(root)
    cloud = next((name for name in CLOUD if name in str(root)), "")
    if kind in WEAK:
        return [_warning_finding(f"{root} lies on {kind}", "Move the memory to a local disk.")]
    if cloud:
        what = f"{root} lies in a {cloud} folder"
        return [_warning_finding(what, "Share it through git instead.")]
    return [Finding("filesystem", Severity.OK, f"{kind or 'unknown file system'}, locks hold")]


def _warning_finding(what: str, remedy: str) -> Finding:
    why = "locks and durable writes may not hold there"
    return Finding("filesystem", Severity.WARNING, f"{what}: {why}", remedy)


def filesystem_of(path: Path) -> str:
    """Return the type of the mount that holds `path`; empty where it is not known."""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        # Only Linux tells its mounts like this.
        return ""
    mounts = [(fields[1].replace("\\040", " "), fields[2]) for fields in map(str.split, lines)]
    real = os.path.realpath(path)
    holding = [m for m in mounts if real == m[0] or real.startswith(m[0].rstrip("/") + "/")]
    # Mounts lie in each other: the longest path is the one that holds the folder.
    return max(holding, key=lambda mount: len(mount[0]), default=("", ""))[1]
