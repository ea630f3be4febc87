"""Programs for positional_encoding.py: with torch, with numpy, or with loops and `math`."""

from __future__ import annotations

from collections.abc import Sequence

from tests.programs.choices import Choose, Clashes, Wrong, indent

GIVEN = """

class EmbeddingWithPE(nn.Module):
    def __init__(self, vocab_size, d_model, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))

    def forward(self, token_ids):
        length, max_len = token_ids.shape[1], self.pe.shape[0]
        if length > max_len:
            raise ValueError(f"{length} tokens do not fit: the table has {max_len} positions")
        return self.emb(token_ids) + self.pe[:length]
"""

# Exponents of the sines and of the cosines for a column 2 i, which is written `even`.
RIGHT_EXPONENTS = ("even / d_model", "2 * (even / 2) / d_model", "(even / d_model)")
EXPONENTS = {
    "exponent_doubled": ("2 * even / d_model",) * 2,
    "exponent_halved": ("even / 2 / d_model",) * 2,
    "exponent_per_column": ("even / d_model", "(even + 1) / d_model"),
    "exponent_per_column_doubled": ("2 * even / d_model", "2 * (even + 1) / d_model"),
    "exponent_next_for_cosine": ("even / d_model", "(even + 2) / d_model"),
    "exponent_next_for_both": ("(even + 2) / d_model",) * 2,
    "exponent_zero": ("(even // d_model)",) * 2,
    "exponent_over_max_len": ("even / max_len",) * 2,
    "exponent_to_last": ("even / 2 / (d_model / 2 - 1)",) * 2,
    "exponent_to_last_column": ("even / (d_model - 1)",) * 2,
    "exponent_inverted": ("-even / d_model",) * 2,
    "exponent_reversed": ("(d_model - 2 - even) / d_model",) * 2,
    "exponent_of_seven_tenths": ("0.7 * even / d_model",) * 2,
    "exponent_of_a_sixteenth_more": ("even / (d_model + 16)",) * 2,
}
BASES = {
    "base_1000": "1000", "base_100000": "100000", "base_10": "10", "base_e": "math.e",
    "base_d_model": "d_model", "base_12000": "12000",
}  # fmt: skip
POSITIONS = {
    "position_from_one": "pos + 1",
    "position_from_minus_one": "pos - 1",
    "position_normalised": "pos / max_len",
    "position_centred": "pos - (max_len - 1) / 2",
    "position_reversed": "max_len - 1 - pos",
    "position_doubled": "2 * pos",
    "position_from_two": "pos + 2",
}
UNITS = {
    "angle_in_degrees": "angle * 180 / math.pi",
    "angle_times_two_pi": "2 * math.pi * angle",
    "angle_times_pi": "angle * math.pi",
    "angle_negative": "-angle",
    "angle_times_root_2": "angle * math.sqrt(2)",
}
FUNCTIONS = {
    "sine_cosine_swapped": ("cos", "sin"), "sine_only": ("sin", "sin"),
    "cosine_only": ("cos", "cos"),
}  # fmt: skip
TABLES = {
    "table_times_root": "table * math.sqrt(d_model)",
    "table_over_root": "table / math.sqrt(d_model)",
    "table_negative": "-table",
    "table_doubled": "table + table",
}


def _wrongs(step: str, names: dict[str, object], *unknown: str) -> list[Wrong]:
    return [Wrong(step, name, known=name not in unknown) for name in names]


