"""Intake: whoever handed something in is found, and gets what they handed in."""

import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from demo_kit import BLOCK, LAYER, make_kit, write_files
from lms_archives import pack_tar

from autograder.errors import NothingToGrade
from autograder.intake import Intake, Submission, find_submissions, tree

BOTH = {"layer.py": LAYER, "block.py": BLOCK}


def make_zip(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def make_notebook(*cells: str) -> bytes:
    listed = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": listed}
    ).encode()


@pytest.fixture
def demo(tmp_path):
    return make_kit(tmp_path / "kit")


@pytest.fixture
def grade(tmp_path, demo):
    """Return what intake finds for a class written as {path: bytes}."""

    def find(files: dict[str, bytes]) -> Intake:
        return find_submissions(write_files(tmp_path / "class", files), demo)

    return find


def get_one(intake: Intake) -> Submission:
    (submission,) = intake.submissions
    return submission


def test_a_class_has_folders_zips_files_and_notebooks(grade):
    intake = grade(
        {
            "ada/layer.py": LAYER,
            "bob.zip": make_zip(BOTH),
            "cleo.py": LAYER + BLOCK,
            "dan.ipynb": make_notebook(LAYER.decode(), BLOCK.decode()),
            "roster.csv": b"student\n",
            ".DS_Store": b"",
        }
    )
    assert [s.student for s in intake.submissions] == ["ada", "bob", "cleo", "dan"]
    assert [sorted(s.files) for s in intake.submissions] == [["layer.py"]] + [sorted(BOTH)] * 3
    assert [item.path for item in intake.left_out] == ["roster.csv"]
    assert not any(s.ungradable for s in intake.submissions)


@pytest.mark.parametrize("name", ["ada", "ada.zip", "ada.py", "ada.ipynb"])
def test_a_single_submission_works_too(tmp_path, demo, name):
    path = tmp_path / name
    if name == "ada":
        write_files(path, BOTH)
    elif name == "ada.zip":
        path.write_bytes(make_zip({f"homework/{file}": data for file, data in BOTH.items()}))
    elif name == "ada.py":
        path.write_bytes(LAYER + BLOCK)
    else:
        path.write_bytes(make_notebook(LAYER.decode(), BLOCK.decode()))
    submission = get_one(find_submissions(path, demo))
    assert submission.student == "ada"
    assert sorted(submission.files) == sorted(BOTH)


def test_a_class_in_an_archive_with_a_wrapping_folder(tmp_path, demo):
    path = tmp_path / "all.zip"
    path.write_bytes(
        make_zip({"all/ada/layer.py": LAYER, "all/bob/layer.py": LAYER, "__MACOSX/all/._x": b""})
    )
    assert [s.student for s in find_submissions(path, demo).submissions] == ["ada", "bob"]


def test_archives_in_archives_are_opened(grade):
    inner = make_zip({"deep/layer.py": LAYER})
    assert get_one(grade({"ada/work.zip": make_zip({"inner.zip": inner})})).files == {
        "layer.py": LAYER
    }


@pytest.mark.parametrize(
    "worse",
    [
        "layer (1).py", "layer copy.py", "layer_old.py", "Layer.PY", "layer.py.txt", "sub/layer.py",
        "old/layer.py", "layer-1.py", "Copy of layer.py", "layer - Copy.py", "LAYER.py",
    ],
)  # fmt: skip
def test_an_exact_name_beats_all_others_and_others_do(grade, tmp_path, worse):
    alone = get_one(grade({f"ada/{worse}": LAYER}))
    assert alone.files == {"layer.py": LAYER}
    both = get_one(grade({f"ada/{worse}": LAYER, "ada/layer.py": LAYER + b"# the one\n"}))
    assert both.files["layer.py"].endswith(b"# the one\n")
    assert any(worse in note for note in both.notes)


def test_two_sets_with_the_same_right_are_said(grade):
    ada_has = {"ada/draft/layer.py": LAYER + b"# old", "ada/final/layer.py": LAYER}
    found = grade({**ada_has, "bob/layer.py": LAYER})
    said = "layer.py is there twice: draft/layer.py was taken, final/layer.py was not"
    ada, _ = found.submissions
    assert said in ada.notes and said in ada.remarks
    assert not any("not among" in note for note in ada.notes)


def test_of_numbered_downloads_the_latest_is_taken(grade):
    files = {f"ada/layer ({n}).py": LAYER + b"# %d\n" % n for n in (1, 2, 10)}
    assert get_one(grade(files)).files["layer.py"].endswith(b"# 10\n")


def test_an_empty_file_is_a_missing_file(grade):
    submission = get_one(grade({"ada/layer.py": b" \r\n\t\n", "ada/block.py": BLOCK}))
    assert list(submission.files) == ["block.py"]
    assert "layer.py is empty" in submission.notes
    filled = get_one(grade({"ada/layer (1).py": LAYER}))
    assert filled.files["layer.py"] == LAYER


