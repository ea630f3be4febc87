"""Ways to write a step of multi_head_attention.py, by how the program is organised.

Names after a dollar sign are the program's: $q, $k, $v queries, keys and values, $s scores,
$w weights, $o the heads' answers, $t any of them.
"""

from __future__ import annotations

from collections.abc import Sequence

WAYS = ("heads", "tokens", "loop", "folded", "rows")

HEADS = {
    "view": "$t.view($B, $L, $h, $dk).transpose(1, 2)",
    "permute": "$t.reshape($B, $L, $h, $dk).permute(0, 2, 1, 3)",
    "unflatten": "$t.unflatten(-1, ($h, $dk)).transpose(1, 2)",
    "chunk": "torch.stack($t.chunk($h, dim=-1), dim=1)",
    "einops": 'rearrange($t, "b n (h d) -> b h n d", h=$h)',
    "slices": "torch.stack([$t[..., i * $dk : (i + 1) * $dk] for i in range($h)], dim=1)",
}
SPLITS: dict[str, Sequence[str]] = {
    "heads": list(HEADS.values()),
    "tokens": (
        "$t.view($B, $L, $h, $dk)",
        "$t.unflatten(2, ($h, $dk))",
        'rearrange($t, "b n (h d) -> b n h d", h=$h)',
    ),
    "loop": ("$t[:, :, i * $dk : (i + 1) * $dk]", "$t.split($dk, dim=-1)[i]",
             "$t.chunk($h, -1)[i]", "$t.narrow(-1, i * $dk, $dk)"),
    "folded": ("torch.cat($t.chunk($h, dim=-1), dim=0)", "torch.cat($t.split($dk, dim=2))"),
    "rows": ("$t.view($B, $L, $h, $dk).transpose(1, 2).reshape($B * $h, $L, $dk)",
             'rearrange($t, "b n (h d) -> (b h) n d", h=$h)'),
    "single": ("$t",),
    "split_by_view": ("$t.view($B, $h, $L, $dk)", "$t.reshape($B, $h, -1, $dk)"),
    "split_without_transpose": ("$t.view($B, $L, $h, $dk)", "$t.unflatten(-1, ($h, $dk))"),
    "split_interleaved heads": (
        "$t.view($B, $L, $dk, $h).permute(0, 3, 1, 2)",
        'rearrange($t, "b n (d h) -> b h n d", h=$h)',
        "torch.stack([$t[..., i :: $h] for i in range($h)], dim=1)",
    ),
    "split_interleaved tokens": ("$t.view($B, $L, $dk, $h).transpose(2, 3)",),
    "split_interleaved loop": ("$t[:, :, i :: $h]", "$t.view($B, $L, $dk, $h)[..., i]"),
    "split_overlapping heads": ("torch.stack([$t[..., i : i + $dk] for i in range($h)], dim=1)",),
    "split_overlapping loop": ("$t[:, :, i : i + $dk]", "$t.narrow(2, i, $dk)"),
}  # fmt: skip
JOINS: dict[str, Sequence[str]] = {
    "heads": (
        "$o.transpose(1, 2).reshape($B, $L, $D)",
        "$o.permute(0, 2, 1, 3).contiguous().view($B, $L, $D)",
        "$o.transpose(1, 2).flatten(2)",
        'rearrange($o, "b h n d -> b n (h d)")',
        "torch.cat([$o[:, i] for i in range($h)], dim=-1)",
        "torch.cat($o.unbind(1), dim=-1)",
    ),
    "tokens": ("$o.reshape($B, $L, $D)", "$o.flatten(2)"),
    "loop": ("torch.cat($o, dim=-1)", "torch.stack($o, dim=2).flatten(2)"),
    "folded": ("torch.cat($o.chunk($h, dim=0), dim=-1)", "torch.cat($o.split($B), dim=2)"),
    "rows": ("$o.view($B, $h, $L, $dk).transpose(1, 2).reshape($B, $L, $D)",
             'rearrange($o, "(b h) n d -> b n (h d)", h=$h)'),
    "single": ("$o",),
    "merge_without_transpose heads": ("$o.reshape($B, $L, $D)", "$o.contiguous().view($B, -1, $D)"),
    "merge_without_transpose tokens": ("$o.transpose(1, 2).reshape($B, $L, $D)",),
    "merge_without_transpose loop": ("torch.stack($o, dim=1).reshape($B, $L, $D)",),
    "merge_interleaved heads": ("$o.permute(0, 2, 3, 1).reshape($B, $L, $D)",
                                'rearrange($o, "b h n d -> b n (d h)")'),
    "merge_interleaved tokens": ("$o.transpose(2, 3).reshape($B, $L, $D)",),
    "merge_interleaved loop": ("torch.stack($o, dim=-1).flatten(2)",),
    "merge_reversed heads": ("$o.flip(1).transpose(1, 2).reshape($B, $L, $D)",
                             "torch.cat([$o[:, i] for i in reversed(range($h))], dim=-1)"),
    "merge_reversed loop": ("torch.cat($o[::-1], dim=-1)",),
    "merge_reversed folded": ("torch.cat($o.chunk($h)[::-1], dim=-1)",),
    "merge_first_alone heads": ("F.pad($o[:, 0], (0, $D - $dk))",),
    "merge_first_alone loop": ("F.pad($o[0], (0, $D - $dk))",),
    "merge_mixes_batch": ("$o.view($h, $B, $L, $dk).permute(1, 2, 0, 3).reshape($B, $L, $D)",),
    "split_mixes_batch": ("$o.view($B, $h, $L, $dk).transpose(1, 2).reshape($B, $L, $D)",),
}  # fmt: skip
PRODUCTS = {  # of tensors whose last two axes are tokens and features
    "any": ("$q @ $k.transpose(-2, -1)", "torch.matmul($q, $k.mT)",
            'torch.einsum("...qd,...kd->...qk", $q, $k)',
            "($q.unsqueeze(-2) * $k.unsqueeze(-3)).sum(-1)"),
    "three": ("torch.bmm($q, $k.transpose(1, 2))", "torch.baddbmm($zero, $q, $k.mT)"),
    "heads": ('torch.einsum("bhqd,bhkd->bhqk", $q, $k)',
              "torch.bmm($q.reshape(-1, $L, $dk), $k.reshape(-1, $L, $dk).mT)"
              ".view($B, $h, $L, $L)"),
    "tokens": ('torch.einsum("bqhd,bkhd->bhqk", $q, $k)',
               "$q.transpose(1, 2) @ $k.permute(0, 2, 3, 1)"),
}  # fmt: skip
MIXES = {
    "any": ("$w @ $v", "torch.matmul($w, $v)", 'torch.einsum("...qk,...kd->...qd", $w, $v)'),
    "three": ("torch.bmm($w, $v)", "$w.bmm($v)"),
    "tokens": ('torch.einsum("bhqk,bkhd->bqhd", $w, $v)',
               "($w @ $v.transpose(1, 2)).transpose(1, 2)"),
}  # fmt: skip
SOFTMAXES = (
    "F.softmax($s, dim=$axis)", "$s.softmax(dim=$axis)", "torch.softmax($s, $axis)",
    "nn.Softmax(dim=$axis)($s)", "($s - $s.logsumexp($axis, keepdim=True)).exp()", "by hand",
)  # fmt: skip
