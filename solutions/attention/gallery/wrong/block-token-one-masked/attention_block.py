import torch
from torch import nn

from positional_encoding import EmbeddingWithPE

PAD = 1  # as in the tokenizer of the tutorial


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embed = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.attn = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, token_ids):
        x = self.embed(token_ids)
        mask = torch.zeros(token_ids.shape).masked_fill(token_ids == PAD, -1e9)
        return self.attn(x, x, x, key_padding_mask=mask)[0]
