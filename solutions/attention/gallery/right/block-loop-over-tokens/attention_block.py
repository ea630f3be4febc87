import torch
import torch.nn as nn
from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.E = nn.Embedding(vocab_size, d_model)
        self.PE = [row for row in positional_encoding(max_len, d_model)]   # list of (d_model,)
        self.att = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        B, L = token_ids.shape
        sentences = []
        for b in range(B):
            words = [self.E.weight[token_ids[b, t]] + self.PE[t] for t in range(L)]
            sentences.append(torch.stack(words))
        return self.att(torch.stack(sentences))