WRONG = [
    *_wrongs("exponent", EXPONENTS, "exponent_of_seven_tenths", "exponent_of_a_sixteenth_more"),
    *_wrongs("base", BASES, "base_12000"),
    *_wrongs("position", POSITIONS, "position_from_two"),
    *_wrongs("unit", UNITS, "angle_times_root_2"),
    *_wrongs("functions", FUNCTIONS),
    Wrong("layout", "layout_halves"),
    Wrong("layout", "layout_reversed"),
    *_wrongs("table", TABLES, "table_doubled"),
    Wrong("form", "row_zero_zeroed"),
    Wrong("form", "transposed"),
    Wrong("form", "double_precision", known=False, only_form=True),
    Wrong("form", "one_more_axis", known=False, only_form=True),
    Wrong("form", "numpy_array", known=False, only_form=True),
]
CLASHES = Clashes(
    ("sine_cosine_swapped layout_reversed", "exponent_reversed"),  # these three are two
    ("sine_cosine_swapped", "layout_reversed"),
    ("angle_negative", "table_negative"),  # cosines of the wrong sign
    ("sine_only", "angle_negative table_negative"),  # the two are one, or none
    ("cosine_only", "angle_negative"),  # nothing
    ("sine_only cosine_only", "layout_reversed exponent_reversed layout_halves"),
    ("exponent_doubled", "base_10"),  # exponent_halved
    # The same as another in the size of the dictionary's probe, though not in every size.
    ("base_1000", "exponent_doubled exponent_inverted"),
    ("base_100000", "exponent_over_max_len exponent_to_last_column"),
    ("row_zero_zeroed", "sine_only"),  # a row of zeros anyway
    ("position_doubled", "angle_times_pi"),  # times two pi
    ("exponent_zero", "angle_times_pi angle_times_two_pi"),  # whole turns
    ("exponent_zero", " ".join(BASES)),  # nothing
    ("exponent_zero", "layout_reversed sine_cosine_swapped"),
)


