import torch
import torch.nn as nn

from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.pos_enc = nn.Embedding.from_pretrained(positional_encoding(max_len, d_model), freeze=True)
        self.src_word_emb = nn.Embedding(vocab_size, d_model)
        self.slf_attn = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        src_pos = torch.arange(token_ids.size(1)).expand_as(token_ids)
        enc_output = self.src_word_emb(token_ids) + self.pos_enc(src_pos)
        return self.slf_attn(enc_output)