def test_tests_and_settings_are_never_taken(grade):
    submission = get_one(
        grade(
            {
                "ada/layer.py": LAYER,
                "ada/conftest.py": b"class Block: pass",
                "ada/sitecustomize.py": b"import os",
                "ada/torch.py": b"x = 1",
                "ada/test_block.py": b"class Block: pass",
                "ada/evil.pth": b"import os",
            }
        )
    )
    assert list(submission.files) == ["layer.py"]
    assert any("torch.py" in note for note in submission.notes)


def test_python_beats_a_notebook(grade):
    submission = get_one(
        grade(
            {
                "ada/mine.py": LAYER,
                "ada/work.ipynb": make_notebook("class Layer: x = 1", BLOCK.decode()),
            }
        )
    )
    assert submission.files["layer.py"] == LAYER
    assert BLOCK in submission.files["block.py"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"ada/report.pdf": b"%PDF"}, "found report.pdf"),
        ({"ada.pdf": b"%PDF"}, "found ada.pdf"),
        ({"ada.zip": b"PK\x03\x04 and then nothing"}, "damaged"),
        ({"ada.zip": make_zip(BOTH)[:-30]}, "damaged"),
        ({"ada.zip": make_zip({})}, "empty"),
        ({"ada.rar": b"Rar!"}, "hand in a .zip"),
        ({"ada/layer.py": b"", "ada/block.py": b"\n"}, "is empty"),
        ({"ada.py": b"def broken(:\n"}, "not valid Python (line 1"),
        ({"ada.ipynb": b"{"}, "not a readable notebook"),
        ({"ada.ipynb": b'{"cells": 3}'}, "not a notebook"),
    ],
)
def test_nothing_usable_is_ungradable_with_a_reason(grade, files, reason):
    submission = get_one(grade(files))
    assert submission.student == "ada"
    assert submission.files == {}
    assert reason in submission.ungradable


def test_an_empty_folder_is_ungradable(tmp_path, demo):
    (tmp_path / "class/ada").mkdir(parents=True)
    assert "empty" in get_one(find_submissions(tmp_path / "class", demo)).ungradable


def test_damage_inside_an_archive_leaves_the_rest(grade):
    data = bytearray(make_zip(BOTH))
    at = data.index(b"layer.py") + len("layer.py")
    data[at : at + 8] = b"\xff" * 8
    submission = get_one(grade({"ada.zip": bytes(data)}))
    assert list(submission.files) == ["block.py"]
    assert any("damaged" in note for note in submission.notes)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
def test_links_and_pipes_are_never_followed(tmp_path, demo):
    secret = write_files(tmp_path / "secret", BOTH)
    home = write_files(tmp_path / "class", {"ada/block.py": BLOCK})
    (home / "ada/layer.py").symlink_to(secret / "layer.py")
    (home / "ada/deep").symlink_to(secret)
    (home / "bob").symlink_to(secret)
    (home / "cleo.py").symlink_to(secret / "layer.py")
    (home / "dan").mkdir()
    os.mkfifo(home / "dan/layer.py")
    ada, bob, cleo, dan = find_submissions(home, demo).submissions
    assert list(ada.files) == ["block.py"]
    assert [bob.files, cleo.files, dan.files] == [{}, {}, {}]
    assert "symbolic link" in bob.ungradable
    assert "symbolic link" in cleo.ungradable
    assert "not a regular file" in dan.ungradable


def test_links_in_archives_and_paths_out_of_them_are_refused(grade):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        link = zipfile.ZipInfo("layer.py")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("../block.py", BLOCK)
        archive.writestr("/etc/block.py", BLOCK)
    submission = get_one(grade({"ada.zip": stream.getvalue()}))
    assert submission.files == {}
    assert "symbolic link" in submission.ungradable


def test_bombs_are_refused(grade):
    big = b"#" * (3 << 20)
    submission = get_one(grade({"ada.zip": make_zip({"layer.py": big, "block.py": BLOCK})}))
    assert list(submission.files) == ["block.py"]
    assert any("far more" in note for note in submission.notes)


def test_large_files_are_refused(grade):
    submission = get_one(grade({"ada/layer.py": b"#" * (3 << 20), "ada/block.py": BLOCK}))
    assert list(submission.files) == ["block.py"]
    assert "layer.py is larger than 1 MiB" in submission.notes


def test_a_size_that_lies_is_not_believed(grade):
    data = make_zip({"layer.py": b"#" * (2 << 20)})
    size = (2 << 20).to_bytes(4, "little")
    submission = get_one(grade({"ada.zip": data.replace(size, (9).to_bytes(4, "little"))}))
    assert submission.files == {}