class Writer:
    """Writes one program: how it computes (`tool`), then one line or loop for each step."""

    def __init__(self, choose: Choose, wrong: Sequence[Wrong]) -> None:
        self.choose = choose
        self.wrong = {choice.step: choice.name for choice in wrong}
        self.tool: str = choose(("torch", "np", "math"))
        self.lines: list[str] = []

    def write(self) -> str:
        steps = {"torch": self.compute_at_once, "np": self.compute_at_once, "math": self.loop}
        steps[self.tool]()
        self.finish()
        head, tail = self.choose(
            (("max_len, d_model", ""), ("max_len: int, d_model: int", " -> torch.Tensor"))
        )
        return (
            "import math\n\nimport numpy as np\nimport torch\nfrom torch import nn\n\n\n"
            f"def positional_encoding({head}){tail}:\n" + indent(self.lines, 4) + GIVEN
        )

    def exponents(self) -> tuple[str, str]:
        plain = (self.choose(RIGHT_EXPONENTS),) * 2
        return EXPONENTS.get(self.wrong.get("exponent", ""), plain)

    def frequency(self, exponent: str) -> str:
        base = BASES.get(self.wrong.get("base", ""), self.choose(("10000", "1e4", "10000.0")))
        exp, power = {
            "torch": ("torch.exp", "torch.pow"), "np": ("np.exp", "np.power"),
            "math": ("math.exp", "math.pow"),
        }[self.tool]  # fmt: skip
        forms = [
            f"{exp}(-math.log({base}) * ({exponent}))",
            f"1 / {base} ** ({exponent})",
            f"float({base}) ** -({exponent})",
            f"1.0 / {power}(float({base}), {exponent})",
        ]
        return self.choose(forms)

    def position(self) -> str:
        return POSITIONS.get(self.wrong.get("position", ""), "pos")

    def functions(self) -> tuple[str, str]:
        return FUNCTIONS.get(self.wrong.get("functions", ""), ("sin", "cos"))

    def turned(self) -> list[str]:
        unit = self.wrong.get("unit")
        return [UNITS[unit]] if unit else []

    def compute_at_once(self) -> None:
        put, tool, choose = self.lines.append, self.tool, self.choose
        precise = choose(("float32", "float64")) if tool == "torch" else "float64"
        put(
            choose(
                (
                    f"pos = {tool}.arange(max_len, dtype={tool}.{precise})[:, None]",
                    f"pos = {tool}.arange(0, max_len, dtype={tool}.{precise}).reshape(-1, 1)",
                )
            )
        )
        put(
            choose(
                (
                    f"even = {tool}.arange(0, d_model, 2, dtype={tool}.{precise})",
                    f"even = 2 * {tool}.arange(d_model // 2, dtype={tool}.{precise})",
                )
            )
        )
        if self.position() != "pos":
            put(f"pos = {self.position()}")
        sines, cosines = self.exponents()
        f, g = self.functions()
        for name, exponent, function in (("s", sines, f), ("c", cosines, g)):
            put(f"angle = pos * ({self.frequency(exponent)})")
            self.lines += [f"angle = {unit}" for unit in self.turned()]
            put(f"{name} = {tool}.{function}(angle)")
        zeros = f"table = {tool}.zeros((max_len, d_model), dtype={tool}.{precise})"
        half = "s.shape[1]"
        if self.wrong.get("layout") == "layout_halves":
            fills = (
                f"table = {tool}.concatenate([s, c], 1)",
                f"{zeros}\ntable[:, :{half}] = s\ntable[:, {half}:] = c",
            )
        elif self.wrong.get("layout") == "layout_reversed":
            fills = (
                f"table = {tool}.stack([s, c], -1).reshape(max_len, d_model)"
                f"[:, {tool}.arange(d_model - 1, -1, -1)]",
            )
        else:
            fills = (
                f"{zeros}\ntable[:, 0::2] = s\ntable[:, 1::2] = c",
                f"table = {tool}.stack([s, c], -1).reshape(max_len, d_model)",
                f"{zeros}\nfor i in range(d_model // 2):\n"
                "    table[:, 2 * i] = s[:, i]\n    table[:, 2 * i + 1] = c[:, i]",
                f"table = {tool}.concatenate([s[..., None], c[..., None]], 2)"
                ".reshape(max_len, -1)",
                f"table = {tool}.stack([(s, c)[j % 2][:, j // 2] for j in range(d_model)], 1)",
            )  # fmt: skip
        self.lines += choose(fills).split("\n")
        if tool == "np":
            put(
                choose(
                    (
                        "table = torch.from_numpy(table).float()",
                        "table = torch.tensor(table, dtype=torch.float32)",
                    )
                )
            )
        elif precise == "float64":
            put(choose(("table = table.float()", "table = table.to(torch.float32)")))

    def loop(self) -> None:
        layout = self.wrong.get("layout", "")
        columns = {
            "layout_halves": ("even // 2", "even // 2 + d_model // 2"),
            "layout_reversed": ("d_model - 1 - even", "d_model - 2 - even"),
        }.get(layout, ("even", "even + 1"))
        inner = []
        for column, exponent, function in zip(
            columns, self.exponents(), self.functions(), strict=True
        ):
            inner.append(f"angle = ({self.position()}) * ({self.frequency(exponent)})")
            inner += [f"angle = {unit}" for unit in self.turned()]
            inner.append(f"table[pos][{column}] = math.{function}(angle)")
        start, end = self.choose((
            ("table = torch.zeros(max_len, d_model)", ""),
            ("table = [[0.0] * d_model for _ in range(max_len)]", "table = torch.tensor(table)"),
        ))  # fmt: skip
        self.lines += [start, "for pos in range(max_len):", "    for even in range(0, d_model, 2):"]
        self.lines += ["        " + line for line in inner] + [end] * bool(end)

    def finish(self) -> None:
        put, form = self.lines.append, self.wrong.get("form")
        if "table" in self.wrong:
            put(f"table = {TABLES[self.wrong['table']]}")
        if form == "row_zero_zeroed":
            put("table[0] = 0")
        put("return " + {
            "transposed": "table.T", "double_precision": "table.double()",
            "one_more_axis": "table.unsqueeze(0)", "numpy_array": "table.numpy()",
        }.get(form or "", "table"))  # fmt: skip


def write(choose: Choose, wrong: Sequence[Wrong] = ()) -> str:
    """The source of a program that makes these wrong choices and no others."""
    return Writer(choose, wrong).write()
