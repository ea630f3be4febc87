import torch.nn as nn

from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.emb = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.drop = nn.Dropout(0.1)
        self.mha = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, token_ids):
        x = self.emb(token_ids)
        y, w = self.mha(x, x, x)
        return x + self.drop(y), w
