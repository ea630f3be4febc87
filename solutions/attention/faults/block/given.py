"""What the probe of the block is made of, and how weights find their places in any block."""

import math
import re

import torch
from torch import nn

from ..context import Context

# Pairwise different; more positions than tokens, so that a table indexed by token runs.
BATCH, LENGTH, HEADS, D_K, VOCAB_SIZE, MAX_LEN = 3, 5, 2, 6, 17, 23
D_MODEL = HEADS * D_K

_random = torch.Generator().manual_seed(21)


def _normal(*shape):
    return torch.randn(shape, generator=_random, dtype=torch.float64)


EMBEDDING = _normal(VOCAB_SIZE, D_MODEL) * 0.8
WEIGHTS = {role: _normal(D_MODEL, D_MODEL) * 1.5 / math.sqrt(D_MODEL) for role in "qkvo"}
BIASES = {role: _normal(D_MODEL) * 0.7 for role in "qkvo"}
TOKENS = torch.tensor([[3, 0, 9, 3, 12], [16, 5, 0, 7, 1], [2, 11, 4, 14, 8]])


def _table(max_len, d_model):
    angle = torch.arange(max_len)[:, None] * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).double()


given = Context(
    batch=BATCH,
    length=LENGTH,
    heads=HEADS,
    d_k=D_K,
    d_model=D_MODEL,
    max_len=MAX_LEN,
    tokens=TOKENS,
    table=_table(MAX_LEN, D_MODEL),
    weights=WEIGHTS,
    biases=BIASES,
)


# --- probe: weights are found by kind and shape, since attributes may have any name -----------

_NOISE_WORDS = re.compile(r"linear|layer|proj(ection)?|matrix|lin|fc|to|w|_|\d")


def _role(prefix):
    """q, k, v or o for the name of a projection such as `attention.W_q` or `q_proj`, else ""."""
    name = _NOISE_WORDS.sub("", prefix.rsplit(".", 1)[-1].lower())
    return name[:1] if name[:1] in ("q", "k", "v", "o") else ""


def inject(state):
    """`state` with the weights above in it, or None when it is not clear where they belong."""
    places, unnamed, embeddings, fused = {}, [], [], []
    for name, value in state.items():
        prefix, _, kind = name.rpartition(".")
        if tuple(value.shape) == (VOCAB_SIZE, D_MODEL):
            embeddings.append(name)
        elif value.shape[:1] == (3 * D_MODEL,):  # one projection for all three, as PyTorch has it
            fused.append(name)
        elif tuple(value.shape) == (D_MODEL, D_MODEL) and kind == "weight":
            role = _role(prefix)
            if role in places or not role:
                unnamed.append(prefix)
            else:
                places[role] = prefix
    missing = [role for role in ("o" if fused else "qkvo") if role not in places]
    if len(embeddings) != 1 or len(fused) not in (0, 2) or len(unnamed) != len(missing):
        return None
    if len(missing) > 1 or (fused and len(places) > 1):
        return None
    places.update(zip(missing, unnamed, strict=True))
    filled = {embeddings[0]: EMBEDDING}
    for name in fused:
        values = WEIGHTS if len(state[name].shape) == 2 else BIASES
        filled[name] = torch.cat([values[role] for role in "qkv"])
    for role, prefix in places.items():
        filled |= {f"{prefix}.weight": WEIGHTS[role], f"{prefix}.bias": BIASES[role]}
    if any(name not in state or state[name].shape != new.shape for name, new in filled.items()):
        return None
    return dict(state) | {name: value.float() for name, value in filled.items()}


def probe(submission):
    module = submission.AttentionBlock(VOCAB_SIZE, D_MODEL, HEADS, MAX_LEN)
    state = inject(dict(module.state_dict()))
    if state is None:
        return None
    module.load_state_dict(state)
    module.eval()
    return module(TOKENS.clone())


def start(dtype):
    return {"embedded": EMBEDDING.to(dtype)[TOKENS][None]}


def mutate(run):
    """What a submission would define whose block computes as `run` does."""

    class AttentionBlock(nn.Module):
        def __init__(self, vocab_size, d_model, num_heads, max_len=512):
            super().__init__()
            self.h, self.embedding = num_heads, nn.Embedding(vocab_size, d_model)
            for role in "qkvo":
                setattr(self, role, nn.Linear(d_model, d_model))
            self.register_buffer("pe", _table(max_len, d_model).float())

        def forward(self, token_ids):
            if token_ids.shape[1] > len(self.pe):
                raise ValueError("more tokens than positions")
            layers = {role: getattr(self, role) for role in "qkvo"}
            with given.exchanged(
                batch=token_ids.shape[0],
                length=token_ids.shape[1],
                heads=self.h,
                d_k=self.pe.shape[1] // self.h,
                d_model=self.pe.shape[1],
                max_len=len(self.pe),
                tokens=token_ids,
                table=self.pe,
                weights={role: layer.weight for role, layer in layers.items()},
                biases={role: layer.bias for role, layer in layers.items()},
            ):
                return run({"embedded": self.embedding(token_ids)[None]})[0]

    return {"AttentionBlock": AttentionBlock}
