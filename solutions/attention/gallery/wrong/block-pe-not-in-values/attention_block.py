import torch.nn as nn

from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pe", positional_encoding(max_len, d_model))
        self.self_attn = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def with_pos_embed(self, tensor):
        return tensor + self.pe[:tensor.shape[1]]

    def forward(self, token_ids):
        src = self.emb(token_ids)
        q = k = self.with_pos_embed(src)
        return self.self_attn(q, k, value=src)[0]
