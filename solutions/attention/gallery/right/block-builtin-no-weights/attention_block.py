from torch import nn
from torch.nn import MultiheadAttention

from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, num_heads: int, max_len: int = 512):
        super().__init__()
        self.embed = EmbeddingWithPE(vocab_size=vocab_size, d_model=d_model, max_len=max_len)
        self.mha = MultiheadAttention(embed_dim=d_model, num_heads=num_heads, batch_first=True, dropout=0.0)

    def forward(self, token_ids):
        h = self.embed(token_ids)
        return self.mha(query=h, key=h, value=h, need_weights=False)[0]
