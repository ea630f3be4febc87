import torch.nn as nn
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.register_buffer("pe", positional_encoding(max_len, d_model))
        self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, token_ids):
        x = self.embedding(token_ids)
        x = x + self.pe[:x.size(1)].unsqueeze(0)
        out, _ = self.attention(x, x, x)
        return out
