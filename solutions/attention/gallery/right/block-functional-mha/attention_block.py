import torch
import torch.nn as nn
import torch.nn.functional as F
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.num_heads = num_heads
        self.embed = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.in_weight = nn.Parameter(torch.empty(3 * d_model, d_model))
        self.in_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_weight = nn.Parameter(torch.empty(d_model, d_model))
        self.out_bias = nn.Parameter(torch.zeros(d_model))
        nn.init.xavier_uniform_(self.in_weight)
        nn.init.xavier_uniform_(self.out_weight)

    def forward(self, token_ids):
        x = self.embed(token_ids).transpose(0, 1)
        y, _ = F.multi_head_attention_forward(
            x, x, x, x.size(-1), self.num_heads, self.in_weight, self.in_bias, None, None, False, 0.0,
            self.out_weight, self.out_bias, training=self.training, need_weights=False)
        return y.transpose(0, 1)
