import torch
import torch.nn as nn

import multi_head_attention as mha
import positional_encoding as pos


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        self.register_buffer("pos_emb", pos.positional_encoding(max_len, d_model), persistent=False)
        self.attn = mha.MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        _, t = token_ids.size()
        return self.attn(self.tok_emb(token_ids) + self.pos_emb[:t])
