"""Encodings, notebooks and names: any bytes and any text give an answer."""

import ast
import json
import os
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.intake.file_names import rank_name
from autograder.intake.identity import MAX_BYTES, assign_ids, make_safe, name_student
from autograder.intake.notebook import extract_definitions
from autograder.intake.source import decode_source, is_blank
from autograder.intake.tree import Refused
from autograder.plaintext import clean, clean_line

TEXT = 'name = "Zoë"\nx = 1\n'


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
        TEXT.encode("latin-1"),
        TEXT.encode("cp1252"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.encode() + b"\0\0\0",
    ],
)
def test_every_encoding_gives_the_same_text(data):
    assert decode_source(data)[0] == TEXT


def test_a_declared_encoding_is_read_and_restated():
    text, notes = decode_source("# -*- coding: koi8-r -*-\nx = 'да'\n".encode("koi8-r"))
    assert text == "# -*- coding: utf-8 -*-\nx = 'да'\n"
    assert notes
    assert "latin-1" not in decode_source(b"#!/usr/bin/python\n# coding: latin-1\n")[0]
    assert decode_source(b"x = 1\n# coding: latin-1\n")[0].endswith("latin-1\n")


@pytest.mark.parametrize("cookie", ["rot13", "zlib", "no-such", "undefined", "idna"])
def test_an_odd_declared_encoding_does_no_harm(cookie):
    assert "x" in decode_source(f"# coding: {cookie}\nx = '\xff'\n".encode("latin-1"))[0]


@given(st.binary(max_size=400))
def test_any_bytes_become_text(data):
    text, _ = decode_source(data)
    text.encode("utf-8", "replace")
    assert "\0" not in text
    assert "\r" not in text


def test_blank_is_blank():
    assert is_blank("\ufeff \n\t")
    assert not is_blank("#")


def make_notebook(*cells: str) -> str:
    listed = [{"cell_type": "code", "source": cell} for cell in cells]
    return json.dumps({"nbformat": 4, "cells": listed})


def test_a_notebook_keeps_definitions_imports_and_constants_only():
    source, notes = extract_definitions(
        make_notebook(
            "%matplotlib inline\nimport torch\nfrom torch import nn\n!pip install einops",
            "%%bash\nrm -rf /",
            "%%time\nSIZE = 2 * 3\nNAMES = ['a', \"b\"]\ndevice = torch.device('cpu')",
            "# the layer\n@torch.no_grad()\ndef f(x):\n    # why\n    return x  # ok?",
            "model = Layer(3)\nfor i in range(10): train()\nprint(model)\nLayer?",
            "class Layer(nn.Module):\n    pass",
            "def f(x):\n    return 2 * x\nLayer.forward = f",
            "this isn't Python",
            "try:\n    import einops\nexcept ImportError:\n    einops = None",
            "data = open('/etc/passwd').read()\nsquares = [n for n in range(10**9)]",
        )
    )
    kinds = [type(node).__name__ for node in ast.parse(source).body]
    assert kinds[:6] == "Import ImportFrom Assign Assign Assign FunctionDef".split()
    assert kinds[6:] == "ClassDef FunctionDef Assign Try".split()
    assert "# why" in source
    assert "passwd" not in source
    (note,) = notes
    assert note.startswith("code cell 8 was left out: it is not valid Python (line 1:")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"cells": {}}', "[" * 100000, '{"worksheets": []}']
)
def test_what_is_no_notebook_is_refused(text):
    with pytest.raises(Refused):
        extract_definitions(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(
            st.sampled_from(["cells", "cell_type", "source", "x"]), inner
        ),
        max_leaves=12,
    )
)  # fmt: skip
def test_any_json_is_read_or_refused(value):
    for text in (
        json.dumps(value),
        json.dumps({"cells": [value, {"cell_type": "code", "source": value}]}),
    ):
        try:
            source, _ = extract_definitions(text)
        except Refused:
            continue
        ast.parse(source)


@pytest.mark.parametrize(
    ("name", "student"),
    [("ada.zip", "ada"), ("ada.py.txt", "ada"), ("ada.tar.gz", "ada"), ("a.lovelace", "a.lovelace"),
     ("ada", "ada"), (".py", ".py"), ("ada.IPYNB", "ada")],
)  # fmt: skip
def test_students_are_named_by_their_files(name, student):
    assert name_student(name) == student


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("ada", "ada"),
        ("Zoë Ångström", "Zoë Ångström"),
        ("李雷", "李雷"),
        ("ada@uni.edu", "ada@uni.edu"),
        ("../../etc/passwd", "etc_passwd"),
        ("-rf", "rf"),
        ("=1+1", "1+1"),
        ("con", "con_"),
        ("COM1.txt", "COM1.txt_"),
        ("grades.csv", "grades.csv_"),
        ("\x1b[31mada\x1b[0m\n", "ada"),
        ("<b>ada</b>", "b_ada__b"),
        ("", "student"),
        ("...", "student"),
    ],
)
def test_ids_are_safe_and_stay_readable(name, safe):
    assert make_safe(name) == safe


@given(st.lists(st.text(alphabet=st.characters(), max_size=150), max_size=12))
def test_ids_are_safe_and_different_whatever_the_names(names):
    ids = assign_ids(names)
    assert len(ids) == len(names)
    folded = {unicodedata.normalize("NFD", i.casefold()) for i in ids}
    assert len(folded) == len(ids)
    for safe in ids:
        assert safe
        assert len(os.fsencode(safe)) <= MAX_BYTES + 8
        assert safe[0] not in ".-=+@ \t"
        assert not set('/\\:*?"<>|\0\n') & set(safe)
    assert ids == [dict(zip(range(len(names)), ids, strict=True))[i] for i in range(len(names))]


def test_collisions_by_case_and_accent_get_numbers():
    nfc, nfd = unicodedata.normalize("NFC", "Zoë"), unicodedata.normalize("NFD", "Zoë")
    assert assign_ids([nfd, nfc, "zoë", "Zoë-2"]) == ["Zoë-4", "Zoë", "zoë-3", "Zoë-2"]


def test_other_names_are_not_taken_for_an_exercise():
    for name in (
        "test_layer.py",
        "layers.py",
        "my_layer.py",
        "layer.pyc",
        "layer.txt",
        "layer.py~",
    ):
        assert rank_name(name, "layer.py") is None, name


@given(st.text())
def test_cleaned_text_holds_nothing_that_acts(text):
    for cleaned in (clean("\x1b[2J" + text), clean_line(text)):
        assert not any(
            unicodedata.category(char) in ("Cc", "Cs") for char in cleaned if char not in "\n\t"
        )
        assert "\u202e" not in cleaned
    assert "\n" not in clean_line(text)


def test_escape_sequences_go_whole():
    assert clean("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\ \x1b[1;31mred\x1b[0m") == "click red"
    assert clean("x" * 5000, 100) == "x" * 96 + " ..."
