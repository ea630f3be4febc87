"""Every hostile upload, as an attachment in what an LMS exports: the others' work is unharmed."""

from pathlib import Path

import pytest
from demo_kit import make_kit, write_files
from hostile_uploads import LAYER, SECRET, UPLOADS
from lms_archives import pack

from autograder.assignment import Assignment
from autograder.intake import find_submissions

ON_DISK = {  # made of folders, links and special files, which no LMS hands out
    "a_file_of_many_gigabytes", "a_file_that_is_another_students",
    "a_folder_with_the_name_of_a_file", "bytes_that_are_no_text_as_names", "folders_without_end",
    "links_on_disk", "names_as_payload", "special_files_on_disk", "thousands_of_files",
}  # fmt: skip
SITES = {
    "canvas": "{who}_{n}_{file}",
    "moodle": "{who}_{n}_assignsubmission_file/{file}",
    "gradescope": "submission_{n}/{file}",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    return make_kit(tmp_path_factory.mktemp("kit"))


@pytest.fixture(params=sorted(UPLOADS.keys() - ON_DISK))
def attachments(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, bytes]:
    """The regular files that an upload consists of."""
    write_files(tmp_path / "secret", {"layer.py": f"class Layer: word = {SECRET!r}\n"})
    folder = write_files(tmp_path / "upload", {"zoe/layer.py": LAYER})
    UPLOADS[request.param](folder)
    files = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    return {path.name: path.read_bytes() for path in files}


def make_export(site: str, attachments: dict[str, bytes]) -> dict[str, bytes]:
    """Eve's attachments between the work of Zoe and of Ada."""
    work = [("zoe", "7", "layer.py", LAYER), ("ada", "9", "layer.py", LAYER + b"# hers\n")]
    work += [("eve", "8", name, data) for name, data in attachments.items()]
    entries = {}
    for number, (who, user, file, data) in enumerate(work):
        n = f"{user}_{700 + number}" if site == "canvas" else user
        entries[SITES[site].format(who=who, n=n, file=file)] = data
    if site == "gradescope":
        lines = [f"submission_{n}:\n  :submitters:\n  - :name: x{n}\n" for n in (7, 8, 9)]
        entries["submission_metadata.yml"] = "".join(lines).encode()
    return entries


def test_an_attachment_harms_nobody_else(demo, tmp_path, attachments):
    assert attachments
    before = set(tmp_path.rglob("*"))
    for site in SITES:
        path = tmp_path / f"{site}.zip"
        path.write_bytes(pack(make_export(site, attachments)))
        intake = find_submissions(path, demo)
        assert len(intake.submissions) == 3, site
        found = {data for s in intake.submissions for data in s.files.values()}
        assert {LAYER, LAYER + b"# hers\n"} <= found
        assert SECRET.encode() not in b"".join(found)
        for submission in intake.submissions:
            assert submission.files or submission.ungradable
        path.unlink()
    assert set(tmp_path.rglob("*")) == before
