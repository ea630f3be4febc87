import torch.nn as nn
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    """Uses the fast attention of torch, mine is only for learning."""

    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.parts = nn.ModuleDict({
            "embed": EmbeddingWithPE(vocab_size, d_model, max_len),
            "attend": nn.MultiheadAttention(d_model, num_heads, batch_first=True),
        })

    def forward(self, token_ids):
        x = self.parts["embed"](token_ids)
        y, _ = self.parts["attend"](x, x, x)
        return y
