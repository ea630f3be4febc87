"""Programs for attention_block.py.

Attention is the student's own layer ("own"), PyTorch's ("built in") or written out ("inline").
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.programs.choices import Choose, Clashes, Wrong, common_ways, indent

WAYS = ("own", "built in", "inline")
POSITIONS = {  # from an embedding E and the rows P
    "positions_missing": ("{E}",),
    "positions_twice": ("{E} + 2 * {P}", "{E} + {P} + {P}"),
    "positions_and_embedding_twice": ("2 * {E} + {P}", "{E} + ({E} + {P})"),
    "positions_multiplied": ("{E} * {P}",),
    "positions_subtracted": ("{E} - {P}",),
    "positions_over_batch": ("{E} + {B}",),
    "positions_reversed": ("{E} + {P}.flip(0)",),
    "positions_first_for_all": ("{E} + {P}[0]", "{E} + {P}[:1]"),
    "positions_last_for_all": ("{E} + {P}[-1]",),
    "positions_scaled": ("{E} + math.sqrt({d}) * {P}",),
    "positions_scaled_with_embedding": ("({E} + {P}) * math.sqrt({d})",),
    "positions_averaged": ("({E} + {P}) / 2",),
    "positions_after_attention": ("{E}",),
    "positions_halved": ("{E} + 0.5 * {P}",),
    "positions_of_every_second_token": ("{E} + torch.where(torch.arange({L})[:, None] % 2 == 0, "
                                        "{P}, 0)",),
}  # fmt: skip
SCALES = {
    "embedding_scaled": "({E} * math.sqrt({d}))",
    "embedding_divided": "({E} / math.sqrt({d}))",
    "embedding_scaled_by_d_model": "({E} * {d})",
    "embedding_trebled": "(3 * {E})",
}
UNKNOWN = "positions_halved positions_of_every_second_token embedding_trebled".split()


def _wrongs(step: str, names: str, *ways: str) -> list[Wrong]:
    return [Wrong(step, n, known=n not in UNKNOWN, ways=ways) for n in names.split()]


WRONG = [
    *_wrongs("positions", " ".join(POSITIONS)),
    *_wrongs("scale", " ".join(SCALES)),
    *_wrongs("before", "normalised_before relu_before"),
    *_wrongs("view", "attends_over_batch", "built in"),
    *_wrongs("number", "one_head"),
    *_wrongs("mask", "causal anti_causal self_hidden", "built in", "inline"),
    *_wrongs("times", "attention_twice"),
    *_wrongs("times", "attention_missing", "own", "built in"),
    *_wrongs("residual", "residual"),
    *_wrongs("finish", "normalised_after relu_after"),
    Wrong("finish", "mean_returned"),
    Wrong("form", "returns_tuple", known=False, only_form=True),
]
CLASHES = Clashes(
    ("positions_scaled_with_embedding", "embedding_divided normalised_before"),
    ("positions_scaled", "embedding_scaled embedding_scaled_by_d_model"),
    # What is normalised has no size: only the ratio of embedding to positions shows.
    ("normalised_before", "positions_averaged positions_scaled embedding_scaled embedding_divided"),
    ("attends_over_batch", "causal anti_causal self_hidden"),  # a mask of another size
    # Without attention, what belongs to it is nothing, and what stands around it is one.
    ("attention_missing", "causal anti_causal self_hidden attends_over_batch one_head"),
    ("attention_missing", "residual normalised_before relu_before normalised_after relu_after"),
    ("attention_missing", "positions_after_attention mean_returned"),
)

ROLES = (
    ("Wq", "Wk", "Wv", "Wo"), ("q_proj", "k_proj", "v_proj", "out_proj"),
    ("query", "key", "value", "output"), ("to_q", "to_k", "to_v", "to_out"),
)  # fmt: skip
TABLES = {  # lines in the constructor, rows for the tokens; {name} is an attribute
    "buffer": (['self.register_buffer("{name}", positional_encoding(max_len, d_model))'],
               "self.{name}[:{n}]"),
    "not kept": (["self.register_buffer(\n            "
                  '"{name}", positional_encoding(max_len, d_model), persistent=False\n        )'],
                 "self.{name}[:{n}]"),
    "attribute": (["self.{name} = positional_encoding(max_len, d_model)"], "self.{name}[:{n}, :]"),
    "frozen": (["self.{name} = nn.Parameter(\n            "
                "positional_encoding(max_len, d_model), requires_grad=False\n        )"],
               "self.{name}[:{n}]"),
    "embedding": (["self.{name} = nn.Embedding.from_pretrained(\n            "
                   "positional_encoding(max_len, d_model), freeze=True\n        )"],
                  "self.{name}(torch.arange({n}))"),
    "computed": (["self.max_len, self.d_model = max_len, d_model"],
                 "positional_encoding(self.max_len, self.d_model)[:{n}]"),
    "as long as needed": (["self.d_model = d_model"], "positional_encoding({n}, self.d_model)"),
}  # fmt: skip
INLINE = """    def attend(self, x):
        B, L, D = x.shape
        q, k, v = (
            w(x).view(B, L, self.heads, D // self.heads).transpose(1, 2)
            for w in (self.{q}, self.{k}, self.{v})
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
{mask}        y = (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(B, L, D)
        return self.{o}(y)
"""
MASKS = {  # what is hidden
    "causal": "torch.ones({L}, {L}).triu(1).bool()",
    "anti_causal": "torch.ones({L}, {L}).tril(-1).bool()",
    "self_hidden": "torch.eye({L}).bool()",
}


class Writer:
    """Writes one program: the parts of the constructor, then those of `forward`."""

    def __init__(self, choose: Choose, wrong: Sequence[Wrong]) -> None:
        self.choose = choose
        self.wrong = {choice.step: choice.name for choice in wrong}
        self.way: str = choose(common_ways(wrong, WAYS))
        self.ids: str = choose(("token_ids", "x", "tokens"))
        self.set_up: list[str] = []
        self.method = ""

    def write(self) -> str:
        embedded = self.embed()
        lines = [f"h = {embedded}"]
        if self.choose((False, False, True)):
            lines.append("print(h.shape, h.dtype)")
        before = {"normalised_before": "F.layer_norm(h, h.shape[-1:])", "relu_before": "F.relu(h)"}
        if "before" in self.wrong:
            lines.append(f"h = {before[self.wrong['before']]}")
        attention = self.attend()
        times = {"attention_twice": 2, "attention_missing": 0}.get(self.wrong.get("times", ""), 1)
        lines += [attention.format(x="h")] if times == 1 else ["y = h"]
        lines += [attention.format(x="y")] * times if times != 1 else []
        if "residual" in self.wrong:
            lines.append(self.choose(("y = y + h", "y = h + y")))
        if self.wrong.get("positions") == "positions_after_attention":
            lines.append(f"y = y + {self.rows}")
        after = {
            "normalised_after": "F.layer_norm(y, y.shape[-1:])",
            "relu_after": "torch.relu(y)",
            "mean_returned": "y.mean(dim=1)",
        }
        result = after.get(self.wrong.get("finish", ""), "y")
        lines.append(f"return {result}" + (", None" if "form" in self.wrong else ""))
        hint = self.choose(("max_len=512", "max_len: int = 512"))
        return (
            "import math\n\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
            "from multi_head_attention import MultiHeadAttention\n"
            "from positional_encoding import EmbeddingWithPE, positional_encoding\n\n\n"
            "class AttentionBlock(nn.Module):\n"
            f"    def __init__(self, vocab_size, d_model, num_heads, {hint}):\n"
            "        super().__init__()\n" + indent(self.set_up, 8) + "\n" + self.method
            + f"    def forward(self, {self.ids}):\n" + indent(lines, 8)
        )  # fmt: skip

    def embed(self) -> str:
        """How embedding and rows are put together."""
        ids, name = self.ids, self.choose(("emb", "embedding", "tok"))
        ready_made = self.choose((True, False))
        if ready_made:
            self.set_up.append(f"self.{name} = EmbeddingWithPE(vocab_size, d_model, max_len)")
            token, rows = f"self.{name}.emb({ids})", f"self.{name}.pe[:{{n}}]"
        else:
            self.set_up.append(f"self.{name} = nn.Embedding(vocab_size, d_model)")
            token = f"self.{name}({ids})"
            made, rows = TABLES[self.choose(list(TABLES))]
            table = self.choose(("pe", "pos", "positions"))
            self.set_up += [line.replace("{name}", table) for line in made]
            rows = rows.replace("{name}", table)
        self.rows = rows.format(n=f"{ids}.shape[1]")
        wrong = self.wrong.get("positions")
        if ready_made and not {"positions", "scale"} & set(self.wrong):
            return f"self.{name}({ids})"
        if ready_made and wrong == "positions_twice" and "scale" not in self.wrong:
            return f"self.{name}({ids}) + {self.rows}"
        width = f"self.{name}.emb.embedding_dim" if ready_made else f"self.{name}.embedding_dim"
        if "scale" in self.wrong:
            token = SCALES[self.wrong["scale"]].format(E=token, d=width)
        form = self.choose(POSITIONS[wrong] if wrong else ("{E} + {P}", "{P} + {E}"))
        by_batch = rows.format(n=f"{ids}.shape[0]") + ".unsqueeze(1)"
        return form.format(E=token, P=self.rows, B=by_batch, d=width, L=f"{ids}.shape[1]")

    def attend(self) -> str:
        """A line that makes y of {x}."""
        heads = "1" if "number" in self.wrong else "num_heads"
        name = self.choose(("attn", "mha", "attention"))
        mask = MASKS.get(self.wrong.get("mask", ""), "")
        if self.way == "own":
            self.set_up.append(f"self.{name} = MultiHeadAttention(d_model, {heads})")
            return f"y = self.{name}({{x}})"
        if self.way == "inline":
            self.set_up.append(f"self.heads = {heads}")
            names = self.choose(ROLES)
            self.set_up += [f"self.{role} = nn.Linear(d_model, d_model)" for role in names]
            fill = self.choose(('float("-inf")', "-1e9"))
            line = f"        scores = scores.masked_fill({mask.format(L='L')}, {fill})\n"
            roles = dict(zip("qkvo", names, strict=True))
            self.method = INLINE.format(mask=line if mask else "", **roles) + "\n"
            return "y = self.attend({x})"
        over_batch = "view" in self.wrong
        turned = not over_batch and self.choose((False, False, True))
        first = "" if turned or over_batch else ", batch_first=True"
        self.set_up.append(f"self.{name} = nn.MultiheadAttention(d_model, {heads}{first})")
        hidden = f", attn_mask={mask.format(L=f'{self.ids}.shape[1]')}" if mask else ""
        more = self.choose(("", ", need_weights=False")) + hidden
        if turned:
            return f"y = self.{name}(*[{{x}}.transpose(0, 1)] * 3{more})[0].transpose(0, 1)"
        return self.choose((f"y, _ = self.{name}({{x}}, {{x}}, {{x}}{more})",
                            f"y = self.{name}({{x}}, {{x}}, {{x}}{more})[0]"))  # fmt: skip


def write(choose: Choose, wrong: Sequence[Wrong] = ()) -> str:
    """The source of a program that makes these wrong choices and no others."""
    return Writer(choose, wrong).write()