def test_too_many_entries_are_refused(grade):
    many = {f"{n}.txt": b"" for n in range(tree.MAX_ENTRIES)}
    submission = get_one(grade({"ada.zip": make_zip(many | BOTH)}))
    assert "entries" in submission.ungradable


def test_archives_nest_only_so_deep(grade):
    data = make_zip(BOTH)
    for _ in range(6):
        data = make_zip({"inner.zip": data})
    assert "too many archives" in get_one(grade({"ada.zip": data})).ungradable


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tgz", "tar.bz2", "tar.xz"])
def test_tar_archives_are_read_too(grade, ending):
    mode = {"tar": "w", "tgz": "w:gz"}.get(ending, f"w:{ending.rpartition('.')[2]}")
    submission = get_one(grade({f"ada.{ending}": pack_tar(BOTH, mode)}))
    assert submission.student == "ada"
    assert sorted(submission.files) == sorted(BOTH)


def make_tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def make_member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_links_and_devices_in_tar_archives_are_refused(grade):
    data = make_tar(
        (make_member("layer.py", tarfile.SYMTYPE, "/etc/passwd"), b""),
        (make_member("block.py", tarfile.LNKTYPE, "../../etc/passwd"), b""),
        (make_member("a/layer.py", tarfile.CHRTYPE), b""),
        (make_member("b/layer.py", tarfile.FIFOTYPE), b""),
        (make_member("../layer.py"), LAYER),
        (make_member("/tmp/layer.py"), LAYER),
    )
    submission = get_one(grade({"ada.tar": data}))
    assert submission.files == {}
    assert "is a link or a special file" in submission.ungradable


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no archive", "not a tar archive"),
        (pack_tar(BOTH)[:60], "damaged"),
        (pack_tar({"layer.py": bytes(200 << 20)}), "far more"),
        (pack_tar({f"{n}.py": b"" for n in range(tree.MAX_ENTRIES + 1)}), "entries"),
        (pack_tar({"layer.py": bytes(3 << 20)}), "larger than 1 MiB"),
    ],
    ids=["none", "damaged", "bomb", "many", "large"],  # not their bytes: they hold the time
)
def test_what_is_wrong_with_a_tar_archive_is_said(grade, data, reason):
    assert reason in get_one(grade({"ada.tar.gz": data})).ungradable


def test_only_so_many_tar_archives_are_opened(grade):
    bomb = pack_tar({"layer.py": bytes(101 << 20)})
    submission = get_one(
        grade({f"ada/{n:02}.tgz": bomb for n in range(12)} | {"ada/layer.py": LAYER})
    )
    assert submission.files == {"layer.py": LAYER}


def test_a_hole_of_many_gigabytes_is_not_filled(grade):
    """GNU's sparse files say how large they are; nothing of that is believed."""
    info = make_member("layer.py", tarfile.GNUTYPE_SPARSE)
    block = bytearray(make_tar((info, LAYER)))
    header = bytearray(block[:512])
    header[386:398], header[398:410] = b"00000000000\0", b"00000000001\0"
    header[483:495] = b"77777777777\0"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    submission = get_one(grade({"ada.tar": bytes(header) + bytes(block[512:])}))
    assert submission.files == {}


def test_ids_that_collide_are_kept_apart(grade):
    intake = grade({"ada/layer.py": LAYER, "ada.zip": make_zip(BOTH), "ADA.py": LAYER})
    assert [s.student for s in intake.submissions] == ["ADA", "ada-2", "ada-3"]
    assert all(any("more than one" in note for note in s.notes) for s in intake.submissions)


def test_a_class_is_one_also_when_a_stray_file_lies_on_top(grade):
    intake = grade({"ada/layer.py": LAYER, "bob/layer.py": LAYER, "layer.py": LAYER})
    assert [s.student for s in intake.submissions] == ["ada", "bob"]
    assert [item.path for item in intake.left_out] == ["layer.py"]


@pytest.mark.parametrize("name", ["nowhere", "file.xlsx", "empty", "broken.zip"])
def test_nothing_to_grade_says_what_to_do(tmp_path, demo, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.xlsx").write_bytes(b"x")
    (tmp_path / "broken.zip").write_bytes(b"x")
    with pytest.raises(NothingToGrade, match=name):
        find_submissions(tmp_path / name, demo)


def test_what_was_found_can_be_written_down(grade):
    described = grade({"ada/layer.py": LAYER, "x.csv": b""}).describe()
    assert json.loads(json.dumps(described)) == described
    assert described["submissions"][0]["files"] == {"layer.py": len(LAYER)}


def test_nothing_is_written(tmp_path, demo):
    home = write_files(tmp_path / "class", {"ada.zip": make_zip(BOTH), "bob/layer.py": LAYER})
    before = sorted(path for path in Path(tmp_path).rglob("*"))
    find_submissions(home, demo)
    assert sorted(path for path in Path(tmp_path).rglob("*")) == before
