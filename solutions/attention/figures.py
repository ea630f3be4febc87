"""Draws the pictures of the handout with the reference: `python solutions/attention/figures.py`.

Run it after a change here or in `assignments/attention/plots.py`; a test says when it is due.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ROOT / "assignments" / "attention"
FOLDERS = (PUBLIC, PUBLIC / "tests", ROOT / "assignments" / "checking", Path(__file__).parent)
sys.path[:0] = map(str, FOLDERS)

import matplotlib  # noqa: E402
import plots  # noqa: E402
import torch  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402
from multi_head_attention import MultiHeadAttention  # noqa: E402
from positional_encoding import positional_encoding  # noqa: E402

HEADS = ("#4c78a8", "#f58518", "#54a24b")
REFERENCE = SimpleNamespace(
    MultiHeadAttention=MultiHeadAttention, positional_encoding=positional_encoding
)


def draw_split(figure):
    """What `view` and `transpose` do to 3 tokens of 6 features, for 3 heads of 2."""
    length, num_heads, d_k = 3, 3, 2
    axes = figure.subplots()
    axes.set(xlim=(-0.3, 15.2), ylim=(10.6, -1.2), aspect="equal")
    axes.axis("off")
    numbers = torch.arange(length * num_heads * d_k)

    def cell(x, y, number):
        head = int(number) % (num_heads * d_k) // d_k
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=HEADS[head], edgecolor="white", lw=1.5))
        axes.text(x + 0.5, y + 0.5, int(number), ha="center", va="center", color="white", size=10)

    def grid(x, y, matrix):
        for row, line in enumerate(matrix):
            for column, number in enumerate(line):
                cell(x + column, y + row, number)

    def say(x, y, text, **words):
        axes.text(x, y, text, size=9, va="bottom", family="monospace", **words)

    say(0, -0.15, "(length, d_model) = (3, 6)")
    grid(0, 0, numbers.view(length, num_heads * d_k))
    for token in range(length):
        axes.text(-0.15, token + 0.5, f"token {token}", size=8, ha="right", va="center")
    say(8, -0.15, ".view(length, num_heads, d_k)")
    split = numbers.view(length, num_heads, d_k)
    for head in range(num_heads):
        grid(8 + head * 2.4, 0, split[:, head])
    say(0, 4.75, ".transpose(0, 1): (num_heads, length, d_k)")
    for head in range(num_heads):
        grid(head * 2.4, 5, split.transpose(0, 1)[head])
        axes.text(head * 2.4 + 1, 8.5, f"head {head}", size=9, ha="center", va="center")
    say(8, 4.75, ".view(num_heads, length, d_k)", color="#a4161a")
    wrong = numbers.view(num_heads, length, d_k)
    for head in range(num_heads):
        grid(8 + head * 2.4, 5, wrong[head])
        axes.text(
            head * 2.4 + 9, 8.5, f'"head {head}"', size=9, ha="center", va="center", color="#a4161a"
        )
    axes.text(0, 9.6, "Each head has its colour,\nand all three tokens.", size=9, va="center")
    axes.text(
        8, 9.6, "The right shape, the wrong numbers:\neach “head” is one token, cut up.",
        size=9, va="center", color="#a4161a",
    )  # fmt: skip


def draw_map(figure):
    """The encoding of 50 positions in 64 features."""
    axes = figure.subplots()
    table = positional_encoding(50, 64).round(decimals=3).numpy()
    image = axes.imshow(table, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    axes.set(xlabel="feature", ylabel="position")
    figure.colorbar(image, ax=axes)


def draw_clocks(figure):
    """Three pairs of features as hands of clocks, at four positions, and moved on by five."""
    table = positional_encoding(4, 64).double()
    axes_of = figure.subplots(1, 3)
    for axes, pair in zip(axes_of, (0, 4, 8), strict=True):
        turn = 10000 ** (-2 * pair / 64)
        axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal")
        axes.set_title(f"pair {pair}: {math.degrees(turn):.1f}° a position", size=9)
        axes.axis("off")
        round_ = torch.linspace(0, 2 * math.pi, 100)
        axes.plot(round_.cos().numpy(), round_.sin().numpy(), color="0.8", lw=1)
        for pos in range(4):
            sine, cosine = table[pos, 2 * pair : 2 * pair + 2].tolist()
            axes.plot([0, cosine], [0, sine], color="#4c78a8", lw=2, alpha=1 - 0.2 * pos)
            axes.text(1.15 * cosine, 1.15 * sine, pos, size=9, ha="center", va="center")


DRAWINGS = {
    "split": (draw_split, (7.2, 5.4)),
    "map": (draw_map, (7.2, 4.6)),
    "clocks": (draw_clocks, (7.2, 2.7)),
    "order": (lambda figure: plots.draw_order(figure, REFERENCE), (7.2, 3.2)),
    "heads": (lambda figure: plots.draw_heads(figure, REFERENCE), (7.2, 7.4)),
}


def main(folder: Path = PUBLIC / "figures") -> None:
    """Draw all pictures into `folder`; the same code makes the same files."""
    matplotlib.use("svg")
    torch.set_num_threads(1)
    folder.mkdir(exist_ok=True)
    for name, (draw, size) in DRAWINGS.items():
        with matplotlib.rc_context({"svg.hashsalt": name}):
            figure = Figure(figsize=size, layout="constrained")
            draw(figure)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
