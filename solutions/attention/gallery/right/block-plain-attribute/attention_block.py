import torch.nn as nn
from multi_head_attention import MultiHeadAttention
from positional_encoding import positional_encoding


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.word_embedding = nn.Embedding(vocab_size, d_model)
        self.P = positional_encoding(max_len, d_model).unsqueeze(0)
        self.attention = MultiHeadAttention(d_model, num_heads)

    def forward(self, token_ids):
        X = self.word_embedding(token_ids)
        X = X + self.P[:, :X.shape[1], :].to(X.device)
        return self.attention(X)
