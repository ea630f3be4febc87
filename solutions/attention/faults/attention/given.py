"""What the probe of the attention layer is made of: sizes, weights, input."""

import math

import torch
from torch import nn

from ..context import Context

# Pairwise different, so that a mix-up of two of them shows; D_K is even, but not a square.
BATCH, LENGTH, HEADS, D_K = 2, 5, 3, 6
D_MODEL = HEADS * D_K
NAMES = ("Wq", "Wk", "Wv", "Wo")

_random = torch.Generator().manual_seed(23)


def _normal(*shape):
    return torch.randn(shape, generator=_random, dtype=torch.float64)


WEIGHTS = {name: _normal(D_MODEL, D_MODEL) * 1.3 / math.sqrt(D_MODEL) for name in NAMES}
BIASES = {name: _normal(D_MODEL) * 0.7 for name in NAMES}
X = _normal(BATCH, LENGTH, D_MODEL) * 0.6
X[0, 4] = 0  # a token that a program may take for padding
X[1, 1] = torch.tensor([0.5, -0.5]).repeat(D_MODEL // 2)  # another, which adds up to 0


given = Context(
    batch=BATCH,
    length=LENGTH,
    heads=HEADS,
    d_k=D_K,
    d_model=D_MODEL,
    x=X,
    weights=WEIGHTS,
    biases=BIASES,
)


def start(dtype):
    return {"x": X.to(dtype)[None]}


def probe(submission):
    module = submission.MultiHeadAttention(D_MODEL, HEADS)
    state = dict(module.state_dict())
    for name in NAMES:
        for key, value in ((f"{name}.weight", WEIGHTS[name]), (f"{name}.bias", BIASES[name])):
            if state[key].shape != value.shape:
                return None
            state[key] = value.float()
    module.load_state_dict(state)
    module.eval()
    return module(X.float())


def mutate(run):
    """What a submission would define whose layer computes as `run` does."""

    class MultiHeadAttention(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            if d_model % num_heads:
                raise ValueError("d_model must be a multiple of num_heads")
            self.h, self.d_k = num_heads, d_model // num_heads
            for name in NAMES:
                setattr(self, name, nn.Linear(d_model, d_model))

        def forward(self, x):
            layers = {name: getattr(self, name) for name in NAMES}
            with given.exchanged(
                batch=x.shape[0],
                length=x.shape[1],
                heads=self.h,
                d_k=self.d_k,
                d_model=self.h * self.d_k,
                x=x,
                weights={name: layer.weight for name, layer in layers.items()},
                biases={name: layer.bias for name, layer in layers.items()},
            ):
                return run({"x": x[None]})[0]

    return {"MultiHeadAttention": MultiHeadAttention}
