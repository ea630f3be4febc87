"""Does the box hold, seen from inside by a submission?"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from waiting import find_processes, wait_until

from autograder.errors import KitError
from autograder.remote import Setup, Submission
from autograder.sandbox import Station, Zygote
from autograder.student_errors import Stopped, StudentError
from autograder.worker import scratch
from tests.conftest import Open

ROOT = Path(__file__).resolve().parent.parent

SPY = """
import os, socket, signal, ctypes

def can_read(path):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path).close()
        return True
    except OSError:
        return False

def can_write(path):
    try:
        open(path, "w").close()
        return True
    except OSError:
        return False

def environment(): return dict(os.environ)

def descriptors():
    found = []
    for fd in range(1024):
        try:
            os.fstat(fd)
            found.append(fd)
        except OSError:
            pass
    return found

def can_connect(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False

def signal_error(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return "sent"
    except OSError as error:
        return type(error).__name__

def leave(text):
    for folder in ("/tmp", "/dev/shm", "/submission", ".", os.path.expanduser("~")):
        try:
            open(os.path.join(folder, "left.txt"), "w").write(text)
        except OSError:
            pass

def find_left():
    folders = ("/tmp", "/dev/shm", "/submission", ".", os.path.expanduser("~"))
    return [f for f in folders if os.path.exists(f + "/left.txt")]

def capabilities():
    libc = ctypes.CDLL(None)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    libc.capget(header, data)
    return list(data)

def ids(): return [os.getpid(), os.getuid(), os.getppid()]
def mount():
    return ctypes.CDLL(None).mount(b"tmpfs", b"/usr", b"tmpfs", 0, b"")
def unmount():
    return ctypes.CDLL(None).umount2(b"/proc", 2)
"""
NAMES = [
    "can_read", "can_write", "environment", "descriptors", "can_connect", "signal_error", "leave",
    "find_left", "capabilities", "ids", "mount", "unmount",
]  # fmt: skip


def only_at_full(station: Station) -> None:
    if station.level != "full":
        pytest.skip("promised at level full only")


def test_nothing_of_the_host_can_be_read_or_written(
    station: Station, open_submission: Open, tmp_path: Path
) -> None:
    only_at_full(station)
    spy = open_submission(SPY, *NAMES)
    own = tmp_path / "of the instructor"
    own.write_text("secret")
    secrets = [ROOT / "solutions", ROOT / "tests", ROOT / "autograder" / "judge.py", own]
    on_the_way = [*Path(sys.base_prefix).parents, *Path(sys.prefix).parents, *ROOT.parents, ROOT]
    secrets += [path for path in Path.home().iterdir() if path not in on_the_way]
    secrets += [ROOT / "assignments", ROOT / "pyproject.toml", Path("/etc/passwd"), Path("/var")]
    assert [path for path in secrets if spy.can_read(str(path))] == []
    assert not spy.can_read("/proc/self") and not spy.can_read("/proc/1/environ")
    for path in ("/usr/x", "/x", "/proc/x", "/dev/x", str(ROOT / ".venv" / "x")):
        assert not spy.can_write(path), path
    assert spy.mount() != 0 and spy.unmount() != 0


def test_there_is_no_network_not_even_the_hosts_loopback(
    station: Station, open_submission: Open
) -> None:
    only_at_full(station)
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not open_submission(SPY, *NAMES).can_connect(server.getsockname()[1])


def test_no_process_of_the_host_can_be_seen_or_signalled(
    station: Station, open_submission: Open
) -> None:
    only_at_full(station)
    spy = open_submission(SPY, *NAMES)
    pid, uid, parent = spy.ids()
    assert (pid, parent) == (1, 0)
    assert spy.signal_error(os.getpid()) == "ProcessLookupError"
    spy.signal_error(-1)
    os.kill(os.getpid(), 0)
    assert spy.capabilities()[:3] == [0, 0, 0] and spy.capabilities()[3:] == [0, 0, 0]


def test_environment_and_descriptors_hold_nothing_of_the_host(open_submission: Open) -> None:
    spy = open_submission(SPY, *NAMES)
    allowed = {"HOME", "TMPDIR", "PATH", "LANG", "OMP_NUM_THREADS", "MPLBACKEND", "MPLCONFIGDIR"}
    assert set(spy.environment()) == allowed
    assert spy.descriptors() == [0, 1, 2, 3]


def test_nothing_is_left_behind_for_the_next_submission(open_submission: Open) -> None:
    first = open_submission(SPY, *NAMES)
    first.leave("mine")
    first.close()
    found = open_submission(SPY, *NAMES).find_left()
    left = [Path(folder) / "left.txt" for folder in ("/tmp", "/dev/shm")]
    for path in left:  # level `process` cannot prevent these two, and says so
        path.unlink(missing_ok=True)
    assert [f for f in found if f not in ("/tmp", "/dev/shm")] == []


def test_nothing_is_left_behind_at_all_at_level_full(
    station: Station, open_submission: Open
) -> None:
    only_at_full(station)
    first = open_submission(SPY, *NAMES)
    first.leave("mine")
    assert first.find_left() != []
    first.close()
    assert open_submission(SPY, *NAMES).find_left() == []
    assert not Path("/tmp/left.txt").exists() and not Path("/dev/shm/left.txt").exists()


STOPS = {
    "loop": ("def f():\n    while True: pass", "timed_out"),
    "sleep": ("import time\ndef f(): time.sleep(60)", "timed_out"),
    "stubborn loop": (
        "def f():\n  while True:\n    try:\n      while True: pass\n    except BaseException: pass",
        "timed_out",
    ),
    "native loop": ("import ctypes\ndef f(): ctypes.CDLL(None).pause()", "timed_out"),
    "held lock": ("import ctypes\ndef f(): ctypes.PyDLL(None).pause()", "timed_out"),
    "memory of torch": ("import torch\ndef f(): return torch.ones(4 << 30).sum()", "out_of_memory"),
    "memory of Python": ("def f(): return len([0] * (4 << 30))", "out_of_memory"),
    "exit": ("import os\ndef f(): os._exit(0)", "crashed"),
    "segfault": ("import ctypes\ndef f(): ctypes.string_at(0)", "crashed"),
    "abort": ("import os\ndef f(): os.abort()", "crashed"),
    "closed link": ("import os\ndef f(): os.close(3)", "crashed"),
    "forged frame": ("import os\ndef f():\n    os.write(3, b'x' * 4096)", "crashed"),
    "huge frame": (
        "import os, struct\ndef f():\n    os.write(3, struct.pack('<IQ', 10, 1 << 60))",
        "crashed",
    ),
    "silent frame": (
        "import os, struct, time\n"
        "def f():\n    os.write(3, struct.pack('<IQ', 10, 8))\n    time.sleep(60)",
        "timed_out",
    ),
}


@pytest.mark.parametrize("name", STOPS)
def test_every_way_to_stop_has_its_verdict_in_time(open_submission: Open, name: str) -> None:
    source, verdict = STOPS[name]
    # Who ends in another way has all the time that it needs.
    seconds = 0.5 if verdict == "timed_out" else 20.0
    submission = open_submission(source, "f", test_seconds=seconds)
    submission.load("work")
    with pytest.raises(Stopped) as caught:  # the sleepers would return by themselves
        submission.f()
    assert caught.value.verdict == verdict


def test_an_endless_import_times_out(open_submission: Open) -> None:
    with pytest.raises(Stopped) as caught:
        open_submission("while True: pass", "f", import_seconds=1.0).f()
    assert caught.value.verdict == "timed_out" and "importing work.py" in caught.value.message


def test_computing_time_is_limited_too(station: Station, open_submission: Open) -> None:
    limits = {"cpu_seconds": 1, "memory_bytes": 1 << 30, "processes": 48, "file_bytes": 1 << 20}
    submission = open_submission(
        "def f():\n    while True: pass", "f", limits=limits, test_seconds=20.0
    )
    with pytest.raises(Stopped, match="computing time"):
        submission.f()


def test_processes_are_limited(station: Station, open_submission: Open) -> None:
    only_at_full(station)
    source = """
import os, time
def f():
    children = []
    for _ in range(200):
        pid = os.fork()
        if pid == 0:
            time.sleep(30)
            os._exit(0)
        children.append(pid)
    return len(children)
"""
    with pytest.raises(BlockingIOError):
        open_submission(source, "f").f()


CHILDREN = """
import os, time
def f(count):
    for _ in range(count):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    return count
"""


def test_what_others_have_started_takes_nobodys_processes(open_submission: Open) -> None:
    """Neither another submission nor what else runs for the user who grades."""
    done = threading.Event()
    started = [threading.Thread(target=done.wait) for _ in range(60)]
    for thread in started:
        thread.start()
    try:
        first, second = (open_submission(CHILDREN, "f") for _ in range(2))
        assert first.f(30) == second.f(30) == 30
    finally:
        done.set()
        for thread in started:
            thread.join()


def test_many_processes_share_one_limit_of_memory(station: Station, open_submission: Open) -> None:
    only_at_full(station)
    source = """
import os, time
def f():
    for _ in range(8):
        if os.fork() == 0:
            held = bytearray(os.urandom(1 << 20) * 300)
            time.sleep(30)
            os._exit(0)
    time.sleep(30)
"""
    submission = open_submission(source, "f", test_seconds=20.0)
    with pytest.raises(Stopped) as caught:
        submission.f()
    assert caught.value.verdict == "out_of_memory"


def test_survivors_die_with_their_worker(station: Station, open_submission: Open) -> None:
    only_at_full(station)
    source = """
import ctypes, os, time
def f():
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, b"survivor")
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000.125)
        os._exit(0)
    return 1
