"""The pictures of `python check.py --plots`. Look at how they are made, or draw your own."""

import math

import torch
from block_weights import encoding as right_table
from comparison import first_tensor, tensor_of

SENTENCE = "the cat sat on the mat because it was warm".split()
NUM_HEADS, D_K = 4, 16
D_MODEL = NUM_HEADS * D_K
MAX_LEN, WIDTH = 50, 64
ROWS = (0, 1, 7)
DIVERGING, SEQUENTIAL = "RdBu_r", "Blues"


def draw_encoding(figure, submission):
    """Your encoding, and what the formula says

    Left: positional_encoding(50, 64), a row for each position. The waves on the left are short
    and get longer pair by pair. Right: rows 0, 1 and 7 of yours as dots on the lines that the
    formula gives. Where a dot is off its line, that entry is wrong.
    """
    left, *right = figure.subplot_mosaic(
        [["map", f"row {pos}"] for pos in ROWS], width_ratios=(1.2, 1)
    ).values()
    right_rows = right_table(MAX_LEN, WIDTH)
    for axes, pos in zip(right, ROWS, strict=True):
        axes.plot(right_rows[pos].numpy(), color="0.6", lw=1)
        axes.set(title=f"row {pos}", xlim=(-1, WIDTH), ylim=(-1.25, 1.25))
        axes.title.set_fontsize(9)
    left.set(xlabel="feature", ylabel="position")
    came = first_tensor(submission.positional_encoding(MAX_LEN, WIDTH), "your encoding")
    table = came.detach().double().squeeze()
    table = table[:, None] if table.dim() < 2 else table.flatten(1)
    image = left.imshow(table.numpy(), cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto")
    figure.colorbar(image, ax=left, shrink=0.8)
    if tuple(came.shape) != (MAX_LEN, WIDTH):
        left.set_title(f"yours has the shape {tuple(came.shape)}, not {(MAX_LEN, WIDTH)}")
        return [f"The shape is {tuple(came.shape)}; expected {(MAX_LEN, WIDTH)}."]
    left.set_title("positional_encoding(50, 64), yours")
    for axes, pos in zip(right, ROWS, strict=True):
        axes.plot(table[pos].numpy(), ".", ms=4, color="C3")
    gap = (table - right_rows).abs()
    if float(gap.max()) < 1e-4:
        return ["All entries agree with the formula."]
    if not bool(gap.isfinite().all()):
        return ["Some entries are not finite numbers (inf or nan)."]
    pos, column = (int(n) for n in (gap >= 1e-4).nonzero()[0])
    return [
        f"The first entry that differs: position {pos}, feature {column}. Yours is "
        f"{float(table[pos, column]):.4f}, the formula gives {float(right_rows[pos, column]):.4f}."
    ]


def draw_heads(figure, submission):
    """What each head of yours looks at

    Four heads with weights chosen by hand, on one sentence with your encoding. A row is the
    token that asks; it looks at the columns, and every row adds up to one. Head 0 asks for the
    token before, head 1 for the one after, head 2 for the same word anywhere, head 3 for nothing
    in particular. The weights are made for the encoding of the formula: with another one, heads 0
    and 1 lose their way.
    """
    if figure.get_figheight() < 7:
        figure.set_size_inches(9, 9)
    axes_of = figure.subplots(2, 2, sharex=True, sharey=True).flatten()
    titles = "the token before", "the token after", "the same word", "nothing in particular"
    for head, (axes, title) in enumerate(zip(axes_of, titles, strict=True)):
        axes.set_title(f"head {head}: {title}", fontsize=10)
        axes.set_xticks(range(len(SENTENCE)), SENTENCE, rotation=90)
        axes.set_yticks(range(len(SENTENCE)), SENTENCE)
        axes.set(xlim=(-0.5, len(SENTENCE) - 0.5), ylim=(len(SENTENCE) - 0.5, -0.5))
    meanings, weights = meanings_and_weights()
    remarks = []
    try:
        table = submission.positional_encoding(len(SENTENCE), D_MODEL)
        table = tensor_of(table, (len(SENTENCE), D_MODEL), "your encoding").detach().double()
    except Exception as error:
        remarks.append(f"Drawn with the encoding of the formula: yours cannot be used ({error}).")
        table = right_table(len(SENTENCE), D_MODEL)
    layer = submission.MultiHeadAttention(D_MODEL, NUM_HEADS)
    layer.load_state_dict(weights)
    layer.eval()
    x = (meanings + table).float()
    with torch.no_grad():
        answer = tensor_of(layer(x[None]), (1, *x.shape), "the answer of your layer")[0]
    # Wv and Wo are such that the part of a head in an answer is the weights that it gave.
    found = answer.unflatten(-1, (NUM_HEADS, D_K))[..., : len(SENTENCE)]
    for head, axes in enumerate(axes_of):
        axes.imshow(found[:, head].numpy(), cmap=SEQUENTIAL, vmin=0, vmax=1)
    sums, last = found.sum(-1), len(SENTENCE) - 1
    if float((sums - 1).abs().max()) > 1e-3:
        remarks.append(
            f"Rows should add up to 1; yours add up to {sums.min():.3g} up to {sums.max():.3g}."
        )
    else:
        remarks.append("Every row adds up to 1.")
    for head, step in ((0, -1), (1, 1)):
        asked = (torch.arange(len(SENTENCE)) + step).clamp(0, last)
        if not torch.equal(found[:, head].argmax(-1), asked):
            remarks.append(f"Head {head} does not look at {titles[head]} everywhere.")
    return remarks


def draw_order(figure, submission):
    """Shuffled and not: what positions change

    A sentence goes through your attention twice, the second time shuffled. Then the answers are
    put back in order and compared, token by token. Without positions nothing changes but
    rounding: attention does not see order. With your encoding added, it does.
    """
    axes = figure.subplots()
    axes.set(yscale="log", ylabel="distance of the two answers", ylim=(1e-9, 1e2))
    axes.set_xticks(range(len(SENTENCE)), SENTENCE)
    torch.manual_seed(0)
    layer = submission.MultiHeadAttention(D_MODEL, NUM_HEADS)
    layer.eval()
    words = sorted(set(SENTENCE))
    plain = torch.randn(len(words), D_MODEL)[[words.index(word) for word in SENTENCE]]
    order = torch.randperm(len(SENTENCE), generator=torch.Generator().manual_seed(1))
    remarks = []

    def compare(inputs, shuffled, label, offset):
        with torch.no_grad():
            first = first_tensor(layer(inputs[None]), "the answer").squeeze(0)
            second = first_tensor(layer(shuffled[None]), "the answer").squeeze(0)
        gaps = (first[order] - second).norm(dim=-1).double().clamp(min=1e-9)
        back = torch.empty_like(gaps)
        back[order] = gaps
        axes.bar([n + offset for n in range(len(gaps))], back.numpy(), width=0.38, label=label)
        axes.legend(loc="upper right")
        remarks.append(f"{label}: {float(gaps.min()):.1e} up to {float(gaps.max()):.1e}")
        return float(gaps.max())

    if compare(plain, plain[order], "without positions", -0.2) > 1e-4:
        remarks.append("Without positions there should be rounding alone (about 1e-7).")
    table = first_tensor(submission.positional_encoding(len(SENTENCE), D_MODEL), "your encoding")
    table = table.detach().float()
    if compare(plain + table, plain[order] + table, "with positions", 0.2) < 1e-4:
        remarks.append("With positions there should be more than rounding.")
    return remarks


def meanings_and_weights():
    """Return vectors of the words, (length, d_model), and weights of heads that ask for something.

    Every word has a direction of its own, at right angles to all positions. Questions and
    keys are made so that the token asked for has the largest score.
    """
    length = len(SENTENCE)
    positions = right_table(length, D_MODEL)
    words = sorted(set(SENTENCE))
    free = torch.linalg.svd(positions).Vh[length:]  # directions that no position uses
    meanings = math.sqrt(D_MODEL / 2) * free[[words.index(word) for word in SENTENCE]]
    # From these vectors, any d_k numbers can be had for each token: their rank is full.
    solve = torch.linalg.pinv(positions + meanings)  # (d_model, length)
    places = torch.eye(length, D_K, dtype=torch.float64)
    kinds = torch.zeros(length, D_K, dtype=torch.float64)
    for token, word in enumerate(SENTENCE):
        kinds[token, words.index(word)] = 1
    before, after = places.roll(1, 0), places.roll(-1, 0)
    before[0], after[-1] = places[0], places[-1]
    size = 4 * math.sqrt(D_K)
    wanted = {
        "Wq": [size * before, size * after, size * kinds, 0 * places],
        "Wk": [places, places, kinds, places],
        "Wv": [places] * NUM_HEADS,
    }
    state = {}
    for name, parts in wanted.items():
        state[f"{name}.weight"] = (solve @ torch.cat(parts, 1)).T.float()
        state[f"{name}.bias"] = torch.zeros(D_MODEL)
    return meanings, state | {"Wo.weight": torch.eye(D_MODEL), "Wo.bias": torch.zeros(D_MODEL)}
