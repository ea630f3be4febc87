"""Wrong choices for multi_head_attention.py, and what they put in place of the right thing."""

from __future__ import annotations

from tests.programs.choices import Clashes, Wrong

FOUR = ("heads", "tokens")  # ways of organising the program in which scores have four axes


def _wrongs(step: str, names: str, *ways: str, known: bool = True) -> list[Wrong]:
    return [Wrong(step, name, known=known, ways=ways) for name in names.split()]


ROLES = {
    "queries_keys_swapped": ("Wk", "Wq", "Wv"),
    "values_from_wk": ("Wq", "Wk", "Wk"),
    "values_from_wq": ("Wq", "Wk", "Wq"),
    "values_from_x": ("Wq", "Wk", "x"),
    "keys_from_wv": ("Wq", "Wv", "Wv"),
    "keys_from_wq": ("Wq", "Wq", "Wv"),
    "queries_from_wk": ("Wk", "Wk", "Wv"),
    "queries_keys_from_x": ("x", "x", "Wv"),
    **{f"one_projection_{name.lower()}": (name,) * 3 for name in ("Wq", "Wk", "Wv")},
}
DIVISORS = {
    "scale_missing": "",
    "scale_d_model": "math.sqrt($D)",
    "scale_d_k": "$dk",
    "scale_whole_d_model": "$D",
    "scale_multiplied": "$dk**-0.5",
    "scale_length": "math.sqrt($L)",
    "scale_num_heads": "math.sqrt($h)",
    "scale_whole_num_heads": "$h",
    "scale_eight": "8",
    "scale_int": "int(math.sqrt($dk))",
    "scale_fourth_root": "$dk**0.25",
    "scale_after_softmax": "",
    "divided_by_root_of_d_k_plus_1": "math.sqrt($dk + 1)",
    "divided_by_cube_root": "$dk ** (1 / 3)",
}
FILLS = ('float("-inf")', "-1e9")
MASKS = {
    "mask_causal": ("torch.ones($L, $L).tril()", "1 - torch.ones($L, $L).triu(1)"),
    "mask_anti_causal": ("torch.ones($L, $L).triu()", "1 - torch.ones($L, $L).tril(-1)"),
    "mask_self": ("1 - torch.eye($L)", "torch.ones($L, $L).fill_diagonal_(0)"),
    "sees_its_neighbours_only": ("torch.ones($L, $L).tril(1).triu(-1)",),
}
WRONG = [
    *_wrongs("roles", " ".join(ROLES)),
    *_wrongs("projections", "projections_without_bias projections_relu"),
    *_wrongs("split", "split_by_view split_without_transpose", "heads"),
    *_wrongs("split", "split_interleaved", "heads", "tokens", "loop"),
    *_wrongs("split", "split_overlapping", "heads", "loop"),
    *_wrongs("split", "split_missing", "single"),
    *_wrongs("split", "split_mixes_batch", "folded"),
    *_wrongs("keys", "keys_transposed_by_view", "heads"),
    *_wrongs("divisor", " ".join(name for name in DIVISORS if name.startswith("scale"))),
    *(Wrong("divisor", name, known=False) for name in DIVISORS if name.startswith("div")),
    *_wrongs("mask", " ".join(name for name in MASKS if name.startswith("mask"))),
    Wrong("mask", "sees_its_neighbours_only", known=False),
    *_wrongs("softmax", "softmax_over_queries softmax_missing softmax_is_sigmoid softmax_twice"),
    *_wrongs("softmax", "softmax_is_log_softmax"),
    *_wrongs("softmax", "softmax_over_heads", *FOUR),
    *_wrongs("softmax", "softmax_over_batch", *FOUR, "loop", "single"),
    Wrong("softmax", "powers_of_2", known=False),
    Wrong("softmax", "one_more_in_the_sum", known=False),
    *_wrongs("mixing", "weights_transposed"),
    *_wrongs("mixing", "weights_averaged", "heads"),
    *_wrongs("merge", "merge_without_transpose merge_interleaved", "heads", "tokens", "loop"),
    *_wrongs("merge", "merge_reversed", "heads", "loop", "folded"),
    *_wrongs("merge", "merge_first_alone", "heads", "loop"),
    *_wrongs("merge", "merge_mixes_batch", "rows"),
    *_wrongs("output", "output_missing output_twice output_without_bias"),
    *_wrongs("residual", "residual"),
    *_wrongs("finish", "finish_normalised finish_relu finish_tanh"),
    Wrong("finish", "output_doubled", known=False),
    Wrong("form", "returns_a_tuple", known=False, only_form=True),
]
CLASHES = Clashes(
    # Scores turn with their roles, so these come to one another.
    ("softmax_over_queries weights_transposed", " ".join(ROLES)),
    ("softmax_over_queries softmax_missing softmax_is_sigmoid", "weights_transposed"),
    ("softmax_missing softmax_is_sigmoid", "queries_keys_swapped"),
    ("softmax_missing", "scale_after_softmax"),  # the same number at another place
    ("softmax_missing softmax_is_log_softmax", " ".join(MASKS)),  # infinite answers
    ("powers_of_2", " ".join(DIVISORS)),  # another divisor
    ("merge_reversed", "split_mixes_batch"),  # both are in the same line
    ("merge_first_alone", "split_overlapping"),  # the first slice is right
    ("softmax_over_heads", "weights_averaged"),  # the same weight for all
    ("split_without_transpose", " ".join(MASKS)),  # scores are not length by length
    ("split_without_transpose", "keys_transposed_by_view"),
    ("split_without_transpose", "merge_without_transpose merge_interleaved merge_reversed"),
    ("split_without_transpose", "merge_first_alone"),
)
