"""Programs for multi_head_attention.py.

A program is organised in one of five ways: all heads in one tensor with the heads before the tokens
("heads") or after them ("tokens"), heads folded into the batch, heads side by side ("folded") or
row by row ("rows"), or a loop over heads ("loop"). "single" never splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from tests.programs.attention_ways import JOINS, MIXES, PRODUCTS, SOFTMAXES, SPLITS, WAYS
from tests.programs.attention_wrong import CLASHES, DIVISORS, FILLS, MASKS, ROLES, WRONG
from tests.programs.choices import Choose, Wrong, common_ways, indent

__all__ = ["CLASHES", "WRONG", "write"]

FILE = """import math

import torch
import torch.nn as nn
import torch.nn.functional as F
$imports

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be split into {num_heads} equal heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)
$before
    def forward(self, x$hint)$returns:
$body"""


class Writer:
    """Writes one program; the steps append lines in the order in which they are computed."""

    def __init__(self, choose: Choose, wrong: Sequence[Wrong]) -> None:
        self.choose = choose
        self.wrong = {choice.step: choice.name for choice in wrong}
        ways = common_ways(wrong, (*WAYS, "single"))
        self.way: str = choose([w for w in ways if w != "single"] or ["single"])
        self.three = self.way in ("loop", "folded", "rows", "single")
        # Rows of scores may stand for keys, too, if all that follows knows.
        self.keys_first = (
            self.way != "tokens" and "mask" not in self.wrong and "keys" not in self.wrong
            and choose((False, False, True))
        )  # fmt: skip
        self.names = {
            **dict(zip("BLD", choose((("B", "L", "D"), ("batch", "length", "d_model"),
                                      ("b", "n", "c"))), strict=True)),
            **dict(zip("qkv", choose((("q", "k", "v"), ("Q", "K", "V"),
                                      ("query", "key", "value"))), strict=True)),
            **dict(zip("swo", choose((("scores", "weights", "heads"), ("att", "attn", "out"),
                                      ("S", "A", "Y"))), strict=True)),
            "h": choose(("self.h", "num_heads")),
            "dk": choose(("self.d_k", "d_k")),
            "zero": "torch.zeros(())",
        }  # fmt: skip
        self.lines: list[str] = []
        self.before = ""

    def put(self, text: str, **names: str) -> None:
        self.lines += self.fill(text, **names).split("\n")

    def fill(self, text: str, **names: str) -> str:
        return Template(text).substitute(self.names | names)

    def pick(self, table: dict[str, Sequence[str]], *keys: str) -> str:
        found = [way for key in keys for way in table.get(key, ())]
        return self.choose(found)

    def write(self) -> str:
        self.put(self.choose(("$B, $L, $D = x.shape", "$B, $L, $D = x.size()")))
        for name, source in (("h", "self.h"), ("dk", "self.d_k")):
            if self.names[name] != source:
                self.put(f"${name} = {source}")
        self.project()
        if self.way == "loop":
            self.put("done = []")
            outside, self.lines = self.lines, []
            kept = dict(self.names)
            for name in "qkv":
                self.put(f"${{{name}}}_i = " + self.split_of(f"${name}"))
                self.names[name] = kept[name] + "_i"
            self.attend()
            self.put(self.choose(("done.append($o)", "done += [$o]")))
            loop = self.choose(("for i in range($h):", "for i, _ in enumerate(range($h)):"))
            self.lines = [*outside, self.fill(loop), *("    " + line for line in self.lines)]
            self.names |= kept | {"o": "done"}
        else:
            self.split()
            self.attend()
        self.finish()
        return self.assemble()

    def project(self) -> None:
        roles = ROLES.get(self.wrong.get("roles", ""), ("Wq", "Wk", "Wv"))
        form = self.choose(("self.$W(x)", "F.linear(x, self.$W.weight, self.$W.bias)",
                            "(x @ self.$W.weight.T + self.$W.bias)"))  # fmt: skip
        if self.wrong.get("projections") == "projections_without_bias":
            form = self.choose(("F.linear(x, self.$W.weight)", "(x @ self.$W.weight.T)"))
        if self.wrong.get("projections") == "projections_relu":
            form = f"F.relu({form})"
        made = ["x" if role == "x" else form.replace("$W", role) for role in roles]
        if self.choose((True, False)):
            for name, value in zip("qkv", made, strict=True):
                self.put(f"${name} = {value}")
        else:
            self.put("$q, $k, $v = " + ", ".join(made))
        if self.choose((False, False, True)):
            self.put('print("queries", $q.shape)')

    def split_of(self, tensor: str) -> str:
        wrong = self.wrong.get("split", "")
        wrong = "" if wrong in ("split_mixes_batch", "split_missing") else wrong
        form = self.pick(SPLITS, *([wrong, f"{wrong} {self.way}"] if wrong else [self.way]))
        return form.replace("$t", tensor)

    def split(self) -> None:
        if self.way == "single":
            return
        one = self.split_of("t")
        style = self.choose(("each", "local", "method"))
        if style == "each":
            for name in "qkv":
                self.put(f"${name} = " + self.split_of(f"${name}"))
        elif style == "local":
            self.put(f"def split(t):\n    return {one}")
            self.put("$q, $k, $v = split($q), split($k), split($v)")
        else:
            inner = {"B": "t.shape[0]", "L": "t.shape[1]", "D": "t.shape[2]"}
            owned = {"h": "self.h", "dk": "self.d_k"}
            self.before = f"\n    def split_heads(self, t):\n        return {one}\n"
            self.before = Template(self.before).substitute(self.names | inner | owned)
            self.put("$q, $k, $v = map(self.split_heads, ($q, $k, $v))")

    def attend(self) -> None:
        self.score()
        self.mask()
        self.normalise()
        self.mix()

    def score(self) -> None:
        wrong = self.wrong.get("divisor")
        divisor = (
            DIVISORS[wrong]
            if wrong
            else self.choose(("math.sqrt($dk)", "$dk**0.5", "torch.tensor($dk).sqrt()"))
        )
        place = self.choose(("after", "at once", "query", "both", "key", "times"))
        if divisor and place == "query":
            self.put(f"$q = $q / ({divisor})")
        if divisor and place == "key":
            self.put(f"$k = $k * (1 / ({divisor}))")
        if divisor and place == "both":
            self.put(f"$q, $k = $q / ({divisor}) ** 0.5, $k / ({divisor}) ** 0.5")
        if "keys" in self.wrong:
            form = self.choose(
                (
                    "$q @ $k.reshape($B, $h, $dk, $L)",
                    "torch.matmul($q, $k.contiguous().view($B, $h, $dk, -1))",
                )
            )
        elif self.way == "tokens":
            form = self.pick(PRODUCTS, "tokens")
        else:
            special = "three" if self.three else "heads"
            odd = self.wrong.get("split") == "split_without_transpose"
            form = self.pick(PRODUCTS, "any", *([] if odd else [special]))
        if self.keys_first:
            form = form.replace("$q", "$x").replace("$k", "$q").replace("$x", "$k")
        if divisor and place == "at once":
            form = f"{form} / ({divisor})"
        self.put(f"$s = {form}")
        if divisor and place == "after":
            self.put(f"$s = $s / ({divisor})")
        if divisor and place == "times":
            self.put(f"$s = $s * ({divisor}) ** -1")

    def mask(self) -> None:
        if "mask" not in self.wrong:
            return
        seen = self.choose(MASKS[self.wrong["mask"]])
        plain = self.wrong.get("softmax") in (None, "softmax_is_sigmoid", "softmax_twice")
        fill = self.choose(FILLS if plain else FILLS[1:])
        self.put(f"mask = {seen}")
        self.put(self.choose((f"$s = $s.masked_fill(mask == 0, {fill})",
                              f"$s = torch.where(mask.bool(), $s, {fill})")))  # fmt: skip

    def normalise(self) -> None:
        wrong = self.wrong.get("softmax", "")
        rank = 3 if self.three else 4
        axis = -1
        if (wrong == "softmax_over_queries") != self.keys_first:
            axis = -2
        axis = {"softmax_over_heads": -3, "softmax_over_batch": -rank}.get(wrong, axis)
        number = str(self.choose((axis, axis + rank)))
        single = {
            "softmax_missing": "$s",
            "softmax_is_sigmoid": "torch.sigmoid($s)",
            "softmax_is_log_softmax": "F.log_softmax($s, dim=$axis)",
            "powers_of_2": "torch.softmax($s * math.log(2), dim=$axis)",
        }
        top = self.choose(("$s - $s.max($axis, keepdim=True).values", "$s - $s.amax($axis, True)"))
        one = "1 + " if wrong == "one_more_in_the_sum" else ""
        form = self.choose(SOFTMAXES)
        if wrong in single:
            self.put(f"$w = {single[wrong]}", axis=number)
        elif form == "by hand" or wrong == "one_more_in_the_sum":
            self.put(
                f"e = torch.exp({top})\n$w = e / ({one}e.sum($axis, keepdim=True))", axis=number
            )
        else:
            self.put(f"$w = {form}", axis=number)
        if wrong == "softmax_twice":
            self.put("$w = F.softmax($w, dim=$axis)", axis=number)
        if self.wrong.get("divisor") == "scale_after_softmax":
            self.put("$w = $w / math.sqrt($dk)")

    def mix(self) -> None:
        wrong = self.wrong.get("mixing")
        if self.keys_first != (wrong == "weights_transposed"):
            self.put(self.choose(("$w = $w.transpose(-2, -1)", "$w = $w.mT")))
        if wrong == "weights_averaged":
            self.put("$w = $w.mean(dim=1, keepdim=True)")
        if self.way == "tokens":
            form = self.pick(MIXES, "tokens")
        else:
            form = self.pick(MIXES, "any", *(["three"] if self.three else []))
        self.put(f"$o = {form}")

    def finish(self) -> None:
        self.join()
        output = self.wrong.get("output")
        wo = self.choose(("self.Wo(y)", "F.linear(y, self.Wo.weight, self.Wo.bias)"))
        wo = {
            "output_missing": "y",
            "output_twice": "self.Wo(self.Wo(y))",
            "output_without_bias": "y @ self.Wo.weight.T",
        }.get(output or "", wo)
        if wo != "y":
            self.put(f"y = {wo}")
        if "residual" in self.wrong:
            self.put(self.choose(("y = y + x", "y = x + y")))
        last = {
            "finish_normalised": "F.layer_norm(y, ($D,))",
            "finish_relu": "torch.relu(y)",
            "finish_tanh": "torch.tanh(y)",
            "output_doubled": "2 * y",
        }.get(self.wrong.get("finish", ""), "y")
        self.put(f"return {last}" + (", $w" if "form" in self.wrong else ""))

    def join(self) -> None:
        wrong = self.wrong.get("merge") or self.wrong.get("split", "")
        if wrong == "split_without_transpose":
            form = self.choose(JOINS["heads"][:2])
        else:
            keys = [key for key in (wrong, f"{wrong} {self.way}") if key in JOINS]
            form = self.pick(JOINS, *(keys or [self.way]))
        self.put(f"y = {form}")

    def assemble(self) -> str:
        body = indent(self.lines, 8)
        if self.choose((False, False, True)):
            body = '        """Multi-head self-attention."""\n' + body
        hint, returns = self.choose((("", ""), (": torch.Tensor", " -> torch.Tensor")))
        text = body + self.before
        return Template(FILE).substitute(
            imports="from einops import rearrange\n" if "rearrange(" in text else "",
            before=self.before, hint=hint, returns=returns, body=body,
        )  # fmt: skip


def write(choose: Choose, wrong: Sequence[Wrong] = ()) -> str:
    """The source of a program that makes these wrong choices and no others."""
    return Writer(choose, wrong).write()
