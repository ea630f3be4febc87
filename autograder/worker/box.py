"""The box around student code: Linux namespaces, resource limits, no privileges.

Two steps. `enclose` runs once, before the zygote imports anything heavy: it leaves a process that
sees the interpreter read-only and nothing else (bubblewrap does this instead, where installed).
`seal` runs in every fork, just before the first line of student code: namespaces and an empty
folder of its own, no privileges, limits. Both raise `OSError` where the kernel refuses.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import signal
import sys
from collections.abc import Mapping, Sequence

from autograder.worker import syscalls

NEWNS, NEWUTS, NEWIPC = 0x20000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND, MS_REC = 1, 2, 4, 32, 4096, 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_CAPBSET_DROP = 1, 24
PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = (
    38,
    36,
    47,
    4,
)
SYS_CLONE = {"x86_64": 56, "aarch64": 220}
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
REFUSED = 3  # exit code of a fork whose box cannot be had
FIRST_UID, UIDS = 61184, 4000  # the range systemd gives to throw-away users

HOME = "/submission"


_libc = ctypes.CDLL(None, use_errno=True)
# A process is cloned with the interpreter's lock held: the child has no other thread to take it.
_libc_locked = ctypes.PyDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def prctl(option: int, value: int = 0) -> None:
    _call("prctl", option, ctypes.c_ulong(value), 0, 0, 0)


def die_with_parent() -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    words = (source.encode(), target.encode(), kind.encode() if kind else None)
    _call("mount", *words, ctypes.c_ulong(flags), data.encode())


def fork_inside() -> int:
    """Forks; the child is the first process in namespaces of its own. Like `os.fork` otherwise.

    An ordinary user needs a user namespace to be allowed to. Root needs none, and becomes a nobody
    in `seal` instead. Raises `OSError` where the kernel refuses.
    """
    uid, gid, is_root = os.geteuid(), os.getegid(), is_real_root()
    flags = NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS | signal.SIGCHLD
    if not is_root:  # also as root of a user namespace: processes are counted for each of these
        flags |= NEWUSER
    number = SYS_CLONE.get(os.uname().machine)
    if number is None:
        raise OSError(errno.ENOTSUP, f"no namespaces for {os.uname().machine}")
    nothing = (ctypes.c_ulong(0),) * 4
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = _libc_locked.syscall(ctypes.c_long(number), ctypes.c_ulong(flags), *nothing)
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        try:
            die_with_parent()
            if not is_root:
                _map_user(uid, gid)
        except OSError:
            os._exit(REFUSED)
        return 0
    error = ctypes.get_errno()
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(error, f"clone: {os.strerror(error)}")
    return int(pid)


def _map_user(uid: int, gid: int) -> None:
    for name, text in [("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")]:
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def enclose(view: Sequence[str]) -> None:
    """Leaves this process with a root that holds `view` read-only, `/tmp`, `/dev`, and no network.

    The calling process stays behind as the one who waits: the returning one is the first of a
    process namespace of its own, so that when it dies everything in it dies.
    """
    if child := fork_inside():
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    root = "/sys"  # a folder that every system has and that nobody needs from here on
    _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64m")
    os.makedirs(f"{root}/tmp")  # first: the view may reach into it
    _mount("tmpfs", f"{root}/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m")
    for path in view:
        _bind(path, root + path)
    for name in ("dev/shm", "tmp", "proc", "sys", HOME.strip("/")):
        os.makedirs(f"{root}/{name}", exist_ok=True)
    for name in ("null", "zero", "random", "urandom"):
        _bind(f"/dev/{name}", f"{root}/dev/{name}", readonly=False)
    _mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV)
    os.chdir(root)
    _call("syscall", ctypes.c_long(SYS_PIVOT_ROOT[os.uname().machine]), b".", b".")
    _call("umount2", b".", MNT_DETACH)
    os.chdir("/")
    _mount("none", "/", None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _bind(source: str, target: str, readonly: bool = True) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        open(target, "w").close()
    _mount(source, target, None, MS_BIND | MS_REC)
    if readonly:
        _mount("none", target, None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID)


def seal(
    number: int, limits: Mapping[str, int], view: Sequence[str], scratch_mib: int = 64
) -> None:
    """In the first process of the new namespaces: hides what is left, drops privileges, limits.

    `number` picks the throw-away user where the grader runs as root. `view` is what stays visible.
    """
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    scratch = f"mode=1777,size={scratch_mib}m,nr_inodes=10000"
    for folder in ("/dev/shm", "/tmp", HOME):
        if any(path.startswith(f"{folder}/") for path in view):  # Python itself lies in there
            _mount("none", folder, None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV)
        elif os.path.isdir(folder):
            _mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, scratch)
    is_root = is_real_root()
    _mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "mode=555,size=4k")
    _call("sethostname", b"worker", 6)
    if is_root:
        become_nobody(number)
    drop_privileges()
    apply_limits(limits)
    syscalls.deny()


def user_of(number: int) -> int:
    return FIRST_UID + number % UIDS


def become_nobody(number: int) -> None:
    """As root: becomes a user that owns nothing, a different one for each worker."""
    user = user_of(number)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def is_real_root() -> bool:
    """Whether this is root of the machine, not of a user namespace."""
    try:
        with open("/proc/self/uid_map") as file:
            return os.geteuid() == 0 and file.read().split() == ["0", "0", "4294967295"]
    except OSError:
        return False


def drop_privileges() -> None:
    """No capabilities now or later, nothing gained by running a set-uid program."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break
    _call("prctl", PR_CAP_AMBIENT, ctypes.c_ulong(PR_CAP_AMBIENT_CLEAR_ALL), 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def count_tasks(uid: int) -> int:
    """How many processes and threads a user has: all of them count towards the limit of one."""
    count = 0
    with contextlib.suppress(OSError):  # no /proc
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{name}/task"))
    return count


def apply_limits(limits: Mapping[str, int]) -> None:
    """`limits`: `cpu_seconds`, `memory_bytes` (address space), `processes`, `file_bytes`."""
    wanted = {
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_AS: limits["memory_bytes"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NPROC: limits["processes"],
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in wanted.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            if sys.platform == "linux":
                raise