"""
    submission = open_submission(source, "f")
    assert submission.f() == 1
    assert wait_until(lambda: find_processes("survivor") != [])
    submission.close()
    assert wait_until(lambda: find_processes("survivor") == []), find_processes("survivor")


def test_a_gigabyte_of_output_goes_nowhere(open_submission: Open) -> None:
    source = """
import sys, os
def f():
    for _ in range(64):
        os.write(1, bytes(1 << 24))
        sys.stderr.write('x' * 100)
    return 5
"""
    assert open_submission(source, "f").f() == 5


def test_files_are_limited(open_submission: Open) -> None:
    source = """
def f():
    with open('big', 'wb') as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
"""
    with pytest.raises((StudentError, Stopped)):
        open_submission(source, "f").f()


def test_the_packages_a_student_may_use_can_be_imported(open_submission: Open) -> None:
    source = """
import einops, statistics, dataclasses, inspect
import matplotlib.pyplot as plt
def f(): return inspect.getsource(f)
"""
    assert "inspect.getsource" in open_submission(source, "f").f()


SLEEPS = "import time\ndef f(): time.sleep(60)"


def test_who_kills_a_worker_from_outside_is_told_from_a_student(
    station: Station, open_submission: Open
) -> None:
    submission = open_submission(SLEEPS, "f", test_seconds=20.0)
    submission.load("work")
    worker, before = submission._worker, station.kills
    assert worker is not None and worker.computing_seconds() is not None
    details = Path(f"/proc/self/fdinfo/{worker.handle}").read_text()
    pid = int(details.rpartition("\nPid:")[2].split()[0])
    threading.Timer(0.3, os.kill, (pid, signal.SIGKILL)).start()
    with pytest.raises(Stopped):
        submission.f()
    assert station.kills == before + 1 and not station.is_broken


def test_the_end_of_the_sandbox_is_no_fault_of_a_student() -> None:
    zygote = Zygote.spawn()
    station = Station(zygote.channels[0])
    station.wait_ready()
    limits = {"cpu_seconds": 20, "memory_bytes": 1 << 30, "processes": 48, "file_bytes": 1 << 20}
    submission = Submission(station, Setup({"work.py": SLEEPS}, {"f": "work.py"}, limits, 20, 20))
    submission.begin_test()
    submission.load("work")
    threading.Timer(0.3, zygote.process.kill).start()
    with pytest.raises(KitError, match="sandbox"):
        submission.f()
    assert station.is_broken
    zygote.close()


def test_a_folder_whose_zygote_was_killed_is_removed_by_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = Path(scratch.make())
    (tmp_path / "autograder-left" / "7").mkdir(parents=True)
    (tmp_path / "somebody-else").mkdir()
    other = Path(scratch.make())
    assert set(tmp_path.iterdir()) == {mine, other, tmp_path / "somebody-else"}
