"""Attempts to get out of a sandbox: each prints ESCAPED where it got further than it may."""

from __future__ import annotations

import platform

PRELUDE = """
import ctypes, os, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def escaped(what=True):
    if what:
        print("ESCAPED", flush=True)
def attempt(call, *rest):
    try:
        return call(*rest)
    except BaseException as error:
        print(type(error).__name__, error, flush=True)
def read(path):
    found = attempt(lambda: open(path, "rb").read(1 << 20))
    escaped(found and b"INNERMOST" in found)
def opens(path, how):
    escaped(attempt(lambda: os.open(path, how)) is not None)
def succeeds(*argv):
    found = attempt(lambda: subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL))
    escaped(found is not None and found.returncode == 0)
def connects(family, place, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as one:
        one.settimeout(2)
        escaped(attempt(lambda: one.connect(place) or True))
print("TRIED", flush=True)
"""

# name: code, with SECRET, FOLDER, PORT, SOCKET, PID and RUNNER filled in
FILES = {
    "read a memory": "read(SECRET)",
    "list the folder of a memory": "escaped(attempt(os.listdir, FOLDER))",
    "read through a symlink": "os.symlink(SECRET, '/box/a'); read('/box/a')",
    "read through a symlink beside it": "os.symlink(FOLDER, '/tmp/a'); read('/tmp/a/s')",
    "read through a hard link": "attempt(os.link, SECRET, '/box/b'); read('/box/b')",
    "read through dots": "read(os.getcwd() + '/..' * 30 + SECRET)",
    "read through the root of process 1": "read('/proc/1/root' + SECRET)",
    "read through our own root": "read('/proc/self/root' + SECRET)",
    "read through the folder of standard output": "read(os.path.dirname(attempt(os.readlink, "
    "'/proc/self/fd/1') or '/') + '/s'); read('/proc/self/fd/1/../s')",
    "read the folder of a parent": "read('/proc/%d/cwd/s' % os.getppid())",
    "read passwords": "opens('/etc/shadow', os.O_RDONLY)",
    "read accounts": "opens('/etc/passwd', os.O_RDONLY)",
    "list homes": "escaped(attempt(os.listdir, '/root')); escaped(attempt(os.listdir, '/home'))",
    "list what services keep": "escaped(attempt(os.listdir, '/var')); "
    "escaped(attempt(os.listdir, '/run'))",
    "find another run": "escaped([n for n in os.listdir('/tmp') if 'kimi-run' in n])",
    "read shared memory": "escaped(attempt(os.listdir, '/dev/shm'))",
    "write a program of the system": "opens('/usr/bin/kimi-x', os.O_WRONLY | os.O_CREAT)",
    "write settings of the system": "opens('/etc/kimi-x', os.O_WRONLY | os.O_CREAT)",
    "make a folder at the top": "escaped(attempt(lambda: os.mkdir('/kimi-x') or True))",
    "find secrets in the environment": "escaped('INNERMOST' in str(os.environ)); "
    "read('/proc/1/environ'); read('/proc/%d/environ' % os.getppid())",
}
KERNEL = {
    "set how crashes are handled": "opens('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
    "ask for the magic key": "opens('/proc/sysrq-trigger', os.O_WRONLY)",
    "read the memory of the kernel": "opens('/proc/kcore', os.O_RDONLY); "
    "opens('/dev/mem', os.O_RDONLY)",
    "change devices": "opens('/sys/kernel/uevent_helper', os.O_WRONLY)",
    "make a disk": "attempt(os.mknod, '/box/d', 0o60600, os.makedev(8, 0)); "
    "opens('/box/d', os.O_RDONLY)",
    "make a device of memory": "attempt(os.mknod, '/box/m', 0o20600, os.makedev(1, 1)); "
    "opens('/box/m', os.O_RDONLY)",
    "mount": "escaped(libc.mount(b'none', b'/box', b'tmpfs', 0, None) == 0)",
    "mount in a namespace of its own": "escaped(libc.unshare(0x10020000) == 0)",
    "enter another namespace": "fd = attempt(os.open, '/proc/1/ns/user', os.O_RDONLY); "
    "escaped(fd is not None and libc.setns(fd, 0) == 0)",
    "change the root": "escaped(attempt(lambda: os.chroot('/box') or True))",
    "open a file by its handle": "b = ctypes.create_string_buffer(b'\\x08\\0\\0\\0\\x01\\0\\0\\0"
    "\\x02\\0\\0\\0\\0\\0\\0\\0', 16); escaped(libc.open_by_handle_at("
    "os.open('/usr', os.O_RDONLY), b, os.O_RDONLY) >= 0)",
    "hold a capability": "escaped([l for l in open('/proc/self/status') if l.startswith('Cap') "
    "and int(l.split()[1], 16) and not l.startswith('CapBnd')])",
    "gain privileges later": "escaped('NoNewPrivs:\\t1' not in open('/proc/self/status').read())",
}
PEOPLE = {
    "become root": "escaped(attempt(lambda: os.setresuid(0, 0, 0) or True)); "
    "escaped(os.getuid() == 0)",
    "use sudo": "succeeds('sudo', '-n', 'true')",
    "use su": "succeeds('su', 'root', '-c', 'true')",
    "use a program that runs as root": "attempt(os.chmod, '/box', 0o4777); "
    "succeeds('newgrp', 'root')",
    "see processes outside": "escaped([p for p in os.listdir('/proc') if p.isdigit() and b'pyt' "
    "b'est' in (attempt(lambda: open(f'/proc/{p}/cmdline', 'rb').read()) or b'')])",
    "signal a process outside": "escaped(attempt(lambda: os.kill(PID, 0) or True)); "
    "escaped(attempt(lambda: os.kill(RUNNER, 0) or True))",
    "trace a process outside": "escaped(libc.ptrace(16, PID, 0, 0) == 0)",
    "write to the terminal": "opens('/dev/tty', os.O_RDWR)",
}
NETWORK = {
    "connect to a server of this machine": "connects(socket.AF_INET, ('127.0.0.1', PORT))",
    "connect to a socket in a folder": "connects(socket.AF_UNIX, SOCKET)",
    "connect to a socket without a file": "connects(socket.AF_UNIX, '\\0kimi-sandbox-PORT')",
    "connect to the world": "connects(socket.AF_INET, ('192.0.2.1', 80), socket.SOCK_DGRAM); "
    "connects(socket.AF_INET, ('1.1.1.1', 53))",
    "see interfaces": "escaped([n for _, n in socket.if_nameindex() if n != 'lo'])",
    "read packets": "escaped(attempt(socket.socket, socket.AF_PACKET, socket.SOCK_RAW))",
}
LIMITS = {
    "start many processes": """
n = 0
try:
    while n < 300:
        if os.fork() == 0:
            import time; time.sleep(20)
        n += 1
except OSError as error:
    print(error)
escaped(n >= 200)
""",
    "take all memory": "escaped(attempt(lambda: len(bytearray(2 << 30))))",
    "fill the disk with a file": "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    "f = open('/box/f', 'wb'); attempt(lambda: [f.write(bytes(1 << 20)) or f.flush() "
    "for _ in range(40)]); escaped(os.path.getsize('/box/f') > 20 << 20)",
}
CALLS = {
    "read a key of the session": "libc.syscall.restype = ctypes.c_long; "
    "k = libc.syscall(250, 10, -3, b'user', b'kimi-outside', 0); "
    "b = ctypes.create_string_buffer(64); "
    "libc.syscall(250, 11, k, b, 64); escaped(b'INNERMOST' in b.raw)",
    "list the keys of the session": "escaped(b'kimi-outside' in (attempt(lambda: "
    "open('/proc/keys', 'rb').read()) or b''))",
    "leave a key for later": "escaped(libc.syscall(248, b'user', b'kimi-left', b'x', 1, -3) > 0)",
    "reach the host of a virtual machine": "escaped(attempt(socket.socket, 40, 1))",
    "hide a family of sockets in a long number": "escaped(libc.syscall(ctypes.c_long(41), "
    "ctypes.c_long((1 << 32) + 40), ctypes.c_long(1), ctypes.c_long(0)) >= 0)",
    "listen to the audit of the kernel": "escaped(attempt(socket.socket, 16, 3, 9))",
    "hand work to the kernel unseen": "escaped(libc.syscall(425, 4, "
    "ctypes.create_string_buffer(256)) >= 0)",
    "hold the kernel up at a page": "escaped(libc.syscall(323, 1) >= 0)",
    "watch the processor": "a = ctypes.create_string_buffer(b'\\1\\0\\0\\0\\x70', 128); "
    "escaped(libc.syscall(298, a, 0, -1, -1, 0) >= 0)",
    "call by the numbers of another processor": """
import mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(bytes.fromhex('b814000000cd80c3'))  # getpid, as programs of 32 bits call it
place = ctypes.addressof(ctypes.c_char.from_buffer(code))
escaped(ctypes.CFUNCTYPE(ctypes.c_int)(place)() > 0)
""",
    "type into a terminal": "import fcntl; ours, theirs = os.openpty(); os.setsid(); "
    "fcntl.ioctl(theirs, 0x540E, 0); escaped(attempt(lambda: "
    "fcntl.ioctl(theirs, 0x5412, b'x') or True))",
}
"""Calls of the kernel that no namespace parts; the numbers are those of x86-64."""
ATTEMPTS = {**FILES, **KERNEL, **PEOPLE, **NETWORK, **LIMITS}
if platform.machine() == "x86_64":
    ATTEMPTS |= CALLS
HARMLESS = (
    *("read a memory", "list the folder of a memory", "read through dots", "read passwords"),
    *(
        "read through our own root",
        "read accounts",
        "see processes outside",
        "signal a process outside",
    ),
    *("connect to a server of this machine", "connect to a socket in a folder"),
    *("connect to a socket without a file", "gain privileges later", "start many processes"),
    *(
        name
        for name in ("read a key of the session", "list the keys of the session")
        if name in ATTEMPTS
    ),
)
"""Attempts that get through from a plain process and leave nothing there: they are real."""
