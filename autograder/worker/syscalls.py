"""A filter on system calls: what student code never needs, and could do harm with.

No new program (a fresh interpreter would not know what this worker was told to block), no further
namespaces or mounts, no looking into other processes, no memory that belongs to no process. Such a
call fails with EPERM. Everything else passes: the box itself is made of namespaces and limits.

The filter is classic BPF, as prctl(2) and seccomp(2) describe it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, DENY, ABSENT = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
LOAD, JUMP_EQUAL, JUMP_ABOVE, JUMP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag of clone(2)
LOCAL, INTERNET, INTERNET_6 = 1, 2, 10  # socket families; all others are denied
X32 = 0x40000000

# name: number on (x86_64, aarch64)
DENIED = {
    "execve": (59, 221), "execveat": (322, 281), "unshare": (272, 97), "setns": (308, 268),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "mount_setattr": (442, 442),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194),
    "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "seccomp": (317, 277), "swapon": (167, 224), "acct": (163, 89), "quotactl": (179, 60),
}  # fmt: skip
CLONE, CLONE3, SOCKET = (56, 220), (435, 435), (41, 198)
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def deny() -> None:
    """Installs the filter in this process and all that it will start. Needs no_new_privs.

    Raises:
        OSError: the kernel has no such filters, or this machine is of an unknown kind.
    """
    machine = os.uname().machine
    if machine not in MACHINES:
        raise OSError(errno.ENOTSUP, f"no system call filter for {machine}")
    program = build(*MACHINES[machine])
    code = ctypes.create_string_buffer(program, len(program))
    descriptor = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, descriptor, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel takes no system call filter")


def build(column: int, architecture: int) -> bytes:
    """The filter's instructions: 8 bytes each (code, jump if true, jump if false, value)."""
    lines: list[tuple[int, int, int, int]] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, DENY),
        (LOAD, 0, 0, NUMBER),
    ]
    if column == 0:  # the second set of numbers that x86_64 has for the same calls
        lines += [(JUMP_ABOVE, 0, 1, X32), (RETURN, 0, 0, DENY)]
    for numbers in DENIED.values():
        lines += [(JUMP_EQUAL, 0, 1, numbers[column]), (RETURN, 0, 0, DENY)]
    # clone3 hides its flags in memory that a filter cannot read; libc then takes clone.
    lines += [(JUMP_EQUAL, 0, 1, CLONE3[column]), (RETURN, 0, 0, ABSENT)]
    lines += [
        (JUMP_EQUAL, 0, 4, CLONE[column]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_BITS, 0, 1, NEW_NAMESPACES),
        (RETURN, 0, 0, DENY),
        (RETURN, 0, 0, ALLOW),
        (JUMP_EQUAL, 0, 5, SOCKET[column]),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (JUMP_EQUAL, 3, 0, LOCAL),
        (JUMP_EQUAL, 2, 0, INTERNET),
        (JUMP_EQUAL, 1, 0, INTERNET_6),
        (RETURN, 0, 0, DENY),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *line) for line in lines)
