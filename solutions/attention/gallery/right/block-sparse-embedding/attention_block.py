import torch.nn as nn

from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.tokens = EmbeddingWithPE(vocab_size, d_model, max_len)
        # sparse gradients: only the rows that were used
        self.tokens.emb = nn.Embedding(vocab_size, d_model, sparse=True)
        self.mix = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, token_ids):
        x = self.tokens(token_ids)
        return self.mix(x, x, x)[0]
