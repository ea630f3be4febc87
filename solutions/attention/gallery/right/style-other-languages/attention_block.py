import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    """Bloque de atención: añade las posiciones y después mezcla las palabras."""

    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.codificación = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.atención = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        # ¡primero las posiciones!
        return self.atención(self.codificación(token_ids))
