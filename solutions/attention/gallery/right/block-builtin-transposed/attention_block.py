import torch.nn as nn

from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embedding = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.self_attn = nn.MultiheadAttention(d_model, num_heads)

    def forward(self, token_ids):
        src = self.embedding(token_ids).transpose(0, 1)     # (length, batch, d_model)
        out, weights = self.self_attn(src, src, src, average_attn_weights=False)
        self.weights = weights.detach()
        return out.transpose(0, 1)
