"""What the probe of the encoding asks for."""

import torch
from torch import nn

from ..context import Context

# Few columns, so that the frequencies are far apart, and rows enough for the slowest one to show.
given = Context(max_len=32, d_model=6, half=3)


def start(dtype):
    # One row more than asked for, since some programs return it; the others are cut at the end.
    return {"position": torch.arange(given.max_len + 1, dtype=dtype)[None]}


def probe(submission):
    return submission.positional_encoding(given.max_len, given.d_model)


def mutate(run):
    """What a submission would define whose table is computed as `run` does."""

    def positional_encoding(max_len, d_model):
        with given.exchanged(max_len=max_len, d_model=d_model, half=d_model // 2):
            return run(start(torch.float64))[0].float()

    class EmbeddingWithPE(nn.Module):
        def __init__(self, vocab_size, d_model, max_len=512):
            super().__init__()
            self.emb = nn.Embedding(vocab_size, d_model)
            self.register_buffer("pe", positional_encoding(max_len, d_model))

        def forward(self, token_ids):
            if token_ids.shape[1] > self.pe.shape[0]:
                raise ValueError("more tokens than positions")
            return self.emb(token_ids) + self.pe[: token_ids.shape[1]]

    return {"positional_encoding": positional_encoding, "EmbeddingWithPE": EmbeddingWithPE}
