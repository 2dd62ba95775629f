"""System calls that nothing in a sandbox may make, as a program that the kernel runs.

Namespaces do not part everything: the keys of the session, and sockets to the host of a virtual
machine, are the same inside and outside. Other calls have been ways into the kernel again and
again, and no ordinary program needs them. All else is allowed.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from kimi_memory.errors import UsageError

_LIBRARY = "libseccomp.so.2"
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NOT_EQUAL, _EQUAL, _AT_LEAST, _MASKED = 1, 4, 5, 7
_NETLINK, _ROUTE = 16, 0
_FAMILIES = {1, 2, 10, _NETLINK}
"""Of sockets: local ones, IPv4, IPv6, and what tells about interfaces."""
_TERMINAL_INPUT, _CONSOLE = 0x5412, 0x541C
_WORD = 0xFFFFFFFF
_CALLS = (
    # Keys of the kernel belong to the session, not to a namespace.
    *("add_key", "request_key", "keyctl"),
    # Wide doors of the kernel.
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter"),
    *("io_uring_register", "modify_ldt", "uselib", "vmsplice", "kcmp", "lookup_dcookie"),
    # File systems and namespaces.
    *("mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("move_mount", "open_tree", "mount_setattr", "unshare", "setns", "open_by_handle_at"),
    *("fanotify_init", "quotactl", "swapon", "swapoff"),
    # The machine as a whole.
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"),
    *("acct", "syslog", "settimeofday", "clock_settime", "clock_adjtime", "iopl", "ioperm"),
    *("move_pages", "migrate_pages", "vhangup"),
)


_NAMESPACES = tuple(1 << bit for bit in (17, 25, 26, 27, 28, 29, 30))
"""Flags of a call that begins a process, each for a kind of namespace."""
_OPERATORS = {
    _NOT_EQUAL: "SCMP_CMP_NE",
    _EQUAL: "SCMP_CMP_EQ",
    _AT_LEAST: "SCMP_CMP_GE",
    _MASKED: "SCMP_CMP_MASKED_EQ",
}
_Wanted = tuple[int, int, int, int]
"""An argument by its number, how it is compared, and with which two values."""


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint), ("how", ctypes.c_int),
        ("first", ctypes.c_uint64), ("second", ctypes.c_uint64),
    )  # fmt: skip


@contextmanager
def open_filter() -> Iterator[int]:
    """Yield a file with the filter, for the program that starts a sandbox.

    Raises:
        UsageError: the library that makes it is not on this machine.
    """
    with open_content(_build_filter()) as handle:
        yield handle


@contextmanager
def open_content(content: bytes) -> Iterator[int]:
    """Yield a file without a name that holds something, for a program that reads it."""
    handle = os.memfd_create("content")
    try:
        with open(handle, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(handle, 0, os.SEEK_SET)
        yield handle
    finally:
        os.close(handle)


@cache
def _build_filter() -> bytes:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise UsageError(
            "There is no libseccomp on this machine, so no sandbox. Install libseccomp2, or choose "
            "the runtime process."
        ) from error
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(_ALLOW)))
    try:
        for name, wanted in _list_refusals():
            _refuse(library, context, name, *wanted)
        handle = os.memfd_create("made")
        try:
            _check(library.seccomp_export_bpf(context, handle))
            return os.pread(handle, os.fstat(handle).st_size, 0)
        finally:
            os.close(handle)
    finally:
        library.seccomp_release(context)


def _list_refusals() -> Iterator[tuple[str, tuple[_Wanted, ...]]]:
    """Yield the calls that are refused, and for which arguments."""
    for name in _CALLS:
        yield name, ()
    # Widest last: a longer number with the same last bits is above all families, too.
    for family in set(range(_NETLINK)) - _FAMILIES:
        yield "socket", ((0, _EQUAL, family, 0),)
    yield "socket", ((0, _AT_LEAST, _NETLINK + 1, 0),)
    yield "socket", ((0, _EQUAL, _NETLINK, 0), (2, _NOT_EQUAL, _ROUTE, 0))
    for request in (_TERMINAL_INPUT, _CONSOLE):
        yield "ioctl", ((1, _MASKED, _WORD, request),)


def describe_filter() -> dict[str, Any]:
    """Return the filter as engines of containers read it.

    Nothing in a container makes namespaces of its own either; in a sandbox the kernel forbids it.
    """
    apart = (("clone", ((0, _MASKED, bit, bit),)) for bit in _NAMESPACES)
    refused = [*_list_refusals(), *apart, ("clone3", ())]
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [
            {
                "names": [name], "action": "SCMP_ACT_ERRNO", "errnoRet": _choose_error(name),
                "args": [
                    {"index": at, "op": _OPERATORS[how], "value": first, "valueTwo": second}
                    for at, how, first, second in wanted
                ],
            }
            for name, wanted in refused
        ],
    }  # fmt: skip


def _choose_error(name: str) -> int:
    # What tries a new call and falls back to an old one has to hear that there is none.
    return errno.ENOSYS if name.startswith(("io_uring", "clone3")) else errno.EPERM


def _refuse(library: Any, context: ctypes.c_void_p, name: str, *wanted: _Wanted) -> None:
    """Refuse a call, where its arguments are so."""
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number < 0:  # This kind of processor, or this library, does not have it.
        return
    array = (_Comparison * len(wanted))(*(_Comparison(*one) for one in wanted))
    action = ctypes.c_uint32(_REFUSE | _choose_error(name))
    _check(library.seccomp_rule_add_array(context, action, number, len(wanted), array))


def _check(code: int) -> None:
    if code:
        raise UsageError(f"The filter of the sandbox cannot be made: {os.strerror(-code)}.")
