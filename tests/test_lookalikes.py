"""Look-alikes: copies are found however they are dressed up, honest work is left alone."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.assignment import find_root, load
from autograder.gallery import read_case, read_reference
from autograder.lookalikes import find_lookalikes, read_starter

STARTER = '''
import math
import torch


class Layer(torch.nn.Module):
    """Given."""

    def __init__(self, size):
        super().__init__()
        self.query = torch.nn.Linear(size, size)
        self.key = torch.nn.Linear(size, size)
        self.value = torch.nn.Linear(size, size)

    def forward(self, x):
        raise NotImplementedError("layer")
'''
BODY = """        q, k, v = self.query(x), self.key(x), self.value(x)
        rows = []
        for at in range(x.shape[1]):
            score = (q[:, at : at + 1] * k).sum(-1) / math.sqrt(x.shape[2])
            score = score - score.max(-1, keepdim=True).values
            weight = score.exp() / score.exp().sum(-1, keepdim=True)
            rows.append((weight.unsqueeze(-1) * v).sum(1))
        return torch.stack(rows, dim=1)
"""
DISGUISED = '''        # My own work.
        a: torch.Tensor
        a, b, c = self.query(x), self.key(x), self.value(x)
        """Now the tokens."""
        answers = []
        for index in range(x.shape[1]):
            points = (
                a[:, index : index + 1] * b
            ).sum(-1) / math.sqrt(x.shape[2])

            points = points - points.max(-1, keepdim=True).values
            share = points.exp() / points.exp().sum(-1, keepdim=True)
            answers.append((share.unsqueeze(-1) * c).sum(1))
        return torch.stack(answers, dim=1)
'''


def write(body: str) -> dict[str, bytes]:
    source = STARTER.replace('        raise NotImplementedError("layer")\n', body)
    assert body in source
    return {"layer.py": source.encode()}


def find(sources):
    return find_lookalikes(sources, {"layer.py": STARTER})


OTHERS = {
    f"other{n}": write(body)
    for n, body in enumerate([
        "        return torch.softmax(self.query(x) @ self.key(x).mT, -1) @ self.value(x)\n",
        "        w = torch.einsum('bqd,bkd->bqk', self.query(x), self.key(x))\n"
        "        w = w / math.sqrt(x.size(-1))\n"
        "        return torch.einsum('bqk,bkd->bqd', w.softmax(dim=2), self.value(x))\n",
        "        out = torch.zeros_like(x)\n        for b, seq in enumerate(x):\n"
        "            s = self.query(seq) @ self.key(seq).T\n"
        "            out[b] = (s / s.shape[1] ** 0.5).softmax(1) @ self.value(seq)\n"
        "        return out\n",
    ])
}  # fmt: skip


def test_honest_work_makes_no_list():
    found = find({**OTHERS, "ada": write(BODY)})
    assert (found.groups, found.pairs) == ([], [])


def test_a_copy_with_other_names_comments_and_layout_is_found():
    found = find({**OTHERS, "ada": write(BODY), "bob": write(DISGUISED)})
    (pair,) = found.pairs
    assert pair.students == ("ada", "bob")
    assert pair.share == 1.0
    assert found.groups == []


def test_a_copy_with_lines_put_between_is_found():
    changed = BODY.replace("        rows = []\n", "        rows = list()\n        print(x.shape)\n")
    found = find({**OTHERS, "ada": write(BODY), "bob": write(changed)})
    assert [pair.students for pair in found.pairs] == [("ada", "bob")]
    assert found.pairs[0].share < 1


def test_the_same_program_is_a_group_whatever_its_comments():
    commented = BODY.replace("        rows = []", "        rows = []  # all mine")
    found = find({**OTHERS, "ada": write(BODY), "bob": write(commented), "eve": write(BODY)})
    assert [group.students for group in found.groups] == [("ada", "bob", "eve")]
    assert found.pairs == []  # said already


def test_what_was_handed_out_counts_for_nothing():
    bare = {"layer.py": STARTER.encode()}
    found = find({"ada": bare, "bob": bare, "eve": {"layer.py": STARTER.encode() + b"# mine\n"}})
    assert (found.groups, found.pairs) == ([], [])


def test_what_many_have_in_common_makes_no_pair():
    many = {f"s{n:02}": write(BODY.replace("rows", f"rows{n}")) for n in range(30)}
    assert find(many).pairs == []
    few = dict(list(many.items())[:4])
    assert len(find({**OTHERS, **few}).pairs) == 6


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"def (",
        b"\xff\xfe\x00",
        b"x\x00y",
        b"x = " + b"(" * 5000,
        b"x = " + b"-" * 20000 + b"1",
        b"a = 1\n" * 40000,
        b"x = 0x" + b"f" * 8000,  # more digits than Python writes out
        b"if 1:\n" + b"".join(b" " * n + b"if 1:\n" for n in range(1, 90)),
    ],
)
def test_what_cannot_be_read_is_not_compared(source):
    same = {"ada": {"layer.py": source}, "bob": {"layer.py": source}}
    assert find({**OTHERS, **same}).pairs == []


def test_the_list_does_not_depend_on_the_order_of_a_class():
    sources = {**OTHERS, "ada": write(BODY), "bob": write(DISGUISED), "eve": write(BODY)}
    names = list(sources)
    random.Random(0).shuffle(names)
    assert find({name: sources[name] for name in names}) == find(sources)


@given(st.lists(st.sampled_from([BODY, DISGUISED, "        return x\n"]), max_size=5))
def test_shares_are_shares(bodies):
    found = find({f"s{n}": write(body) for n, body in enumerate(bodies)})
    assert all(0 < pair.share <= 1 and pair.passages > 0 for pair in found.pairs)
    assert all(pair.students[0] < pair.students[1] for pair in found.pairs)


def test_in_a_real_class_a_planted_copy_comes_first():
    """The gallery's right layers, each in another style, and a disguised copy of one of them."""
    attention = load("attention", find_root())
    reference = read_reference(attention)
    cases = sorted((attention.gallery_dir / "right").glob("mha-*"))
    name = "multi_head_attention.py"
    sources = {}
    for case in cases:
        (file,) = [f for f in read_case(case, reference).files if f.name == name]
        sources[case.name] = {name: file.read(1 << 20)}
    victim = sources["mha-online-softmax"][name]
    copy = re.sub(r"\b(top|total|old|new|acc|new_top)\b", r"my_\1", victim.decode())
    assert copy.count("my_") > 10
    sources["thief"] = {name: copy.encode()}
    found = find_lookalikes(sources, read_starter(attention))
    listed = [group.students for group in found.groups] + [pair.students for pair in found.pairs]
    assert set(listed[0]) == {"mha-online-softmax", "thief"}
    assert len(listed) < len(cases) / 4
