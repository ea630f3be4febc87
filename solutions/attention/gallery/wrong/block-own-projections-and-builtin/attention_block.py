import torch.nn as nn

from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.emb = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, token_ids):
        x = self.emb(token_ids)
        out, _ = self.attention(self.query(x), self.key(x), self.value(x))
        return out
